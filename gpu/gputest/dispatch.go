package gputest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

func testAdd(e *env) {
	for _, n := range []int{1, 63, 64, 65, 1000} {
		a, b, want := make([]uint32, n), make([]uint32, n), make([]uint32, n)
		for i := range n {
			x, y := float32(i)*0.25, float32(n-2*i)
			a[i], b[i], want[i] = math.Float32bits(x), math.Float32bits(y), math.Float32bits(x+y)
		}
		out := e.alloc(int64(4 * n))
		e.must(e.dev.Submit([]gpu.Dispatch{{
			Module:   e.module(addName),
			Bindings: []gpu.Binding{{Buffer: e.words(a...)}, {Buffer: e.words(b...)}, {Buffer: out}},
			Params:   encode([]uint32{uint32(n)}), Groups: e.groups(n, 64),
		}}))
		e.compareWords(fmt.Sprintf("%d elements", n), e.readWords(out, n), want)
	}
}

// testOrder checks that writes, dispatches and reads take effect in the order of the
// calls.
func testOrder(e *env) {
	n := e.reach(4096)
	x, y, z := e.alloc(int64(4*n)), e.alloc(int64(4*n)), e.alloc(int64(4*n))
	fill := func(h gpu.Handle, v uint32) {
		e.must(e.dev.Write(e.ctx, h, 0, bytes.Repeat(encode([]uint32{v}), n)))
	}
	all := func(what string, h gpu.Handle, v uint32) {
		e.Helper()
		e.compareWords(what, e.readWords(h, n), slices.Repeat([]uint32{v}, n))
	}
	for i := range uint32(50) {
		fill(x, i)
		e.must(e.dev.Submit([]gpu.Dispatch{e.affine(x, y, n, 1, 100)})) // y = i + 100
		fill(x, 2*i)                                                    // must wait for the dispatch to have read x
		e.must(e.dev.Submit([]gpu.Dispatch{e.affine(x, z, n, 1, 1)}))   // z = 2i + 1
		fill(y, 7*i)                                                    // must land after the first dispatch's y
		e.must(e.dev.Submit([]gpu.Dispatch{e.affine(y, x, n, 2, 0)}))   // x = 14i
		if i%8 != 0 {
			continue
		}
		all("x", x, 14*i)
		all("y", y, 7*i)
		all("z", z, 2*i+1)
	}
	// The first words are written and the last are dispatched, and then the other way
	// round.
	fill(x, 1)
	e.must(e.dev.Submit([]gpu.Dispatch{e.affine(x, x, n, 10, 0)}))
	e.must(e.dev.Write(e.ctx, x, 0, encode([]uint32{77})))
	want := slices.Repeat([]uint32{10}, n)
	want[0] = 77
	e.compareWords("part written after a dispatch", e.readWords(x, n), want)
}

// testRandomChain compares a thousand dispatches over four buffers with the same
// computation on the host. The lists have any length, and every kind of dependence occurs.
func testRandomChain(e *env) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := e.reach(300)
	var hs [4]gpu.Handle
	var want [4][]uint32
	for i := range hs {
		want[i] = pattern(n, uint32(i))
		hs[i] = e.words(want[i]...)
	}
	for done := 0; done < 1000; {
		var list []gpu.Dispatch
		for range 1 + rng.IntN(40) {
			s, d := rng.IntN(4), rng.IntN(4)
			scale, shift := rng.Uint32()|1, rng.Uint32()
			count := 1 + rng.IntN(n)
			list = append(list, e.affine(hs[s], hs[d], count, scale, shift))
			for i := range count {
				want[d][i] = want[s][i]*scale + shift
			}
		}
		e.must(e.dev.Submit(list))
		done += len(list)
		switch i := rng.IntN(4); rng.IntN(4) {
		case 0:
			want[i] = pattern(n, rng.Uint32())
			e.must(e.dev.Write(e.ctx, hs[i], 0, encode(want[i])))
		case 1:
			e.compareWords(fmt.Sprintf("buffer %d after %d dispatches", i, done), e.readWords(hs[i], n), want[i])
		}
	}
	for i := range hs {
		e.compareWords(fmt.Sprintf("buffer %d", i), e.readWords(hs[i], n), want[i])
	}
}

