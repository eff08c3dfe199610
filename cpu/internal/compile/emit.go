package compile

import (
	"fmt"

	"github.com/lathe-gpu/lathe/cpu/internal/vecmath"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// Compile compiles a module.
// Errors: ErrUnsupported, which names the instruction.
func Compile(m *spv.Module) (*Kernel, error) { return translate(m, true) }

// CompileGeneral compiles a module without the version for workgroups in the middle, see
// interior. Tests compare the results of both.
// Errors: as Compile.
func CompileGeneral(m *spv.Module) (*Kernel, error) { return translate(m, false) }

// translate compiles a module, with two versions if it can have them.
func translate(m *spv.Module, two bool) (k *Kernel, err error) {
	if m, err = spv.Guard(m); err != nil {
		return nil, err
	}
	p, err := spv.Program(m)
	if err != nil {
		return nil, err
	}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case unsupported:
			k, err = nil, fmt.Errorf("cpu: %s: %w: %s", m.Name, errs.ErrUnsupported, string(v))
		default: // A shader of a stranger must not end the process.
			k, err = nil, fmt.Errorf("cpu: %s: %w: the compiler failed: %v", m.Name, errs.ErrUnsupported, v)
		}
	}()
	p.Inline()
	improve(p)
	var in *interior
	if other, err := spv.Program(m); err == nil && two {
		other.Inline()
		improve(other)
		if in = newInterior(other); in != nil {
			schedule(other)
		}
	}
	schedule(p)
	// The first writing finds which limits of buffers the function needs at its beginning, and
	// what the interior version does.
	uses := map[leafOf]bool{}
	e := newEmitter(p)
	e.vectorUses = uses
	e.function(nil, in)
	wanted := e.wanted
	if in != nil && len(in.assumptions)+len(in.order) == 0 {
		in = nil
	}
	e = newEmitter(p)
	e.vectorUses = uses
	e.function(wanted, in)
	if err := e.affordable(); err != nil && in != nil { // The interior version can be left out.
		e = newEmitter(p)
		e.vectorUses = uses
		e.function(wanted, nil)
	}
	if err := e.affordable(); err != nil {
		return nil, fmt.Errorf("cpu: %s: %w", m.Name, err)
	}
	k = &Kernel{Wasm: e.module.Encode(), FrameBytes: (e.frameBytes + 63) / 64 * 64}
	for _, c := range e.s.graph.of {
		k.Loops = k.Loops || c.isLoop()
	}
	return k, nil
}

// improve makes a program simpler.
func improve(p *ir.Program) {
	lower(p)
	p.Simplify()
	p.Promote()
	p.Join()
	p.Simplify()
	p.Reuse()
	fuse(p)
	findHalves(p.Entry)
	packLevels(p.Entry)
	p.Simplify()
	p.Hoist()
	if checked {
		if err := p.Check(); err != nil {
			panic(err.Error())
		}
	}
}

// checked has Compile check what the passes over the program leave behind. Tests set it.
var checked = false

// unsupported is what the compiler panics with. It says what it cannot compile.
type unsupported string

func unsupportedf(format string, args ...any) { panic(unsupported(fmt.Sprintf(format, args...))) }

// The parameters of run.
const (
	paramFrame = iota
	paramFirst
	paramCount
)

