// Package lir is the low representation of the graph compiler: a schedule. It lists the calls of a graph in order, and
// says where in memory each operand of each call lies. Values that are not needed at the same time share memory, and a
// call overwrites an input that nobody needs any more, if its operation can.
//
// lir knows no device. A Compiler turns a call into code for the device, and says how much scratch memory the code needs.
package lir

import (
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Compiler compiles calls for one device.
type Compiler interface {
	// Target describes the device as plans see it.
	Target() spec.Target
	// Align is the alignment in bytes of offsets that the device can bind.
	Align() int64
	// MaxBuffer is the size in bytes of the largest buffer. 0 means that no limit is known.
	MaxBuffer() int64
	// Compile compiles a call for operands at such places.
	// Errors: ErrUnsupported, *LimitError, ErrInvalidArgument.
	Compile(c spec.Call, in, out []spec.Place) (Code, error)
}

// Code is a compiled call.
type Code interface {
	// Scratch lists the sizes in bytes of the temporary memory that the code needs.
	Scratch() []int64
	// Kernels names the kernel of each launch, in order.
	Kernels() []string
}

// Parts is Code of which some launches may run once. A Code has it if its compiler can divide it.
type Parts interface {
	// Fixed says which launches depend only on those inputs for which fixed is true, and write scratch memory that no other launch writes; and which
	// scratch memory these write. It must then stay as they leave it.
	Fixed(fixed []bool) (launches, scratch []bool)
}

// Memory says which memory an operand lies in.
type Memory uint8

// These are the memories of a Program.
const (
	// Inputs has a buffer for each input, which every run is given.
	Inputs Memory = iota
	// Params has a buffer for each param. It stays from run to run.
	Params
	// Outputs has a buffer for each output, which every run is given.
	Outputs
	// Kept has the constants, and what is computed of them and of weights. It stays from run to run.
	Kept
	// Arena has what one run computes on the way. It may consist of several buffers.
	Arena
)

// String returns the memory in lower case.
func (m Memory) String() string {
	names := [...]string{"inputs", "params", "outputs", "kept", "arena"}
	if int(m) < len(names) {
		return names[m]
	}
	return "unknown"
}

// Operand is where an operand of a call lies.
type Operand struct {
	// Value is the value of the graph, or mir.None for an input that the call leaves out. Such an input lies nowhere.
	Value mir.Value
	// Memory and Buffer say which buffer it lies in: an input, param or output by its number, or one of the arena.
	Memory Memory
	Buffer int
	// Offset is where it begins, in bytes.
	Offset int64
	// Desc describes it.
	Desc tensor.Desc
}

// Range is a part of the arena.
type Range struct {
	Buffer       int
	Offset, Size int64 // bytes
}

// Step is a call, or an If or a While.
type Step struct {
	// Node is the number of the node of the graph.
	Node int
	// Label is the node's label, which is for readers and may be empty.
	Label string
	Call  spec.Call
	Code  Code
	// Control is what an If or a While runs, which has no Call and no Code. It is nil for a call.
	Control *Control
	// In and Out are the operands, and Scratch has a range for each of Code.Scratch or of Control.Scratch.
	In, Out []Operand
	Scratch []Range
}

// Kernels names the kernel of each launch, in order. It is nil for a step without code.
func (s *Step) Kernels() []string {
	if s == nil || errs.Nil(s.Code) {
		return nil
	}
	return s.Code.Kernels()
}

// Port is an input, a param or an output.
type Port struct {
	Name string
	Desc tensor.Desc
	// Weight says of a param that its elements change only when it is set.
	Weight bool
}

// Constant is a value that the graph has, and where in Kept it lies.
type Constant struct {
	Offset int64 // bytes
	Data   []byte
}

// Program is a schedule. It does not change.
type Program struct {
	// Inputs, Params and Outputs are what a caller gives and gets, in the order of the graph.
	Inputs, Params, Outputs []Port
	// Constants are to be written to Kept before anything else.
	Constants []Constant
	// Once are the calls that depend on constants only. They run once, before the first run, and leave their
	// results in Kept.
	Once []Step
	// Prepare are the calls that depend on weights, and on nothing else but constants. They run before the first run after a weight was set, and leave
	// their results in Kept.
	Prepare []Step
	// Steps are the calls of each run. Of some, launches run with Once or Prepare only, as Fixed says.
	Steps []Step
	// Kept is the size of Kept in bytes. Arena lists the sizes of the buffers of the arena.
	Kept  int64
	Arena []int64
	// Bytes says how large values are and how much memory they take.
	Bytes Bytes

	body bool // of an If or a While: each of its launches runs each time
}

// Bytes compares the memory of a Program with that of others.
type Bytes struct {
	// Arena is the size of the arena with the scratch memory of calls.
	Arena int64 `json:"arena"`
	// Lower is the largest sum of what must be there at one time. No arena can be smaller in this order of the calls.
	Lower int64 `json:"lower_bound"`
	// Values is the sum of all values that a run computes and does not return: what they would take if each had its own
	// memory.
	Values int64 `json:"values"`
	// Kept is the size of constants and of what is computed of them and of weights.
	Kept int64 `json:"kept"`
	// Packed is the size of the scratch memory that stays from run to run, because it depends on constants and weights only.
	Packed int64 `json:"packed"`
}

// Fixed says which launches of a step of Steps depend on constants and weights only, and so run once, and which scratch memory of the step stays as
// they leave it. Both are nil if there are none.
func (p *Program) Fixed(s *Step) (launches, scratch []bool) {
	if p == nil || s == nil || p.body {
		return nil, nil
	}
	parts, ok := s.Code.(Parts)
	fixed := make([]bool, len(s.In))
	for i, o := range s.In {
		fixed[i] = o.Value != mir.None && (o.Memory == Kept || o.Memory == Params && o.Buffer >= 0 && o.Buffer < len(p.Params) && p.Params[o.Buffer].Weight)
	}
	if !ok || !slices.Contains(fixed, true) {
		return nil, nil
	}
	if launches, scratch = parts.Fixed(fixed); !slices.Contains(launches, true) {
		return nil, nil
	}
	return launches, scratch
}

// packed is the size of the scratch memory that stays.
func (p *Program) packed() (sum int64) {
	for i := range p.Steps {
		s := &p.Steps[i]
		_, scratch := p.Fixed(s)
		for k, stays := range scratch {
			if stays {
				sum += s.Scratch[k].Size
			}
		}
	}
	return sum
}

// Launches counts the launches of a run, with those of each body of an If or a While once. Those that run once do not count.
func (p *Program) Launches() int {
	n := 0
	if p != nil {
		for i := range p.Steps {
			n += len(p.Steps[i].Kernels())
			launches, _ := p.Fixed(&p.Steps[i])
			for _, once := range launches {
				if once {
					n--
				}
			}
			for _, b := range p.Steps[i].Bodies() {
				n += b.Launches()
			}
		}
	}
	return n
}