// testLongList submits many more dispatches in one list than any pool of descriptors
// holds.
func testLongList(e *env) {
	a, b := e.words(1), e.words(0)
	list := make([]gpu.Dispatch, 5000)
	want := uint32(1)
	for i := range list {
		if i%2 == 0 {
			list[i] = e.affine(a, b, 1, 3, uint32(i))
		} else {
			list[i] = e.affine(b, a, 1, 5, uint32(i))
		}
		want = want*uint32(3+2*(i%2)) + uint32(i)
	}
	e.must(e.dev.Submit(list))
	e.compareWords("after 5000", e.readWords(a, 1), []uint32{want})
}

// testBindingRanges checks that a binding covers its range and nothing else.
func testBindingRanges(e *env) {
	align := int(e.dev.Info().Limits.OffsetAlign)
	step := max(align/4, 1) // words
	n := 4 * step
	in := pattern(n, 3)
	src, dst := e.words(in...), e.words(pattern(n, 4)...)
	want := pattern(n, 4)
	for i := range 3 {
		from, to := (i+1)*step, i*step
		d := e.affine(src, dst, step, 1, uint32(i))
		d.Bindings[0].Offset, d.Bindings[0].Size = int64(4*from), int64(4*step)
		d.Bindings[1].Offset, d.Bindings[1].Size = int64(4*to), int64(4*step)
		e.must(e.dev.Submit([]gpu.Dispatch{d}))
		for j := range step {
			want[to+j] = in[from+j] + uint32(i)
		}
	}
	e.compareWords("ranges", e.readWords(dst, n), want)
	// Size 0 means the rest of the buffer.
	d := e.affine(src, dst, step, 1, 0)
	d.Bindings[0].Offset = int64(4 * 3 * step)
	e.must(e.dev.Submit([]gpu.Dispatch{d}))
	copy(want, in[3*step:])
	e.compareWords("the rest", e.readWords(dst, n), want)
	// These are two ranges of one buffer. One is read and one is written.
	d = e.affine(dst, dst, step, 1, 9)
	d.Bindings[0].Size = int64(4 * step)
	d.Bindings[1].Offset = int64(4 * 3 * step)
	e.must(e.dev.Submit([]gpu.Dispatch{d}))
	for j := range step {
		want[3*step+j] = want[j] + 9
	}
	e.compareWords("two ranges of one buffer", e.readWords(dst, n), want)
}

// testAliased checks that one buffer may be bound more than once.
func testAliased(e *env) {
	const n = 200
	x := make([]uint32, n)
	want := make([]uint32, n)
	for i := range x {
		x[i], want[i] = math.Float32bits(float32(i)), math.Float32bits(float32(2*i))
	}
	in, out := e.words(x...), e.alloc(4*n)
	e.must(e.dev.Submit([]gpu.Dispatch{{
		Module: e.module(addName), Bindings: []gpu.Binding{{Buffer: in}, {Buffer: in}, {Buffer: out}},
		Params: encode([]uint32{n}), Groups: e.groups(n, 64),
	}}))
	e.compareWords("add(x, x)", e.readWords(out, n), want)
	h := e.words(pattern(n, 8)...)
	e.must(e.dev.Submit([]gpu.Dispatch{e.affine(h, h, n, 3, 1), e.affine(h, h, n, 1, 1)}))
	for i, v := range pattern(n, 8) {
		want[i] = v*3 + 2
	}
	e.compareWords("in place", e.readWords(h, n), want)
}