// emitter writes the function of a shader.
type emitter struct {
	*wasm.Func
	module *wasm.Module
	lib    *vecmath.Library
	prog   *ir.Program
	s      *shapes
	// helpers are the functions of the module that the shader calls, by name.
	helpers map[string]uint32
	// yield is the function that lets other goroutines run. fuel is the local that counts the
	// rounds of loops until it is called.
	yield, fuel uint32
	// clock is the function that returns the time in nanoseconds, if the shader asks for it.
	clock uint32
	// frameBytes is the size of the frame so far.
	frameBytes uint32

	homes  map[*ir.Value]*home
	vars   map[*ir.Value]*variable
	bufs   map[uint32]*buffer
	limits map[limitKey]uint32
	// untested are the addresses that were found inside of their buffers before the loop that
	// is being written, whose rounds are not watched. See twice.
	untested  map[*ir.Value]bool
	unwatched *construct
	// While caching is set, instructions are written that run one after the other. addresses,
	// recent and splits are what they have computed, and blockDepth is their depth.
	caching    bool
	blockDepth wasm.Label
	addresses  map[addressKey]uint32
	recent     map[leafOf]uint32
	splits     map[*ir.Value][lanes]uint32
	wanted     []limitKey
	// scratch is the offset in the frame of room for accesses to buffers that are smaller than
	// the access.
	scratch uint32
	targets map[*ir.Block]*target
	running map[*construct]bool
	// fixed are the values that are computed before the first vector, and splats the locals
	// with vectors of them.
	fixed  map[*ir.Value]bool
	splats map[leafOf]uint32
	// vectorUses are the fixed values that are used as vectors. The first writing finds them.
	vectorUses map[leafOf]bool
	// in is the interior version if it is being written, or nil.
	in *interior

	// group are the locals with the workgroup's number, and groups those with how many there
	// are.
	group, groups [3]uint32
	// vector is the local with the number of the vector times 16. slots is the frame's
	// address plus vector. The numbers are 0 if there is one vector.
	vector, slots uint32
	// count is the number of vectors in a workgroup.
	count uint32
	// mask is the local with the mask of the invocations that run, or 0 if all of them do.
	mask uint32
	// dead is the label to branch to if none of them is left.
	dead wasm.Label
	// piece is the part of the function between barriers that is being written. open says
	// that the loop over vectors is.
	piece int
	pieces
	open     bool
	openEnd  wasm.Label
	openLoop wasm.Label
	// alive is the offset in the frame of the masks of invocations that have not returned,
	// or 0 if all return together.
	alive uint32
}

// home says where the leaves of a value are.
type home struct {
	leaves []leafHome
	piece  int
}

// leafHome says where a leaf is: in a local variable, two for wide vectors, and in memory if
// other pieces need it.
type leafHome struct {
	t     *ir.Type
	shape shape
	local [2]uint32
	slot  uint32
}

// variable says where a private variable is: in local variables, or in the frame.
type variable struct {
	leaves []leafHome
	memory bool
	// offset is that in the frame of a variable in memory, and size its bytes for one vector.
	offset, size uint32
}

// target is where a branch leads.
type target struct {
	label wasm.Label
	// partial says that invocations arrive at different times, and pend is the local with
	// the mask of those that wait, or 0 if nobody asks.
	partial bool
	pend    uint32
	// out is the local that takes the mask of those that arrive, or 0.
	out uint32
	// back says that the target is the head of a loop.
	back bool
	// exit is the label behind the loop.
	exit wasm.Label
	// slot is the offset in the frame of the masks of those that wait at a target of the
	// workgroup, or 0.
	slot uint32
}

func newEmitter(p *ir.Program) *emitter {
	e := &emitter{
		module: &wasm.Module{}, prog: p, helpers: map[string]uint32{},
		homes: map[*ir.Value]*home{}, vars: map[*ir.Value]*variable{}, bufs: map[uint32]*buffer{}, limits: map[limitKey]uint32{},
		targets: map[*ir.Block]*target{}, running: map[*construct]bool{}, fixed: map[*ir.Value]bool{}, splats: map[leafOf]uint32{},
	}
	e.module.ImportMemory(wasm.Memory{Module: "lathe", Name: "memory"})
	e.yield = e.module.ImportFunc("host", "yield", wasm.FuncType{})
	if readsClock(p) {
		e.clock = e.module.ImportFunc("host", "clock", wasm.FuncType{Results: []wasm.ValType{wasm.I64}})
	}
	e.Func = e.module.Func(wasm.FuncType{Params: []wasm.ValType{wasm.I32, wasm.I32, wasm.I32}})
	e.module.Export("run", e.Func)
	e.lib = vecmath.New(e.module)
	total := p.LocalSize[0] * p.LocalSize[1] * p.LocalSize[2]
	e.count = (total + lanes - 1) / lanes
	e.s = analyse(p)
	e.pieces = piecesOf(e.s)
	slots := uint32(0)
	for _, v := range p.Vars {
		slots = max(slots, v.Var.Slot+1)
	}
	e.frameBytes = (FrameBindings + 8*slots + 63) / 64 * 64
	e.scratch = e.reserve(1024)
	return e
}

