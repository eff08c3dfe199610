// Package interp carries out SPIR-V compute shaders in plain Go, slowly and by
// the letter of the specification. It is the suite's second opinion on what a
// module computes, so it shares no code with package spv and none with any driver. Only tests
// import it.
//
// Invocations of a workgroup run one after the other from barrier to barrier.
// What the specification leaves undefined (a division by zero, an index out of
// range, a barrier that some pass and others do not) is carried out somehow and
// reported. Subgroup operations are those of a subgroup whose invocations all
// have the same value, which is what the suite's modules use them for.
package interp

import (
	"errors"
	"fmt"
)

// ErrEndless is returned for a launch that takes more steps than it may.
var ErrEndless = errors.New("interp: too many steps")

// ErrUnknown is returned for an instruction or type that the interpreter lacks.
var ErrUnknown = errors.New("interp: not known")

// Launch is what a module runs on.
type Launch struct {
	Buffers map[uint32][]byte // by binding number; written in place
	Push    []byte
	Groups  [3]uint32
	// Ones makes an undefined number all ones; otherwise it is zero. A driver may
	// give either, and other numbers.
	Ones bool
	// Robust makes loads from outside of a buffer zeros and stores to there nothing. Otherwise
	// they are undefined.
	Robust bool
	// Subgroup is the size of subgroups by the built-in variables; 0 means 1.
	Subgroup uint32
	MaxSteps int // instructions of all invocations together; 0 means a hundred million
}

// Result is what else is known of a run.
type Result struct {
	Steps     int
	Undefined string // the first thing done whose outcome the specification leaves open, "" if none
}

// Run carries out the entry point of a module. The module must be valid.
// Errors: ErrEndless, ErrUnknown.
func Run(code []byte, l *Launch) (res Result, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			if !errors.Is(p, ErrEndless) && !errors.Is(p, ErrUnknown) {
				p = fmt.Errorf("%w: %v", ErrUnknown, p)
			}
			err = p
		default:
			panic(p)
		}
	}()
	m := decode(code)
	r := &run{module: m, launch: l, left: l.MaxSteps}
	if r.left == 0 {
		r.left = 100_000_000
	}
	budget := r.left
	defer func() { res = Result{budget - r.left, r.undefined} }()
	for z := range l.Groups[2] {
		for y := range l.Groups[1] {
			for x := range l.Groups[0] {
				r.group([3]uint32{x, y, z})
			}
		}
	}
	return res, nil
}

// val is a value: the bits of a scalar, the parts of a composite, or a pointer.
// A value in a register is never changed.
type val struct {
	b uint64
	c []val
	p *ptr
}

// ptr leads to a variable, or into a buffer.
type ptr struct {
	mem *val // the variable or a part of it, nil for a buffer
	buf *[]byte
	off uint64
	t   *typ
	// How a matrix lies in a buffer.
	matStride uint64
	rowMajor  bool
}

func (v val) clone() val {
	if v.c == nil {
		return v
	}
	c := make([]val, len(v.c))
	for i := range c {
		c[i] = v.c[i].clone()
	}
	v.c = c
	return v
}

// most is the largest number of numbers in a value.
const most = 1 << 20

// numbers counts the numbers in a value, up to most + 1.
func numbers(t *typ) int {
	n := 1
	switch t.op {
	case opTypeVector, opTypeMatrix, opTypeArray:
		if n = numbers(t.elem); int(t.n) > most/n {
			return most + 1
		}
		n *= int(t.n)
	case opTypeStruct:
		for _, m := range t.members {
			n = min(n+numbers(m), most+1)
		}
	}
	return n
}

// zero is the value of all zeros.
func zero(t *typ) val {
	if n := numbers(t); n > most {
		panic(fmt.Errorf("%w: a value of more than %d numbers", ErrUnknown, most))
	}
	return zeros(t)
}

func zeros(t *typ) val {
	switch t.op {
	case opTypeVector, opTypeMatrix, opTypeArray:
		c := make([]val, t.n)
		for i := range c {
			c[i] = zeros(t.elem)
		}
		return val{c: c}
	case opTypeStruct:
		c := make([]val, len(t.members))
		for i := range c {
			c[i] = zeros(t.members[i])
		}
		return val{c: c}
	}
	return val{}
}

// run is a launch under way.
type run struct {
	*module
	launch    *Launch
	left      int
	undefined string
	globals   []val // by id: constants, and pointers to what all share
	groupID   [3]uint32
}

func (r *run) undef(format string, args ...any) {
	if r.undefined == "" {
		r.undefined = fmt.Sprintf(format, args...)
	}
}

