package mir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// fileFormat names the form of the JSON. Another form gets another name.
const fileFormat = "lathe graph 1"

// fewValues is the number of elements up to which a constant is written as numbers, which a person can read.
const fewValues = 16

// file is a graph as JSON.
type file struct {
	Format  string       `json:"format"`
	Nodes   []fileNode   `json:"nodes"`
	Outputs []fileOutput `json:"outputs"`
}

type fileNode struct {
	Kind   string    `json:"kind"`
	Name   string    `json:"name,omitempty"`
	Weight bool      `json:"weight,omitempty"`
	Call   string    `json:"call,omitempty"`
	In     []Value   `json:"in,omitempty"`
	Values []float64 `json:"values,omitempty"`
	Data   []byte    `json:"data,omitempty"`
	// Offset and Strides are those of a view: bytes and elements.
	Offset  int64 `json:"offset,omitempty"`
	Strides []int `json:"strides,omitempty"`
	// Bodies and Most are those of an if and a while.
	Bodies []*fileBody `json:"bodies,omitempty"`
	Most   int         `json:"most,omitempty"`
	Out    []string    `json:"out"`
}

// fileBody is a graph that a node has.
type fileBody struct {
	Nodes   []*fileNode  `json:"nodes"`
	Outputs []fileOutput `json:"outputs"`
}

type fileOutput struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
}

// MarshalJSON returns the graph as JSON, a line for each node. A node has its kind, its call as spec.FormatCall writes it, the numbers of
// the values that it reads, and the dtypes and shapes of those that it makes. Values count from 0 in the order in which nodes make them, and -1 is
// an input that is left out. A constant of at most 16 elements is a list of numbers where numbers can say it, and else base64.
// Errors: ErrInvalidArgument for a graph that Verify refuses, and for a call that no text says: one of an operation that is not registered, such as
// a fused one, or with an attribute that is infinite or no number.
func (g *Graph) MarshalJSON() ([]byte, error) {
	if err := g.Verify(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	line := func(before string, v any) error {
		text, err := json.Marshal(v)
		b.WriteString(before)
		b.Write(text)
		return err
	}
	fmt.Fprintf(&b, "{\"format\":%q,\"nodes\":[", fileFormat)
	separator := "\n"
	for i := range g.nodes {
		n, err := g.fileNode(&g.nodes[i])
		if err == nil {
			err = line(separator, n)
		}
		if err != nil {
			return nil, fmt.Errorf("mir: write node %d, %s: %w", i, g.nodes[i].label(), err)
		}
		separator = ",\n"
	}
	b.WriteString("\n],\"outputs\":[")
	separator = "\n"
	for _, o := range g.outputs {
		if err := line(separator, fileOutput(o)); err != nil {
			return nil, fmt.Errorf("mir: write output %q: %w", o.Name, err)
		}
		separator = ",\n"
	}
	b.WriteString("\n]}")
	return b.Bytes(), nil
}

// fileNode is a node as it is written.
func (g *Graph) fileNode(n *Node) (*fileNode, error) {
	f := &fileNode{Kind: n.Kind.String(), Name: n.Name, Weight: n.Weight, In: n.In}
	for _, v := range n.Out {
		d := g.Desc(v)
		f.Out = append(f.Out, tensor.Contiguous(d.DType, d.Shape...).String())
	}
	switch n.Kind {
	case Constant:
		d := g.Desc(n.Out[0])
		if f.Values = numbers(d, n.Data); f.Values == nil {
			f.Data = n.Data
		}
	case View:
		f.Offset = n.Offset
		if d := g.Desc(n.Out[0]); !sameView(d, tensor.Contiguous(d.DType, d.Shape...)) {
			f.Strides = d.Strides
		}
	case If, While:
		f.Most = n.Most
		return f, f.writeBodies(n)
	case Op:
		f.Call = spec.FormatCall(n.Call)
		again, err := spec.ParseCall(f.Call)
		if err == nil {
			again, err = spec.Resolve(again)
		}
		if err != nil {
			return nil, err
		}
		if !sameCall(n.Call, again) {
			return nil, fmt.Errorf("%w: the text %q is another call", errs.ErrInvalidArgument, f.Call)
		}
	}
	return f, nil
}

// sameCall reports whether two calls are the same, to the sign of a zero where calls have keys.
func sameCall(a, b spec.Call) bool {
	x, ok := spec.AppendKey(nil, a)
	y, also := spec.AppendKey(nil, b)
	if ok && also {
		return bytes.Equal(x, y)
	}
	return reflect.DeepEqual(a, b)
}

// numbers are the elements of a constant, or nil if there are many or numbers in JSON are not exactly these.
func numbers(d tensor.Desc, data []byte) []float64 {
	if n := d.Elems(); n == 0 || n > fewValues {
		return nil
	}
	values := (&tensor.Host{Desc: d, Data: data}).Floats()
	if slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	if d.DType.Size() <= 4 && slices.Contains(rounds, d.DType) { // as 0.1, and not as 0.10000000149011612
		for i, v := range values {
			values[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64)
		}
	}
	if again, err := tensor.FromFloats(d.DType, d.Shape, values); err != nil || !bytes.Equal(again.Data, data) {
		return nil
	}
	return values
}

// UnmarshalJSON makes g the graph that MarshalJSON has written. Operations are found by their names, so that a program imports those that a
// graph may have, or package ops/all. g does not change if there is an error.
// Errors: ErrInvalidArgument, which names the node, or the byte, of the mistake.
func (g *Graph) UnmarshalJSON(data []byte) error {
	if g == nil {
		return fmt.Errorf("mir: read: %w: no graph", errs.ErrInvalidArgument)
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return fmt.Errorf("mir: read: %w: %s", errs.ErrInvalidArgument, place(err, d.InputOffset(), int64(len(data))))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("mir: read: %w: more than a graph, at byte %d", errs.ErrInvalidArgument, d.InputOffset())
	}
	if f.Format != fileFormat {
		return fmt.Errorf("mir: read: %w: the format is %q (want %q)", errs.ErrInvalidArgument, f.Format, fileFormat)
	}
	var to Graph
	for i := range f.Nodes {
		if err := to.read(&f.Nodes[i]); err != nil {
			return fmt.Errorf("mir: read node %d, %s: %w", i, f.Nodes[i].Kind, err)
		}
	}
	for _, o := range f.Outputs {
		if err := to.AddOutput(o.Name, o.Value); err != nil {
			return fmt.Errorf("mir: read: %w", err)
		}
	}
	if err := to.Verify(); err != nil {
		return err
	}
	*g = to
	return nil
}

// place is the text of an error of package json with the byte where it is.
func place(err error, at, end int64) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at = end
	}
	return fmt.Sprintf("%s, at byte %d", strings.TrimPrefix(err.Error(), "json: "), at)
}