// analyse finds the shapes. A value that is computed in a loop which some invocations leave
// before others, and used behind it, becomes a variable: a later round of the loop must not
// change it for those that have left.
func analyse(p *ir.Program) *shapes {
	for {
		s := shapesOf(graphOf(p.Entry), p)
		if !s.demote(p.Entry) {
			return s
		}
	}
}

// function writes the body of run. in is the version for workgroups in the middle, or nil.
func (e *emitter) function(wanted []limitKey, in *interior) {
	for i := range 3 {
		e.groups[i] = e.Local(wasm.I32)
		e.Get(paramFrame)
		e.Memory(wasm.I32Load, 2, FrameGroups+4*uint32(i))
		e.Set(e.groups[i])
		e.group[i] = e.Local(wasm.I32)
	}
	e.slots = paramFrame
	if e.count > 1 {
		e.vector, e.slots = e.Local(wasm.I32), e.Local(wasm.I32)
	}
	e.fuel = e.Local(wasm.I32)
	e.I32Const(roundsBetweenYields)
	e.Set(e.fuel)
	e.declare()
	e.setLimits(wanted)
	fixed := newLines(e.prog, e.s).fixedInOrder(e.prog)
	end := e.Open(wasm.BlockBegin, wasm.Empty)
	e.Get(paramCount)
	e.Op(wasm.I32Eqz)
	e.Br(wasm.BrIf, end)
	again := e.Open(wasm.Loop, wasm.Empty)
	e.workgroup()
	e.zeroShared()
	if in != nil {
		f := e.interior(in)
		f.computeFixed(in.fixed)
		f.pushInterior()
		e.Open(wasm.If, wasm.Empty)
		f.splatFixed(in.fixed)
		f.openVectors()
		f.body()
		f.advance()
		f.closeVectors()
		e.wanted, e.frameBytes = f.wanted, f.frameBytes
		e.Else()
	}
	e.computeFixed(fixed)
	e.splatFixed(fixed)
	if e.s.barriers {
		e.outerFunction()
	} else {
		e.eachVector(func() { e.body() })
	}
	if in != nil {
		e.End()
	}
	e.Get(paramFirst)
	e.I32Const(1)
	e.Op(wasm.I32Add)
	e.Set(paramFirst)
	e.Get(paramCount)
	e.I32Const(1)
	e.Op(wasm.I32Sub)
	e.Tee(paramCount)
	e.Br(wasm.BrIf, again)
	e.End()
	e.End()
}

// interior returns an emitter that writes the interior version into the same function.
func (e *emitter) interior(in *interior) *emitter {
	f := *e
	f.prog, f.in = in.prog, in
	f.homes, f.vars = map[*ir.Value]*home{}, map[*ir.Value]*variable{}
	f.targets, f.running = map[*ir.Block]*target{}, map[*construct]bool{}
	f.fixed, f.splats = map[*ir.Value]bool{}, map[leafOf]uint32{}
	f.s = in.lines.s
	f.pieces = piecesOf(f.s)
	f.declareAllPrivate()
	return &f
}

// computeFixed computes the values that are the same for the workgroup, operands first.
func (e *emitter) computeFixed(list []*ir.Value) {
	for _, v := range list {
		if e.fixed[v] || v.Block == nil || e.in != nil && !e.in.live[v] {
			continue
		}
		e.computeFixed(v.Args)
		e.value(v)
		e.fixed[v] = true
	}
}

