package networks

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Build returns a step as a graph. What steps change are params, and outputs with ".new" behind their names. The output "token" is the next token.
func (d *Decoder) Build() *graph.Graph {
	m := graphStep{g: graph.New(), weights: map[string]*graph.Value{}, changed: map[string]*graph.Value{}, now: map[string]*graph.Value{}}
	weights, changed := d.Shapes()
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		desc := weights[name]
		m.weights[name] = m.g.Weight(name, desc.DType, desc.Shape...)
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		desc := changed[name]
		m.changed[name] = m.g.Param(name, desc.DType, desc.Shape...)
	}
	m.g.Output("token", Step[*graph.Value](d, m))
	for _, name := range slices.Sorted(maps.Keys(m.now)) {
		m.g.Output(name+".new", m.now[name])
	}
	return m.g
}

// graphStep makes values of a graph.
type graphStep struct {
	g                     *graph.Graph
	weights, changed, now map[string]*graph.Value
}

func (m graphStep) Weight(name string) *graph.Value  { return m.weights[name] }
func (m graphStep) Changed(name string) *graph.Value { return m.changed[name] }
func (m graphStep) Update(name string, c spec.Call, in ...*graph.Value) *graph.Value {
	m.now[name] = m.Call(c, in...)
	return m.now[name]
}
func (m graphStep) Replace(name string, v *graph.Value) { m.now[name] = v }
func (m graphStep) Call(c spec.Call, in ...*graph.Value) *graph.Value {
	return m.g.Call(c, in...)[0]
}
func (m graphStep) None() *graph.Value                                { return nil }
func (m graphStep) One() *graph.Value                                 { return graph.Scalar(1) }
func (m graphStep) Reshape(v *graph.Value, shape ...int) *graph.Value { return v.Reshape(shape...) }
func (m graphStep) Narrow(v *graph.Value, dim, start, n int) *graph.Value {
	return v.Narrow(dim, start, n)
}

// Decoding is a decoder on a device, as an Executable and as a list of calls into tensors that are made once.
type Decoding struct {
	Exe *lathe.Executable

	dev              *lathe.Device
	decoder          *Decoder
	weights, changed map[string]*lathe.Tensor
	made             []*lathe.Tensor
	calls            []placed
	token            *lathe.Tensor // of Exe
	next             *lathe.Tensor // of the calls
}

// placed is a call into given tensors.
type placed struct {
	call    spec.Call
	in, out []*lathe.Tensor
}

// Prepare compiles a step, makes the tensors of its calls, and runs these once. Reset comes before the first token.
// Errors: those of Device.Compile and Device.Run; ErrOutOfMemory.
func (d *Decoder) Prepare(ctx context.Context, dev *lathe.Device, o graph.Options) (p *Decoding, err error) {
	p = &Decoding{dev: dev, decoder: d, weights: map[string]*lathe.Tensor{}, changed: map[string]*lathe.Tensor{}}
	defer func() {
		if err != nil {
			p.Free()
			p = nil
		}
	}()
	if p.Exe, err = dev.Compile(ctx, d.Build(), o); err != nil {
		return
	}
	weights, changed := d.Shapes()
	for name, desc := range weights {
		if p.weights[name], err = p.tensor(desc); err != nil {
			return
		}
		if err = errors.Join(dev.Write(ctx, p.weights[name], d.WeightOf(name, desc).Data), p.Exe.SetParam(name, p.weights[name])); err != nil {
			return
		}
	}
	for name, desc := range changed {
		if p.changed[name], err = p.tensor(desc); err != nil {
			return
		}
	}
	if p.token, err = p.tensor(tensor.Contiguous(tensor.I32, 1)); err != nil {
		return
	}
	if err = p.Reset(ctx, 0); err != nil {
		return
	}
	for name := range changed {
		if err = p.Exe.Feed(name, name+".new"); err != nil {
			return
		}
	}
	m := &listed{Decoding: p, ctx: ctx}
	p.next = Step[*lathe.Tensor](d, m)
	return p, m.err
}

func (p *Decoding) tensor(desc tensor.Desc) (*lathe.Tensor, error) {
	x, err := p.dev.NewTensor(desc)
	if err == nil {
		p.made = append(p.made, x)
	}
	return x, err
}

// Reset begins a text with a token: both forms are at position 0, with empty caches.
func (p *Decoding) Reset(ctx context.Context, token int32) error {
	for name, x := range p.changed {
		data := make([]byte, x.Desc().Bytes())
		if name == State {
			binary.LittleEndian.PutUint32(data, uint32(token))
			binary.LittleEndian.PutUint32(data[8:], 1)
		}
		if err := errors.Join(p.dev.Write(ctx, x, data), p.Exe.SetParam(name, x)); err != nil {
			return err
		}
	}
	return nil
}