// read appends a node of a file.
func (g *Graph) read(f *fileNode) error {
	if err := f.check(); err != nil {
		return err
	}
	descs := make([]tensor.Desc, len(f.Out))
	for i, text := range f.Out {
		var err error
		if descs[i], err = parseDesc(text); err != nil {
			return err
		}
	}
	isControl := f.Kind == If.String() || f.Kind == While.String()
	if f.Kind != Op.String() && !isControl && len(descs) != 1 {
		return fmt.Errorf("%w: it makes %d values (want 1)", errs.ErrInvalidArgument, len(descs))
	}
	next, err := Value(g.Values()), error(nil)
	switch f.Kind {
	case Input.String():
		_, err = g.AddInput(f.Name, descs[0])
	case Param.String():
		add := g.AddParam
		if f.Weight {
			add = g.AddWeight
		}
		_, err = add(f.Name, descs[0])
	case Constant.String():
		err = g.readConstant(f, descs[0])
	case View.String():
		if len(f.In) != 1 {
			return fmt.Errorf("%w: it is a view of %d values (want 1)", errs.ErrInvalidArgument, len(f.In))
		}
		if f.Strides != nil {
			descs[0].Strides = f.Strides
		}
		var v Value
		if v, err = g.AddView(f.Name, f.In[0], f.Offset, descs[0]); err == nil && v != next {
			err = fmt.Errorf("%w: it is the whole of %v", errs.ErrInvalidArgument, v)
		}
	case If.String(), While.String():
		err = g.readControl(f, descs)
	default:
		err = g.readCall(f, descs)
	}
	if err == nil {
		g.SetName(next, f.Name)
	}
	return err
}