func testPush(e *env) {
	if have := e.dev.Info().Limits.MaxParamBytes; have < 128 {
		e.Skipf("needs a device with 128 bytes of push constants, this one has %d", have)
	}
	h := e.alloc(128)
	for round := range 3 {
		want := pattern(32, uint32(round))
		e.must(e.dev.Submit([]gpu.Dispatch{{
			Module: e.module(pushName), Bindings: []gpu.Binding{{Buffer: h}}, Params: encode(want), Groups: [3]uint32{1, 1, 1},
		}}))
		e.compareWords("push constants", e.readWords(h, 32), want)
	}
	// A dispatch may have more bindings and parameters than the shader declares. They are
	// ignored.
	x := e.words(5)
	d := e.affine(x, x, 1, 2, 1)
	d.Params = append(d.Params, 0xFF, 0xFF, 0xFF, 0xFF)
	e.must(e.dev.Submit([]gpu.Dispatch{d}))
	e.compareWords("longer push constants", e.readWords(x, 1), []uint32{11})
}

// testGrid checks that every invocation of a three-dimensional grid of workgroups of 16
// runs once.
func testGrid(e *env) {
	most := e.dev.Info().Limits.MaxGroups
	for _, g := range [][3]uint32{{1, 1, 1}, {5, 1, 1}, {1, 7, 1}, {1, 1, 3}, {5, 3, 2}, {8, 9, 3}} {
		if g[0] > most[0] || g[1] > most[1] || g[2] > most[2] {
			continue
		}
		n := int(16 * g[0] * g[1] * g[2])
		want := make([]uint32, n)
		for i := range want {
			cell := uint32(i / 16)
			x, y, z := cell%g[0], cell/g[0]%g[1], cell/(g[0]*g[1])
			want[i] = 1 + x<<8 + y<<16 + z<<24
		}
		h := e.alloc(int64(4 * n))
		e.must(e.dev.Submit([]gpu.Dispatch{{Module: e.module(gridName), Bindings: []gpu.Binding{{Buffer: h}}, Groups: g}}))
		e.compareWords(fmt.Sprintf("grid %v", g), e.readWords(h, n), want)
	}
}

func testShared(e *env) {
	const groups = 37
	in := pattern(64*groups, 2)
	h := e.words(in...)
	e.must(e.dev.Submit([]gpu.Dispatch{{Module: e.module(reverseName), Bindings: []gpu.Binding{{Buffer: h}}, Groups: [3]uint32{groups, 1, 1}}}))
	for i := 0; i < len(in); i += 64 {
		slices.Reverse(in[i : i+64])
	}
	e.compareWords("reversed", e.readWords(h, len(in)), in)
}

// testSubgroups checks that a device keeps the promise of Features.FullSubgroups.
func testSubgroups(e *env) {
	const groups = 5
	in := pattern(128*groups, 2)
	h := e.words(in...)
	f := &e.dev.Info().Features
	err := e.dev.Submit([]gpu.Dispatch{{Module: e.module(subgroupName), Bindings: []gpu.Binding{{Buffer: h}}, Groups: [3]uint32{groups, 1, 1}}})
	if !f.Subgroups {
		e.wantError("subgroups on a device without", err, gpu.ErrUnsupported)
		return
	}
	e.must(err)
	size := int(f.SubgroupSize)
	if !f.FullSubgroups || size == 0 || 64%size != 0 {
		e.Skipf("needs a device that promises whole subgroups, of a size that divides 64; this one has %d", size)
	}
	for g := 0; g < len(in); g += 128 {
		for i := g; i < g+64; i += size {
			slices.Reverse(in[i : i+size])
		}
		for i := g + 64; i < g+128; i++ {
			in[i] = f.SubgroupSize
		}
	}
	e.compareWords("reversed by subgroups", e.readWords(h, len(in)), in)
}

