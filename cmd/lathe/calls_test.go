package main

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// command runs the command line in this process. It returns its exit code and what it prints.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	messages := new(bytes.Buffer)
	a := &app{ctx: t.Context(), out: new(bytes.Buffer), stderr: messages, cli: &cli{}}
	err := a.command(args)
	if err != nil {
		fmt.Fprintln(messages, err)
	}
	return exitCode(err), a.out.String(), messages.String()
}

// TestEveryImageCall writes each declared call of the operations on pictures as text, and gives it
// to "lathe image" with a picture that it fits. At the quick level it runs a third of them.
func TestEveryImageCall(t *testing.T) {
	testlevel.Seed(t)
	folder := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(folder, "cache"))
	t.Setenv("LATHE_BACKEND", "cpu")
	t.Setenv("LATHE_DEVICE", "")
	sizes := []image.Point{{X: 64, Y: 48}, {X: 200, Y: 160}}
	for _, size := range sizes {
		data, err := testimg.Encode(testimg.Quarters(size.X, size.Y), ".png")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, size.String()+".png"), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tried := 0
	for _, op := range spec.All() {
		if !op.Offered() || op.Group != "image" || len(op.In) != 1 {
			continue
		}
		for i, call := range op.Cases.Calls {
			text := spec.FormatCall(call)
			var picture string
			var want []tensor.Desc
			for _, size := range sizes {
				out, err := op.Shape(call, []tensor.Desc{tensor.Contiguous(tensor.U8, size.Y, size.X, 4)})
				if err == nil {
					picture, want = filepath.Join(folder, size.String()+".png"), out
					break
				}
			}
			if picture == "" {
				t.Errorf("%s: fits no picture of %v", text, sizes)
				continue
			}
			parsed, err := spec.ParseCalls(text, "image")
			if err != nil || len(parsed) != 1 {
				t.Errorf("%s: %v", text, err)
				continue
			}
			err = checkCall(parsed[0])
			if strings.HasPrefix(text, "resize width=0 height=0 percent=0 ") {
				if err == nil {
					t.Errorf("%s: taken, although it does nothing", text)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			tried++
			if !drivers.Has(drivers.CPU) || testing.Short() && i > 0 || !testlevel.Sampled(tried, 3) {
				continue
			}
			out := filepath.Join(folder, "out.png")
			code, _, said := command(t, "image", picture, "--op", text, "-o", out, "--force")
			if code != exitOK {
				t.Errorf("%s: exit code %d: %s", text, code, said)
				continue
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := imageio.Decode(t.Context(), bytes.NewReader(data), nil)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if op.Crops != nil { // The result is part of the picture.
				in := tensor.Contiguous(tensor.U8, 48, 64, 4)
				h, w := op.Crops(call, in)
				if got := m.Bounds().Size(); got.X > w || got.Y > h || got.X == 0 || got.Y == 0 {
					t.Errorf("%s: the result is %v, want at most %d×%d", text, got, w, h)
				}
				continue
			}
			if got := m.Bounds().Size(); got != image.Pt(want[0].Shape[1], want[0].Shape[0]) {
				t.Errorf("%s: the result is %v, want %v", text, got, want[0])
			}
		}
		for _, call := range op.Cases.Invalid {
			if err := checkCall(call); err == nil {
				t.Errorf("%#v: taken, although no picture fits", call)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d calls", tried)
	}
}

// TestCallsThatDoNotFit: a rectangle that is larger than a picture is an error of that picture,
// and attributes that fit no picture are an error of the command line.
func TestCallsThatDoNotFit(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(folder, "cache"))
	for _, op := range []string{"crop width=-1", "crop aspect=x", "crop x=16777216 width=1", "crop gravity=up", "rotate degrees=1e6", "rotate 17 canvas=fit", "affine matrix=1,2,0,2,4,0", "noise 2"} {
		if code, _, said := command(t, "image", filepath.Join(folder, "missing.png"), "--op", op); code != exitUsage || strings.Contains(said, "no such file") {
			t.Errorf("%s: exit code %d: %s", op, code, said)
		}
	}
	if !drivers.Has(drivers.CPU) {
		return // what follows computes
	}
	in, out := filepath.Join(folder, "in"), filepath.Join(folder, "out")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, side := range map[string]int{"small.png": 20, "large.png": 120} {
		data, err := testimg.Encode(testimg.Quarters(side, side), ".png")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code, _, said := command(t, "image", in, "-o", out, "--backend", "cpu", "--op", "crop width=100 height=50")
	if code != exitFailed || !strings.Contains(said, "small.png: ") || !strings.Contains(said, "is not inside an image of 20×20") || !strings.Contains(said, "1 picture done") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(out, "large.png")); err != nil {
		t.Error(err)
	}
}
