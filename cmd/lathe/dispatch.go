package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

type dispatchCmd struct {
	Shader string   `arg:"" complete:"@files" help:"SPIR-V file with a compute shader."`
	Entry  string   `placeholder:"NAME" help:"Entry point. Default: main, or the only one."`
	List   bool     `short:"l" help:"Print the shader's entry points, buffers and push constants, and run nothing."`
	Groups string   `short:"g" placeholder:"X,Y,Z" help:"Number of workgroups in x, y and z; what is missing is 1. Default: an invocation for each element of the largest buffer; 1 if the workgroup has rows."`
	Buf    []string `short:"b" sep:"none" placeholder:"BUF" complete:"@files" help:"Buffer of the next binding, from 0 on: a file, TYPE:COUNT for zeros, or TYPE=V,V,... for values."`
	Push   string   `placeholder:"PUSH" help:"Push constants: TYPE:VALUE,... each aligned to its size, or hex:BYTES."`
	Out    []string `short:"o" sep:"none" placeholder:"N=FILE" complete:"@files" help:"Write buffer N to the file."`
	Print  []string `short:"p" sep:"none" placeholder:"N:TYPE[:COUNT]" help:"Print the first COUNT values of buffer N. Default: 8."`
}

// Help is the long help.
func (dispatchCmd) Help() string {
	return `Each --buf is the buffer of the next binding. Bindings are in order: all bindings of one descriptor set come before those of the next set. --list prints them. TYPE is f32, f64, f16, bf16, i32, u32, i64, i8, u8 or bool. The shader is validated first, so a device never sees an invalid one.

Examples:
  lathe dispatch double.spv --buf f32=1,2,3,4 --print 0:f32:4
  lathe dispatch saxpy.spv -g 4 --buf x.bin --buf f32:1024 --push f32:2.5,u32:1024 --out 1=y.bin`
}

func (c *dispatchCmd) deviceless() string {
	if c.List {
		return "with --list"
	}
	return ""
}

// Run does it.
func (c *dispatchCmd) Run(a *app) error {
	code, err := os.ReadFile(c.Shader)
	if err != nil {
		return usage("%s: %w", c.Shader, reason(err))
	}
	if c.List {
		return c.list(a, code)
	}
	if code, err = c.choose(code); err != nil {
		return err
	}
	push, err := parsePush(c.Push)
	if err != nil {
		return err
	}
	var bufs []buffer
	for _, text := range c.Buf {
		b, err := parseBuffer(text)
		if err != nil {
			return err
		}
		bufs = append(bufs, b)
	}
	groups, err := c.groups(a, code, bufs)
	if err != nil {
		return err
	}
	var files, prints []output
	for _, text := range c.Out {
		o, err := parseOut(text, len(bufs))
		if err != nil {
			return err
		}
		files = append(files, o)
	}
	for _, text := range c.Print {
		o, err := parsePrint(text, bufs)
		if err != nil {
			return err
		}
		prints = append(prints, o)
	}
	named := append([]string{c.Shader}, c.Buf...) // entries of Buf that are no files cannot be the trace
	for _, o := range files {
		named = append(named, o.file)
	}
	if slices.ContainsFunc(named, a.trace.is) {
		return usage("--trace %s is the shader, a buffer or an output too", a.cli.Trace)
	}
	l := job{c.Shader, code, bufs, push, groups, map[int]bool{}}
	for _, o := range slices.Concat(files, prints) {
		l.read[o.index] = true
	}
	r, err := l.interruptible(a)
	if err != nil {
		return err
	}
	for _, o := range files {
		if err := os.WriteFile(o.file, r.data[o.index], 0o666); err != nil {
			return fmt.Errorf("%s: %w", o.file, reason(err))
		}
	}
	return c.print(a, &r, prints)
}

// misuse sets the exit code of errors that the command line caused.
func misuse(err error) error {
	for _, target := range []error{errs.ErrInvalidShader, errs.ErrInvalidArgument, errs.ErrLimit} {
		if errors.Is(err, target) {
			return coded{exitUsage, err}
		}
	}
	return err
}