// Eager runs the calls of a step one by one, and does not wait. The result is the next token, the same tensor each time.
func (p *Decoding) Eager(ctx context.Context) (*lathe.Tensor, error) {
	for _, c := range p.calls {
		if err := p.dev.Run(ctx, c.call, c.in, c.out); err != nil {
			return nil, err
		}
	}
	return p.next, nil
}

// Compiled runs a step as one submission, and does not wait. The result is the next token, the same tensor each time. SetParam has
// given the Executable the tensors of the calls, which it never writes.
func (p *Decoding) Compiled(ctx context.Context) (*lathe.Tensor, error) {
	return p.token, p.Exe.RunInto(ctx, nil, []*lathe.Tensor{p.token})
}

// Replayed records the calls of a step, and returns a function that replays them, as Eager runs them. c made the Device of Prepare.
// Errors: those of Capture.Record.
func (p *Decoding) Replayed(ctx context.Context, c *lathe.Capture) (func(context.Context) (*lathe.Tensor, error), error) {
	const key = 1
	err := c.Record(ctx, key, func() error { _, err := p.Eager(ctx); return err })
	return func(ctx context.Context) (*lathe.Tensor, error) {
		ok, err := c.Replay(ctx, key)
		if err == nil && !ok {
			err = errors.New("networks: replay: there is nothing to replay")
		}
		return p.next, err
	}, err
}

// Draw begins a text with a token and returns the n tokens that follow. step is Eager, Compiled or what Replayed returns. Each token is read before the next step.
func (p *Decoding) Draw(ctx context.Context, step func(context.Context) (*lathe.Tensor, error), first int32, n int) (tokens []int32, err error) {
	if err := p.Reset(ctx, first); err != nil {
		return nil, err
	}
	for range n {
		token, err := step(ctx)
		if err != nil {
			return nil, err
		}
		next, err := lathe.ToSlice[int32](ctx, token)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, next...)
	}
	return tokens, nil
}

// Changed reads what the calls of steps have changed: the caches, the state and the tokens, by their names.
func (p *Decoding) Changed(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	for name, x := range p.changed {
		data, err := p.dev.Read(ctx, x)
		if err != nil {
			return nil, err
		}
		all[name] = data
	}
	return all, nil
}

// Calls is the number of calls of a step.
func (p *Decoding) Calls() int { return len(p.calls) }

// Free gives the memory back.
func (p *Decoding) Free() {
	if p.Exe != nil {
		_ = p.Exe.Free() // the only error is that of a closed device, which has no memory
	}
	for _, x := range p.made {
		_ = p.dev.Free(x)
	}
}

// listed lists the calls of a step, and runs each of them once.
type listed struct {
	*Decoding
	ctx context.Context
	err error
}

func (m *listed) Weight(name string) *lathe.Tensor  { return m.weights[name] }
func (m *listed) Changed(name string) *lathe.Tensor { return m.changed[name] }
func (m *listed) Update(name string, c spec.Call, in ...*lathe.Tensor) *lathe.Tensor {
	return m.list(placed{c, in, in[:1]}, m.dev.Run(m.ctx, c, in, in[:1]))
}
func (m *listed) Call(c spec.Call, in ...*lathe.Tensor) *lathe.Tensor {
	out, err := m.dev.Call(m.ctx, c, in...)
	m.made = append(m.made, out...)
	return m.list(placed{c, in, out}, err)
}

// list adds a call that was run, and returns its first result.
func (m *listed) list(c placed, err error) *lathe.Tensor {
	m.err = errors.Join(m.err, err)
	if err != nil || len(c.out) == 0 {
		return nil
	}
	m.calls = append(m.calls, c)
	return c.out[0]
}
func (m *listed) view(v *lathe.Tensor, err error) *lathe.Tensor {
	m.err = errors.Join(m.err, err)
	return v
}
func (m *listed) Reshape(v *lathe.Tensor, shape ...int) *lathe.Tensor {
	return m.view(v.Reshape(shape...))
}
func (m *listed) Narrow(v *lathe.Tensor, dim, start, n int) *lathe.Tensor {
	return m.view(v.Narrow(dim, start, n))
}
func (m *listed) Replace(name string, v *lathe.Tensor) {
	to := []*lathe.Tensor{m.changed[name]}
	m.list(placed{ops.Copy{}, []*lathe.Tensor{v}, to}, m.dev.Run(m.ctx, ops.Copy{}, []*lathe.Tensor{v}, to))
}
func (m *listed) None() *lathe.Tensor { return nil }
func (m *listed) One() *lathe.Tensor  { return lathe.Scalar(1) }