// check returns an error for a kind that there is not, and for what a node of that kind does not have.
func (f *fileNode) check() error {
	isConstant, isView, isOp := f.Kind == Constant.String(), f.Kind == View.String(), f.Kind == Op.String()
	isWhile := f.Kind == While.String()
	isControl := isWhile || f.Kind == If.String()
	switch {
	case !isConstant && !isView && !isOp && !isControl && f.Kind != Input.String() && f.Kind != Param.String():
		return fmt.Errorf("%w: there is no such kind of node", errs.ErrInvalidArgument)
	case !isConstant && (f.Values != nil || f.Data != nil), !isView && (f.Offset != 0 || f.Strides != nil), !isOp && f.Call != "", !isOp && !isView && !isControl && f.In != nil,
		!isControl && f.Bodies != nil, !isWhile && f.Most != 0, f.Kind != Param.String() && f.Weight:
		return fmt.Errorf("%w: it has a field of another kind of node", errs.ErrInvalidArgument)
	}
	return nil
}

// rounds are the dtypes that a number of a file is rounded to. One that is not exactly an element of another dtype is a mistake.
var rounds = []tensor.DType{tensor.F16, tensor.BF16, tensor.F32, tensor.F64}

func (g *Graph) readConstant(f *fileNode, d tensor.Desc) error {
	if f.Values == nil {
		_, err := g.AddConstant(d, f.Data)
		return err
	}
	if f.Data != nil {
		return fmt.Errorf("%w: it has values and data", errs.ErrInvalidArgument)
	}
	h, err := tensor.FromFloats(d.DType, d.Shape, f.Values)
	if err != nil {
		return err
	}
	for i, v := range h.Floats() {
		if want := f.Values[i]; v != want && (math.IsInf(v, 0) || !slices.Contains(rounds, d.DType)) {
			return fmt.Errorf("%w: %v is no element of %v", errs.ErrInvalidArgument, want, d.DType)
		}
	}
	_, err = g.AddConstant(d, h.Data)
	return err
}

func (g *Graph) readCall(f *fileNode, want []tensor.Desc) error {
	c, err := spec.ParseCall(f.Call)
	if err != nil {
		return err
	}
	out, err := g.AddCall(c, f.In...)
	if err != nil {
		return err
	}
	return g.makes(fmt.Sprintf("%q", f.Call), out, want)
}

// makes returns an error unless values are those that the file says.
func (g *Graph) makes(what string, out []Value, want []tensor.Desc) error {
	same := len(out) == len(want)
	for i := range out {
		same = same && g.Desc(out[i]).DType == want[i].DType && slices.Equal(g.Desc(out[i]).Shape, want[i].Shape)
	}
	if !same {
		var makes, file []string
		for _, v := range out {
			makes = append(makes, g.Desc(v).String())
		}
		for _, d := range want {
			file = append(file, d.String())
		}
		return fmt.Errorf("%w: %s makes %q (the file has %q)", errs.ErrInvalidArgument, what, makes, file)
	}
	return nil
}

// parseDesc reads what tensor.Desc.String writes, without strides: "f32[2,3]".
func parseDesc(text string) (tensor.Desc, error) {
	bad := func() (tensor.Desc, error) {
		return tensor.Desc{}, fmt.Errorf("%w: %q is no dtype with a shape (want one as f32[2,3])", errs.ErrInvalidArgument, text)
	}
	name, rest, ok := strings.Cut(text, "[")
	list, closed := strings.CutSuffix(rest, "]")
	dtype, known := tensor.ParseDType(name)
	if !ok || !closed || !known {
		return bad()
	}
	d := tensor.Contiguous(dtype)
	if list != "" {
		for part := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(part)
			if err != nil {
				return bad()
			}
			d.Shape = append(d.Shape, n)
		}
	}
	return d, d.Check()
}