// splatFixed makes vectors of the fixed values that are scalars.
func (e *emitter) splatFixed(list []*ir.Value) {
	for _, v := range list {
		if e.in != nil && !e.in.live[v] || v.Type.Scalar() == nil {
			continue
		}
		for i, t := range leavesOf(v.Type) {
			if !isWide(t) && e.vectorUses[leafOf{v, i}] {
				e.push(v, i)
				e.splat(t)
				e.splats[leafOf{v, i}] = e.newLocal(wasm.V128)
			}
		}
	}
}

// workgroup computes the workgroup's number in x, y and z.
func (e *emitter) workgroup() {
	e.Get(paramFirst)
	e.divmod(e.groups[0], e.group[0])
	e.divmod(e.groups[1], e.group[1])
	e.Set(e.group[2])
}

// divmod divides the number on the stack, which stays as the quotient, and sets a local to
// the remainder.
func (e *emitter) divmod(by, remainder uint32) {
	n := e.newLocal(wasm.I32)
	e.Get(n)
	e.Get(by)
	e.Op(wasm.I32DivU)
	quotient := e.newLocal(wasm.I32)
	e.Get(n)
	e.Get(quotient)
	e.Get(by)
	e.Op(wasm.I32Mul)
	e.Op(wasm.I32Sub)
	e.Set(remainder)
	e.Get(quotient)
}

// eachVector writes a loop over the vectors of the workgroup.
func (e *emitter) eachVector(body func()) {
	if e.count == 1 {
		body()
		return
	}
	e.openVectors()
	body()
	e.closeVectors()
}

func (e *emitter) openVectors() {
	if e.count == 1 {
		return
	}
	e.I32Const(0)
	e.Set(e.vector)
	e.Get(paramFrame)
	e.Set(e.slots)
	e.openLoop = e.Open(wasm.Loop, wasm.Empty)
}

func (e *emitter) closeVectors() {
	if e.count == 1 {
		return
	}
	e.Get(e.slots)
	e.I32Const(16)
	e.Op(wasm.I32Add)
	e.Set(e.slots)
	e.Get(e.vector)
	e.I32Const(16)
	e.Op(wasm.I32Add)
	e.Tee(e.vector)
	e.I32Const(int32(16 * e.count))
	e.Op(wasm.I32LtU)
	e.Br(wasm.BrIf, e.openLoop)
	e.End()
}

// body writes the function for one vector, if there are no barriers.
func (e *emitter) body() {
	end := e.Open(wasm.BlockBegin, wasm.Empty)
	e.dead = end
	e.mask = e.firstMask()
	e.targets[nil] = &target{label: end, partial: e.s.partial[nil]}
	e.initialise()
	if e.in != nil {
		e.reach()
	}
	e.region(e.prog.Entry.Blocks[0])
	e.End()
}

// firstMask computes the mask of the invocations that exist. The last vector may have fewer
// than four.
func (e *emitter) firstMask() uint32 {
	total := e.prog.LocalSize[0] * e.prog.LocalSize[1] * e.prog.LocalSize[2]
	if total%lanes == 0 {
		return 0
	}
	mask := e.Local(wasm.V128)
	e.pushLocalIndex()
	e.Op(wasm.I32x4Splat)
	e.V128Const([4]uint32{0, 1, 2, 3})
	e.Op(wasm.I32x4Add)
	e.V128Const([4]uint32{total, total, total, total})
	e.Op(wasm.I32x4LtU)
	e.Set(mask)
	return mask
}

// pushLocalIndex pushes the number of the vector's first invocation in the workgroup.
func (e *emitter) pushLocalIndex() {
	if e.count == 1 {
		e.I32Const(0)
		return
	}
	e.Get(e.vector)
	e.I32Const(2)
	e.Op(wasm.I32ShrU)
}

// reserve takes memory of the frame.
func (e *emitter) reserve(bytes uint32) uint32 {
	at := e.frameBytes
	e.frameBytes += (bytes + 15) / 16 * 16
	if e.frameBytes > 1<<28 {
		unsupportedf("private and shared memory of more than 256 MiB for one worker")
	}
	return at
}
