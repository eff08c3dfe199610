package cpu

import (
	"bytes"
	"testing"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/internal/exec"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestInterior computes operations with and without the version of kernels for workgroups
// in the middle of the data. The results must be the same bits.
func TestInterior(t *testing.T) {
	devices := []*Device{openTest(t, Options{NoCache: true}), openTest(t, Options{NoCache: true})}
	devices[1].translate = compile.CompileGeneral
	for _, c := range []struct {
		call string
		desc []tensor.Desc
	}{
		{"invert_colors", []tensor.Desc{tensor.Contiguous(tensor.U8, 9, 1100, 4)}},
		{"brightness", []tensor.Desc{tensor.Contiguous(tensor.U8, 70, 300, 4)}},
		{"threshold", []tensor.Desc{tensor.Contiguous(tensor.F32, 9, 300, 3)}},
		{"sobel_edges", []tensor.Desc{tensor.Contiguous(tensor.U8, 11, 300, 4)}},
		{"sobel_edges ignore_alpha=true", []tensor.Desc{tensor.Contiguous(tensor.U8, 11, 300, 4)}},
		{"sobel_edges magnitude=true ignore_alpha=true", []tensor.Desc{tensor.Contiguous(tensor.U8, 9, 193, 4)}},
		{"sharpen ignore_alpha=true", []tensor.Desc{tensor.Contiguous(tensor.U8, 11, 300, 4)}},
		{"sharpen", []tensor.Desc{tensor.Contiguous(tensor.F32, 11, 300, 1)}},
		{"gaussian_blur", []tensor.Desc{tensor.Contiguous(tensor.U8, 20, 300, 4)}},
		{"gamma", []tensor.Desc{tensor.Contiguous(tensor.U8, 9, 1100, 4)}},
		{"clahe", []tensor.Desc{tensor.Contiguous(tensor.U8, 30, 300, 4)}},
		{"relu", []tensor.Desc{tensor.Contiguous(tensor.F32, 12345)}},
		{"exp", []tensor.Desc{tensor.Contiguous(tensor.F32, 12345)}},
		{"add", []tensor.Desc{tensor.Contiguous(tensor.F16, 77, 513), tensor.Contiguous(tensor.F16, 513)}},
		{"transpose", []tensor.Desc{tensor.Contiguous(tensor.F32, 130, 257)}},
	} {
		call, err := spec.ParseCall(c.call)
		if err != nil {
			t.Fatal(err)
		}
		if call, err = spec.Resolve(call); err != nil {
			t.Fatal(err)
		}
		out, err := call.Spec().Shape(call, c.desc)
		if err != nil {
			t.Fatal(err)
		}
		var results [2][]byte
		for i, d := range devices {
			run, err := exec.New(d)
			if err != nil {
				t.Fatal(err)
			}
			operand := func(desc tensor.Desc) exec.Operand {
				h, err := d.Alloc(int64(desc.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				data := make([]byte, desc.Bytes())
				for k := range data {
					data[k] = byte(k*k>>3+k) & 0x3f // no float of it is NaN
				}
				if err := d.Write(t.Context(), h, 0, data); err != nil {
					t.Fatal(err)
				}
				return exec.Operand{Buffer: h, Desc: desc}
			}
			var in []exec.Operand
			for _, desc := range c.desc {
				in = append(in, operand(desc))
			}
			to := operand(out[0])
			if err := run.Run(t.Context(), call, in, []exec.Operand{to}); err != nil {
				t.Fatal(err)
			}
			results[i] = make([]byte, out[0].Bytes())
			if err := run.Read(t.Context(), to.Buffer, 0, results[i]); err != nil {
				t.Fatal(err)
			}
			if err := run.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(results[0], results[1]) {
			t.Errorf("%s of %v: the versions differ", c.call, c.desc)
		}
	}
}