func testTexels(e *env) {
	l := &e.dev.Info().Limits
	texel := func(src, dst gpu.Binding, n int) gpu.Dispatch {
		return gpu.Dispatch{
			Module: e.module(texelName), Bindings: []gpu.Binding{src, dst},
			Params: encode([]uint32{uint32(n)}), Groups: e.groups(n, 64),
		}
	}
	if l.MaxTexelBuffers == 0 {
		h := e.alloc(64)
		err := e.dev.Submit([]gpu.Dispatch{texel(gpu.Binding{Buffer: h}, gpu.Binding{Buffer: h}, 1)})
		e.wantError("texel buffers on a device without", err, gpu.ErrUnsupported)
		return
	}
	step := int(max(l.TexelAlign/16, 1)) // texels
	n := 3 * step
	if int64(n) > l.MaxTexels {
		e.Skipf("needs a device with %d texels to a binding, this one has %d", n, l.MaxTexels)
	}
	in := pattern(4*n, 1)
	flip := func(dst, src []uint32) { // The kernel does the same.
		for i, count := 0, len(src)/4; i < count; i++ {
			to := dst[4*(count-1-i):]
			copy(to, src[4*i:4*i+4])
			to[0] += uint32(i)
		}
	}
	want := make([]uint32, 4*n)
	src, dst := e.words(in...), e.alloc(int64(16*n))
	e.must(e.dev.Submit([]gpu.Dispatch{texel(gpu.Binding{Buffer: src}, gpu.Binding{Buffer: dst}, n)}))
	flip(want, in)
	e.compareWords("texels", e.readWords(dst, 4*n), want)
	// This copies a range of the source to the middle of the destination.
	size := int64(16 * step)
	e.must(e.dev.Submit([]gpu.Dispatch{texel(
		gpu.Binding{Buffer: src, Offset: 2 * size, Size: size}, gpu.Binding{Buffer: dst, Offset: size, Size: size}, step)}))
	flip(want[4*step:8*step], in[8*step:])
	e.compareWords("texel ranges", e.readWords(dst, 4*n), want)
	// Texels are written, and the same bytes are read as words. Then the other way round.
	e.must(e.dev.Submit([]gpu.Dispatch{
		e.affine(dst, src, min(4*n, e.reach(4*n)), 1, 1),
		texel(gpu.Binding{Buffer: src}, gpu.Binding{Buffer: dst}, n),
	}))
	words := slices.Clone(in)
	for i := range min(4*n, e.reach(4*n)) {
		words[i] = want[i] + 1
	}
	flip(want, words)
	e.compareWords("texels after words", e.readWords(dst, 4*n), want)
}

func testNoGroups(e *env) {
	h := e.words(1, 2, 3)
	for i := range 3 {
		d := e.affine(h, h, 3, 0, 0)
		d.Groups = [3]uint32{1, 1, 1}
		d.Groups[i] = 0
		e.must(e.dev.Submit([]gpu.Dispatch{d}))
	}
	e.compareWords("after dispatches without groups", e.readWords(h, 3), []uint32{1, 2, 3})
}

func testEmptyList(e *env) {
	e.must(e.dev.Submit(nil))
	e.must(e.dev.Submit([]gpu.Dispatch{}))
	e.must(e.dev.Sync(e.ctx))
}

func testBadRunsNone(e *env) {
	h := e.words(1)
	good, bad := e.affine(h, h, 1, 0, 99), e.affine(h, h, 1, 0, 88)
	bad.Params = bad.Params[:8]
	e.wantError("bad last", e.dev.Submit([]gpu.Dispatch{good, good, bad}), gpu.ErrInvalidArgument)
	e.wantError("bad first", e.dev.Submit([]gpu.Dispatch{bad, good}), gpu.ErrInvalidArgument)
	e.must(e.dev.Sync(e.ctx))
	e.compareWords("untouched", e.readWords(h, 1), []uint32{1})
}

func testKeepsNothing(e *env) {
	n := e.reach(1 << 14)
	x, decoy := e.words(pattern(n, 1)...), e.alloc(int64(4*n))
	want := pattern(n, 1)
	list := make([]gpu.Dispatch, 3)
	for range 20 {
		for i := range list {
			list[i] = e.affine(x, x, n, 3, uint32(i))
		}
		e.must(e.dev.Submit(list))
		for i := range list {
			clear(list[i].Params)
			list[i].Bindings[0].Buffer, list[i].Bindings[1].Buffer = decoy, decoy
			list[i] = gpu.Dispatch{}
			for j := range want {
				want[j] = want[j]*3 + uint32(i)
			}
		}
	}
	e.compareWords("x", e.readWords(x, n), want)
	e.compareWords("decoy", e.readWords(decoy, n), make([]uint32, n))
}

