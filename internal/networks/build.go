package networks

import (
	"context"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Build returns the network as a graph with the output "y".
func (n *Network) Build() *graph.Graph {
	m := ofGraph{graph.New()}
	m.g.Output("y", n.Graph(m))
	return m.g
}

// ofGraph makes values of a graph.
type ofGraph struct{ g *graph.Graph }

func (m ofGraph) Input(name string, shape ...int) *graph.Value {
	return m.g.Input(name, tensor.F32, shape...)
}
func (m ofGraph) Param(name string, shape ...int) *graph.Value {
	return m.g.Weight(name, tensor.F32, shape...)
}
func (m ofGraph) Call(c spec.Call, in ...*graph.Value) *graph.Value {
	return m.g.Call(c, in...)[0]
}
func (m ofGraph) Reshape(v *graph.Value, shape ...int) *graph.Value  { return v.Reshape(shape...) }
func (m ofGraph) Transpose(v *graph.Value, perm ...int) *graph.Value { return v.Transpose(perm...) }

// Prepared is a network on a device, as an Executable and call by call.
type Prepared struct {
	Exe *lathe.Executable

	dev     *lathe.Device
	network *Network
	leaves  map[string]*lathe.Tensor // inputs and params
	inputs  []*lathe.Tensor
	result  *lathe.Tensor
}

// Prepare compiles a network, and makes its inputs and params.
// Errors: those of Device.Compile; ErrOutOfMemory.
func (n *Network) Prepare(ctx context.Context, dev *lathe.Device, o graph.Options) (p *Prepared, err error) {
	p = &Prepared{dev: dev, network: n, leaves: map[string]*lathe.Tensor{}}
	defer func() {
		if err != nil {
			p.Free()
			p = nil
		}
	}()
	if p.Exe, err = dev.Compile(ctx, n.Build(), o); err != nil {
		return
	}
	program := p.Exe.Plan().Program
	for _, port := range program.Inputs {
		var x *lathe.Tensor
		if x, err = p.leaf(ctx, port.Name, port.Desc); err != nil {
			return
		}
		p.inputs = append(p.inputs, x)
	}
	for _, port := range program.Params {
		var x *lathe.Tensor
		if x, err = p.leaf(ctx, port.Name, port.Desc); err != nil {
			return
		}
		if err = p.Exe.SetParam(port.Name, x); err != nil {
			return
		}
	}
	p.result, err = dev.NewTensor(program.Outputs[0].Desc)
	return
}

func (p *Prepared) leaf(ctx context.Context, name string, d tensor.Desc) (*lathe.Tensor, error) {
	data := make([]float32, d.Elems())
	for i := range data {
		data[i] = float32(i%13)/64 - 0.1
	}
	x, err := lathe.FromSlice(ctx, p.dev, data, d.Shape...)
	if err == nil {
		p.leaves[name] = x
	}
	return x, err
}

// Compiled computes the network as one submission, and does not wait. The result is the same tensor each time.
func (p *Prepared) Compiled(ctx context.Context) (*lathe.Tensor, error) {
	return p.result, p.Exe.RunInto(ctx, p.inputs, []*lathe.Tensor{p.result})
}

// Eager computes the network call by call, and does not wait. The scope frees the result.
func (p *Prepared) Eager(s *lathe.Scope) *lathe.Tensor { return p.network.Eager(oneByOne{s, p.leaves}) }

// Free gives the memory back.
func (p *Prepared) Free() {
	if p.Exe != nil {
		_ = p.Exe.Free() // the only error is that of a closed device, which has no memory
	}
	if p.result != nil {
		_ = p.dev.Free(p.result)
	}
	for _, x := range p.leaves {
		_ = p.dev.Free(x)
	}
}

// oneByOne runs each call at once.
type oneByOne struct {
	s      *lathe.Scope
	leaves map[string]*lathe.Tensor
}

func (m oneByOne) Input(name string, _ ...int) *lathe.Tensor { return m.leaves[name] }
func (m oneByOne) Param(name string, _ ...int) *lathe.Tensor { return m.leaves[name] }
func (m oneByOne) Call(c spec.Call, in ...*lathe.Tensor) *lathe.Tensor {
	return m.s.Call(c, in...)[0]
}
func (m oneByOne) Reshape(v *lathe.Tensor, shape ...int) *lathe.Tensor {
	if !v.Desc().IsContiguous() {
		v = m.s.Copy(v)
	}
	return m.s.Take(v.Reshape(shape...))
}
func (m oneByOne) Transpose(v *lathe.Tensor, perm ...int) *lathe.Tensor {
	return m.s.Take(v.Transpose(perm...))
}