// print prints the values that --print selects. Without --print it prints the time.
func (c *dispatchCmd) print(a *app, r *launched, prints []output) error {
	type row struct {
		Buffer int    `json:"buffer"`
		Type   string `json:"type"`
		Values []any  `json:"values"` // numbers; "NaN", "+Inf", "-Inf" as text
	}
	rows := []row{}
	for _, o := range prints {
		data := r.data[o.index]
		rows = append(rows, row{o.index, o.dtype.String(), values(data, o.dtype, o.count)})
	}
	if a.cli.JSON {
		return a.writeJSON(struct {
			Device  deviceJSON `json:"device"`
			Groups  [3]uint32  `json:"groups"`
			Seconds float64    `json:"seconds"` // the first run compiles the shader as well
			Buffers []row      `json:"buffers"`
		}{a.inUse(&r.info), r.groups, r.elapsed.Seconds(), rows})
	}
	for _, row := range rows {
		fmt.Fprintf(a.out, "%d:", row.Buffer)
		for _, v := range row.Values {
			fmt.Fprintf(a.out, " %v", v)
		}
		fmt.Fprintln(a.out)
	}
	if len(rows) == 0 {
		a.note("done on %s in %.3g s", r.info.Name, r.elapsed.Seconds())
	}
	return nil
}

// values reads n elements. 64-bit integers are exact. Floats have the fewest digits that
// identify them.
func values(data []byte, d tensor.DType, n int) []any {
	list := []any{}
	host := &tensor.Host{Desc: tensor.Contiguous(d, n), Data: data}
	for i := range n {
		x := host.At(i)
		switch {
		case d == tensor.I64:
			list = append(list, int64(binary.LittleEndian.Uint64(data[8*i:])))
		case d == tensor.U64:
			list = append(list, binary.LittleEndian.Uint64(data[8*i:]))
		case math.IsNaN(x) || math.IsInf(x, 0):
			list = append(list, fmt.Sprint(x))
		case d == tensor.F32 || d == tensor.F16 || d == tensor.BF16:
			list = append(list, float32(x))
		case d == tensor.F64:
			list = append(list, x)
		default:
			list = append(list, int64(x))
		}
	}
	return list
}

// buffer is a buffer that --buf describes.
type buffer struct {
	desc tensor.Desc
	data []byte // nil for zeros
}

// output is a buffer that --out or --print selects.
type output struct {
	index, count int
	dtype        tensor.DType
	file         string
}

func parseGroups(text string) (g [3]uint32, err error) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == 'x' })
	if len(parts) == 0 || len(parts) > 3 {
		return g, usage("--groups is %q; it must be X, X,Y or X,Y,Z", text)
	}
	g = [3]uint32{1, 1, 1}
	for i, p := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil {
			return g, usage("--groups is %q; %q is not a number of workgroups", text, p)
		}
		if n == 0 {
			return g, usage("--groups is %q; with 0 workgroups nothing would run", text)
		}
		g[i] = uint32(n)
	}
	return g, nil
}

// maxBuffer bounds the zeros of --buf, far above any device's limit.
const maxBuffer = 1 << 40

func parseBuffer(text string) (buffer, error) {
	if i := strings.IndexAny(text, ":="); i > 0 {
		if d, ok := tensor.ParseDType(text[:i]); ok {
			if text[i] == ':' {
				n, err := strconv.ParseInt(text[i+1:], 10, 64)
				if err != nil || n < 0 || n > maxBuffer {
					return buffer{}, usage("--buf %s: %q is not a number of elements (a file of that name is ./%s)", text, text[i+1:], text)
				}
				return buffer{desc: tensor.Contiguous(d, int(n))}, nil
			}
			var data []byte
			for v := range strings.SplitSeq(text[i+1:], ",") {
				b, err := scalar(d, strings.TrimSpace(v))
				if err != nil {
					return buffer{}, usage("--buf %s: %w", text, err)
				}
				data = append(data, b...)
			}
			return buffer{tensor.Contiguous(d, len(data)/d.Size()), data}, nil
		}
	}
	data, err := os.ReadFile(text)
	if err != nil {
		return buffer{}, usage("--buf %s: %w (give a file, TYPE:COUNT or TYPE=V,V,...)", text, reason(err))
	}
	return buffer{tensor.Contiguous(tensor.U8, len(data)), data}, nil
}