// testLimits checks that a dispatch which exceeds a limit is refused, whatever the driver
// would do.
func testLimits(e *env) {
	l := e.dev.Info().Limits
	x := e.words(1, 2, 3, 4)
	// forge changes a copy of a real module. It only changes numbers that Check must
	// refuse.
	forge := func(f func(*spv.Module)) func(*gpu.Dispatch) {
		return func(d *gpu.Dispatch) {
			m := *d.Module
			f(&m)
			d.Module = &m
		}
	}
	type row struct {
		name   string
		change func(*gpu.Dispatch)
		want   error
	}
	rows := []row{
		{"no module", func(d *gpu.Dispatch) { d.Module = nil }, gpu.ErrInvalidArgument},
		{"missing binding", func(d *gpu.Dispatch) { d.Bindings = d.Bindings[:1] }, gpu.ErrInvalidArgument},
		{"no bindings", func(d *gpu.Dispatch) { d.Bindings = nil }, gpu.ErrInvalidArgument},
		{"short params", func(d *gpu.Dispatch) { d.Params = d.Params[:8] }, gpu.ErrInvalidArgument},
		{"odd params", func(d *gpu.Dispatch) { d.Params = append(d.Params, 0) }, gpu.ErrInvalidArgument},
		{"params over the limit", func(d *gpu.Dispatch) { d.Params = make([]byte, l.MaxParamBytes+4) }, gpu.ErrLimit},
		{"negative offset", func(d *gpu.Dispatch) { d.Bindings[0].Offset = -l.OffsetAlign }, gpu.ErrInvalidArgument},
		{"offset past the end", func(d *gpu.Dispatch) { d.Bindings[0].Offset = 16 * l.OffsetAlign }, gpu.ErrInvalidArgument},
		{"size past the end", func(d *gpu.Dispatch) { d.Bindings[0].Size = 17 }, gpu.ErrInvalidArgument},
		{"overflowing size", func(d *gpu.Dispatch) { d.Bindings[0].Size = math.MaxInt64 }, gpu.ErrInvalidArgument},
		{"negative size", func(d *gpu.Dispatch) { d.Bindings[0].Size = -1 }, gpu.ErrInvalidArgument},
		{"unknown capability", forge(func(m *spv.Module) { m.Capabilities = append(slices.Clone(m.Capabilities), 60000) }), gpu.ErrUnsupported},
		{"kernel capability", forge(func(m *spv.Module) { m.Capabilities = append(slices.Clone(m.Capabilities), 6) }), gpu.ErrUnsupported},
		{"no code", forge(func(m *spv.Module) { m.Code = nil }), gpu.ErrInvalidShader},
		{"too many bindings", forge(func(m *spv.Module) {
			m.Bindings = nil
			for i := range min(l.MaxBindings, 1<<16) + 1 {
				m.Bindings = append(m.Bindings, spv.Binding{Slot: i})
			}
		}), map[bool]error{true: gpu.ErrLimit, false: gpu.ErrInvalidArgument}[l.MaxBindings <= 1<<16]},
	}
	if l.OffsetAlign > 1 {
		rows = append(rows, row{"misaligned", func(d *gpu.Dispatch) { d.Bindings[0].Offset = 1 }, gpu.ErrInvalidArgument})
	}
	for i := range 3 {
		if l.MaxGroups[i] < math.MaxUint32 {
			rows = append(rows, row{fmt.Sprintf("groups[%d]", i), func(d *gpu.Dispatch) { d.Groups[i] = l.MaxGroups[i] + 1 }, gpu.ErrLimit})
		}
		if l.MaxLocalSize[i] < math.MaxUint32 {
			rows = append(rows, row{fmt.Sprintf("local size[%d]", i), forge(func(m *spv.Module) { m.LocalSize[i] = l.MaxLocalSize[i] + 1 }), gpu.ErrLimit})
		}
	}
	if l.MaxInvocations < math.MaxUint32 && l.MaxInvocations < l.MaxLocalSize[0]*l.MaxLocalSize[1] {
		rows = append(rows, row{"invocations", forge(func(m *spv.Module) {
			m.LocalSize = [3]uint32{l.MaxLocalSize[0], l.MaxLocalSize[1], l.MaxLocalSize[2]}
		}), gpu.ErrLimit})
	}
	if l.MaxSharedBytes < math.MaxUint32 {
		rows = append(rows, row{"shared memory", forge(func(m *spv.Module) { m.SharedBytes = l.MaxSharedBytes + 1 }), gpu.ErrLimit})
	}
	if l.MaxBinding < l.MaxBuffer && l.MaxBinding < 256<<20 {
		big := e.alloc(l.MaxBinding + 4)
		rows = append(rows, row{"binding over the limit", func(d *gpu.Dispatch) { d.Bindings[1].Buffer = big }, gpu.ErrLimit})
	}
	for _, r := range rows {
		d := e.affine(x, x, 4, 0, 0)
		r.change(&d)
		e.wantError(r.name, e.dev.Submit([]gpu.Dispatch{d}), r.want)
	}
	if l.MaxTexelBuffers > 0 && l.MaxTexels*16 < l.MaxBuffer && l.MaxTexels < 16<<20 {
		big := e.alloc(16*l.MaxTexels + 16)
		e.wantError("texels over the limit", e.dev.Submit([]gpu.Dispatch{{
			Module: e.module(texelName), Bindings: []gpu.Binding{{Buffer: big}, {Buffer: x}},
			Params: encode([]uint32{1}), Groups: [3]uint32{1, 1, 1},
		}}), gpu.ErrLimit)
	}
	e.compareWords("untouched", e.readWords(x, 4), []uint32{1, 2, 3, 4})
	e.must(e.dev.Submit([]gpu.Dispatch{e.affine(x, x, 4, 2, 0)}))
	e.compareWords("still at work", e.readWords(x, 4), []uint32{2, 4, 6, 8})
}