// open notes an undefined number of width bits, and chooses one.
func (r *run) open(width uint32, format string, args ...any) uint64 {
	r.undef(format, args...)
	if r.launch != nil && r.launch.Ones {
		return trunc(1<<64-1, width)
	}
	return 0
}

// invocation is one invocation of the workgroup.
type invocation struct {
	*run
	local [3]uint32
	regs  []val
	stack []frame
	at    frame
	done  bool
	wait  uint32 // word of the barrier it waits at
}

// frame is a place in a function.
type frame struct {
	fn   *function
	b    *block
	pc   int
	from uint32 // the block before, for phis
	res  uint32 // where the caller wants the result
}

func (r *run) group(id [3]uint32) {
	r.groupID = id
	r.prepare()
	n := r.local[0] * r.local[1] * r.local[2]
	if n > 1024 {
		panic(fmt.Errorf("%w: a workgroup of %d", ErrUnknown, n))
	}
	all := make([]*invocation, n)
	for i := range all {
		k := uint32(i)
		v := &invocation{run: r, local: [3]uint32{k % r.local[0], k / r.local[0] % r.local[1], k / r.local[0] / r.local[1]}}
		v.regs = append([]val(nil), r.globals...)
		for _, in := range r.variables {
			switch in.a[0] {
			case classPrivate:
				v.variable(in)
			case classInput:
				v.regs[in.res] = val{p: &ptr{mem: v.builtIn(in), t: r.types[in.typ].elem}}
			}
		}
		v.at = frame{fn: r.main, b: r.main.first}
		all[i] = v
	}
	for alive := true; alive; {
		alive = false
		waits, ended := 0, 0
		where := uint32(0)
		for _, v := range all {
			if !v.done {
				v.run1()
			}
			switch {
			case v.done:
				ended++
			case waits > 0 && where != v.wait:
				r.undef("invocations wait at different barriers")
				fallthrough
			default:
				waits++
				where = v.wait
				alive = true
			}
		}
		if waits > 0 && ended > 0 {
			r.undef("a barrier that some invocations do not reach")
		}
	}
}

// prepare sets the globals for a workgroup.
func (r *run) prepare() {
	r.globals = make([]val, r.bound)
	copy(r.globals, r.constants)
	for _, in := range r.variables {
		t := r.types[in.typ].elem
		switch in.a[0] {
		case classWorkgroup:
			v := zero(t)
			r.globals[in.res] = val{p: &ptr{mem: &v, t: t}}
		case classStorageBuffer, classUniform, classUniformConstant:
			slot := r.decor[in.res][decBinding]
			b := r.launch.Buffers[slot]
			r.globals[in.res] = val{p: &ptr{buf: &b, t: t}}
		case classPush:
			r.globals[in.res] = val{p: &ptr{buf: &r.launch.Push, t: t}}
		}
	}
}

// variable makes a variable of the invocation's own.
func (v *invocation) variable(in *inst) {
	t := v.types[in.typ].elem
	if v.left -= numbers(t); v.left < 0 { // Each invocation has one, so this bounds the memory.
		panic(ErrEndless)
	}
	x := zero(t)
	if len(in.a) > 1 {
		x = v.regs[in.a[1]].clone()
	}
	v.regs[in.res] = val{p: &ptr{mem: &x, t: t}}
}

func (v *invocation) builtIn(in *inst) *val {
	vec := func(a [3]uint32) *val {
		return &val{c: []val{{b: uint64(a[0])}, {b: uint64(a[1])}, {b: uint64(a[2])}}}
	}
	size := v.module.local
	index, each := (v.local[2]*size[1]+v.local[1])*size[0]+v.local[0], max(1, v.launch.Subgroup)
	switch b := v.decor[in.res][decBuiltIn]; b {
	case 24:
		return vec(v.launch.Groups)
	case 25:
		return vec(size)
	case 26:
		return vec(v.groupID)
	case 27:
		return vec(v.local)
	case 28:
		return vec([3]uint32{v.groupID[0]*size[0] + v.local[0], v.groupID[1]*size[1] + v.local[1], v.groupID[2]*size[2] + v.local[2]})
	case 29:
		return &val{b: uint64(index)}
	case 36: // SubgroupSize, and below what goes with it
		return &val{b: uint64(each)}
	case 38:
		return &val{b: uint64((size[0]*size[1]*size[2] + each - 1) / each)}
	case 40:
		return &val{b: uint64(index / each)}
	case 41:
		return &val{b: uint64(index % each)}
	case 4438:
		return &val{}
	case 4416, 4417, 4418, 4419, 4420:
		return &val{c: make([]val, 4)}
	default:
		panic(fmt.Errorf("%w: built-in %d", ErrUnknown, b))
	}
}