// scalar is the little-endian bytes of a value.
func scalar(d tensor.DType, text string) ([]byte, error) {
	bits := d.Size() * 8
	var n uint64
	switch d {
	case tensor.I8, tensor.I16, tensor.I32, tensor.I64:
		v, err := strconv.ParseInt(text, 0, bits)
		if err != nil {
			return nil, fmt.Errorf("%q is not an %v", text, d)
		}
		n = uint64(v)
	case tensor.U8, tensor.U16, tensor.U32, tensor.U64:
		v, err := strconv.ParseUint(text, 0, bits)
		if err != nil {
			return nil, fmt.Errorf("%q is not a %v", text, d)
		}
		n = v
	case tensor.Bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a bool", text)
		}
		if v {
			n = 1
		}
	default: // floats; NaN and Inf are values too, because a shader may need them as input
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not an %v", text, d)
		}
		switch d {
		case tensor.F64:
			n = math.Float64bits(v)
		case tensor.F32:
			n = uint64(math.Float32bits(float32(v)))
		case tensor.F16:
			n = uint64(tensor.F16FromFloat64(v))
		case tensor.BF16:
			n = uint64(tensor.BF16FromFloat64(v))
		}
	}
	return binary.LittleEndian.AppendUint64(nil, n)[:d.Size()], nil
}

func parsePush(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	if digits, ok := strings.CutPrefix(text, "hex:"); ok {
		data, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			return nil, usage("--push %s: not pairs of hexadecimal digits", text)
		}
		return data, nil
	}
	var data []byte
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), ":")
		d, known := tensor.ParseDType(name)
		if !ok || !known {
			return nil, usage("--push: %q is not TYPE:VALUE, such as f32:2.5 or u32:7", part)
		}
		b, err := scalar(d, value)
		if err != nil {
			return nil, usage("--push: %w", err)
		}
		for len(data)%len(b) != 0 {
			data = append(data, 0)
		}
		data = append(data, b...)
	}
	return data, nil
}

func parseIndex(flag, text string, n int) (int, error) {
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= n {
		return 0, usage("%s: there is no buffer %q (%d given with --buf, counted from 0)", flag, text, n)
	}
	return i, nil
}

func parseOut(text string, n int) (output, error) {
	index, file, ok := strings.Cut(text, "=")
	if !ok || file == "" {
		return output{}, usage("--out %s: it must be N=FILE", text)
	}
	i, err := parseIndex("--out "+text, index, n)
	return output{index: i, file: file}, err
}

func parsePrint(text string, bufs []buffer) (output, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return output{}, usage("--print %s: it must be N:TYPE or N:TYPE:COUNT", text)
	}
	i, err := parseIndex("--print "+text, parts[0], len(bufs))
	if err != nil {
		return output{}, err
	}
	d, ok := tensor.ParseDType(parts[1])
	if !ok {
		return output{}, usage("--print %s: %q is not a type", text, parts[1])
	}
	there := int(bufs[i].desc.Bytes()) / d.Size()
	o := output{index: i, dtype: d, count: min(8, there)}
	if len(parts) == 3 {
		if o.count, err = strconv.Atoi(parts[2]); err != nil || o.count < 0 {
			return output{}, usage("--print %s: %q is not a count", text, parts[2])
		}
	}
	if o.count > there || there == 0 && bufs[i].desc.Bytes() > 0 {
		return output{}, usage("--print %s: buffer %d has %d bytes, which are %d elements of %v", text, i, bufs[i].desc.Bytes(), there, d)
	}
	return o, nil
}