// testDispatchCompute checks that DispatchCompute runs SPIR-V of any origin, and refuses
// everything else.
func testDispatchCompute(e *env) {
	code := e.module(affineName).Code
	x, y := e.words(1, 2, 3), e.alloc(12)
	push := encode([]uint32{3, 10, 5})
	for range 2 {
		e.must(gpu.DispatchCompute(e.ctx, e.dev, code, []gpu.Handle{x, y}, push, [3]uint32{1, 1, 1}))
		e.compareWords("y", e.readWords(y, 3), []uint32{15, 25, 35})
		e.must(e.dev.Write(e.ctx, y, 0, make([]byte, 12)))
	}
	run := func(code []byte, hs []gpu.Handle, push []byte, groups [3]uint32) error {
		return gpu.DispatchCompute(e.ctx, e.dev, code, hs, push, groups)
	}
	one, both := [3]uint32{1, 1, 1}, []gpu.Handle{x, y}
	e.wantError("no bytes", run(nil, both, push, one), gpu.ErrInvalidShader)
	e.wantError("not SPIR-V", run([]byte("#version 450 void main() {}"), both, push, one), gpu.ErrInvalidShader)
	e.wantError("truncated", run(code[:len(code)-8], both, push, one), gpu.ErrInvalidShader)
	e.wantError("missing binding", run(code, both[:1], push, one), gpu.ErrInvalidArgument)
	e.wantError("zero handle", run(code, []gpu.Handle{x, 0}, push, one), gpu.ErrInvalidHandle)
	e.wantError("a binding too many", run(code, []gpu.Handle{x, y, x}, push, one), gpu.ErrInvalidArgument)
	e.wantError("short push", run(code, both, push[:8], one), gpu.ErrInvalidArgument)
	e.wantError("long push", run(code, both, append(slices.Clip(push), 0, 0, 0, 0), one), gpu.ErrInvalidArgument)
	if most := e.dev.Info().Limits.MaxGroups[0]; most < math.MaxUint32 {
		e.wantError("groups", run(code, both, push, [3]uint32{most + 1, 1, 1}), gpu.ErrLimit)
	}
	e.compareWords("y untouched", e.readWords(y, 3), []uint32{0, 0, 0})
}
