package gpu_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// testInfo has small limits that all differ, so that each refusal has one possible
// reason.
func testInfo() *gpu.Info {
	info := null.DefaultInfo()
	info.Features = gpu.Features{}
	info.Limits = gpu.Limits{
		MaxBuffer: 1 << 20, MaxBinding: 4096, MaxTexels: 64, OffsetAlign: 16, TexelAlign: 64,
		MaxGroups: [3]uint32{100, 50, 20}, MaxLocalSize: [3]uint32{64, 32, 8}, MaxInvocations: 128,
		MaxSharedBytes: 1024, MaxParamBytes: 32, MaxBindings: 4, MaxTexelBuffers: 2, MaxUniform: 256,
	}
	return &info
}

func bind(kinds ...spv.Kind) []spv.Binding {
	var bs []spv.Binding
	for i, k := range kinds {
		bs = append(bs, spv.Binding{Slot: uint32(i), Kind: k, Access: spv.ReadWrite})
	}
	return bs
}

// These are handles of buffers that the test invents.
const (
	small handles.Handle = 1 // 1000 bytes
	large handles.Handle = 2 // 8192 bytes
	empty handles.Handle = 3 // 0 bytes
)

func testSize(h handles.Handle) (int64, error) {
	switch h {
	case small:
		return 1000, nil
	case large:
		return 8192, nil
	case empty:
		return 0, nil
	}
	return 0, gpu.ErrInvalidHandle
}

func TestCheck(t *testing.T) {
	const S, U, W, B = spv.StorageBuffer, spv.UniformTexel, spv.StorageTexel, spv.UniformBuffer
	one := func(b gpu.Binding) func(*gpu.Dispatch) {
		return func(d *gpu.Dispatch) { d.Bindings[0] = b }
	}
	mod := func(f func(*spv.Module)) func(*gpu.Dispatch) {
		return func(d *gpu.Dispatch) { f(d.Module) }
	}
	kinds := func(ks ...spv.Kind) func(*gpu.Dispatch) {
		return func(d *gpu.Dispatch) {
			d.Module.Bindings = bind(ks...)
			d.Bindings = make([]gpu.Binding, len(ks))
			for i := range ks {
				d.Bindings[i].Buffer = small
				if ks[i] == B {
					d.Bindings[i].Size = 256
				}
			}
		}
	}
	all := func(fs ...func(*gpu.Dispatch)) func(*gpu.Dispatch) {
		return func(d *gpu.Dispatch) {
			for _, f := range fs {
				f(d)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*gpu.Dispatch)
		want   error  // nil: accepted
		text   string // in the error; for a limit its name
	}{
		{"good", func(*gpu.Dispatch) {}, nil, ""},
		{"no module", func(d *gpu.Dispatch) { d.Module = nil }, gpu.ErrInvalidArgument, "no module"},
		{"no code", mod(func(m *spv.Module) { m.Code = nil }), gpu.ErrInvalidShader, "0 bytes"},
		{"odd code", mod(func(m *spv.Module) { m.Code = make([]byte, 21) }), gpu.ErrInvalidShader, "21 bytes"},

		{"missing binding", func(d *gpu.Dispatch) { d.Bindings = d.Bindings[:1] }, gpu.ErrInvalidArgument, "shader declares binding 1, 1 given"},
		{"no bindings", func(d *gpu.Dispatch) { d.Bindings = nil }, gpu.ErrInvalidArgument, "shader declares binding 1, 0 given"},
		{"far slot", mod(func(m *spv.Module) { m.Bindings[1].Slot = math.MaxUint32 }), gpu.ErrInvalidArgument, "shader declares binding 4294967295, 2 given"},
		{"extra binding", func(d *gpu.Dispatch) { d.Bindings = append(d.Bindings, gpu.Binding{Buffer: small}) }, nil, ""},
		{"extra zero binding", func(d *gpu.Dispatch) { d.Bindings = append(d.Bindings, gpu.Binding{}) }, nil, ""},
		{"extra stale binding", func(d *gpu.Dispatch) { d.Bindings = append(d.Bindings, gpu.Binding{Buffer: 99}) }, gpu.ErrInvalidHandle, "binding 2"},
		{"gap", all(mod(func(m *spv.Module) { m.Bindings[1].Slot = 2 }), func(d *gpu.Dispatch) {
			d.Bindings = []gpu.Binding{{Buffer: small}, {}, {Buffer: small}}
		}), nil, ""},
		{"stale handle", one(gpu.Binding{Buffer: 99}), gpu.ErrInvalidHandle, "binding 0"},
		{"zero handle", one(gpu.Binding{}), gpu.ErrInvalidHandle, "binding 0"},

		{"offset", one(gpu.Binding{Buffer: small, Offset: 16}), nil, ""},
		{"misaligned", one(gpu.Binding{Buffer: small, Offset: 8}), gpu.ErrInvalidArgument, "multiple of 16"},
		{"negative offset", one(gpu.Binding{Buffer: small, Offset: -16}), gpu.ErrInvalidArgument, "offset -16"},
		{"negative size", one(gpu.Binding{Buffer: small, Size: -1}), gpu.ErrInvalidArgument, "size -1"},
		{"exact range", one(gpu.Binding{Buffer: small, Offset: 16, Size: 984}), nil, ""},
		{"to the end of the last unit", one(gpu.Binding{Buffer: small, Offset: 16, Size: 992}), nil, ""},
		{"past the end", one(gpu.Binding{Buffer: small, Offset: 16, Size: 993}), gpu.ErrInvalidArgument, "within 1000 bytes"},
		{"offset past the end", one(gpu.Binding{Buffer: small, Offset: 1008}), gpu.ErrInvalidArgument, "within 1000 bytes"},
		{"overflowing range", one(gpu.Binding{Buffer: small, Offset: 16, Size: math.MaxInt64 - 8}), gpu.ErrInvalidArgument, "within 1000 bytes"},
		{"overflowing offset", one(gpu.Binding{Buffer: small, Offset: math.MaxInt64 - 15, Size: 32}), gpu.ErrInvalidArgument, "within 1000 bytes"},
		{"empty buffer", one(gpu.Binding{Buffer: empty}), nil, ""},
		{"largest binding", one(gpu.Binding{Buffer: large, Size: 4096}), nil, ""},
		{"binding too large", one(gpu.Binding{Buffer: large, Size: 4097}), gpu.ErrLimit, "MaxBinding"},
		{"rest too large", one(gpu.Binding{Buffer: large}), gpu.ErrLimit, "MaxBinding"},
		{"rest fits", one(gpu.Binding{Buffer: large, Offset: 4096}), nil, ""},

		{"texels", all(kinds(U), one(gpu.Binding{Buffer: large, Offset: 64, Size: 1024})), nil, ""},
		{"part of a texel too many", all(kinds(U), one(gpu.Binding{Buffer: large, Size: 1025})), gpu.ErrLimit, "MaxTexels"},
		{"texels too many", all(kinds(W), one(gpu.Binding{Buffer: large, Size: 1040})), gpu.ErrLimit, "MaxTexels"},
		{"texels misaligned", all(kinds(W), one(gpu.Binding{Buffer: large, Offset: 16, Size: 16})), gpu.ErrInvalidArgument, "multiple of 64"},
		{"one slot, two views", all(kinds(S, S), mod(func(m *spv.Module) {
			m.Bindings = []spv.Binding{{Slot: 0, Kind: S}, {Slot: 0, Kind: U}}
		}), one(gpu.Binding{Buffer: large, Offset: 16, Size: 16})), gpu.ErrInvalidArgument, "multiple of 64"},
		{"uniform buffer", kinds(B), nil, ""},
		{"uniform buffer too large", all(kinds(B), one(gpu.Binding{Buffer: small})), gpu.ErrLimit, "MaxUniform"},
		{"unknown kind", kinds(spv.Kind(77)), gpu.ErrUnsupported, "kind 77"},
		{"most bindings", kinds(S, S, S, S), nil, ""},
		{"too many bindings", kinds(S, S, S, S, S), gpu.ErrLimit, "MaxBindings"},
		{"most texel buffers", kinds(U, U, W, W, S), nil, ""},
		{"too many uniform texel buffers", kinds(U, U, U), gpu.ErrLimit, "MaxTexelBuffers"},
		{"too many storage texel buffers", kinds(W, W, W), gpu.ErrLimit, "MaxTexelBuffers"},

		{"params short", func(d *gpu.Dispatch) { d.Params = d.Params[:4] }, gpu.ErrInvalidArgument, "got 4 bytes, want 8"},
		{"params long", func(d *gpu.Dispatch) { d.Params = make([]byte, 32) }, nil, ""},
		{"params odd", func(d *gpu.Dispatch) { d.Params = make([]byte, 10) }, gpu.ErrInvalidArgument, "multiple of 4"},
		{"params over limit", func(d *gpu.Dispatch) { d.Params = make([]byte, 36) }, gpu.ErrLimit, "MaxParamBytes"},
		{"block over limit", mod(func(m *spv.Module) { m.ParamSize = 36 }), gpu.ErrLimit, "MaxParamBytes"},

		{"no groups", func(d *gpu.Dispatch) { d.Groups = [3]uint32{0, 1, 1} }, nil, ""},
		{"most groups", func(d *gpu.Dispatch) { d.Groups = [3]uint32{100, 50, 20} }, nil, ""},
		{"groups x", func(d *gpu.Dispatch) { d.Groups = [3]uint32{101, 1, 1} }, gpu.ErrLimit, "MaxGroups[0]"},
		{"groups y", func(d *gpu.Dispatch) { d.Groups = [3]uint32{1, 51, 1} }, gpu.ErrLimit, "MaxGroups[1]"},
		{"groups z", func(d *gpu.Dispatch) { d.Groups = [3]uint32{1, 1, 21} }, gpu.ErrLimit, "MaxGroups[2]"},
		{"groups z with none of x", func(d *gpu.Dispatch) { d.Groups = [3]uint32{0, 1, 21} }, gpu.ErrLimit, "MaxGroups[2]"},

		{"local size", mod(func(m *spv.Module) { m.LocalSize = [3]uint32{16, 8, 1} }), nil, ""},
		{"local size zero", mod(func(m *spv.Module) { m.LocalSize[1] = 0 }), gpu.ErrInvalidShader, "zero"},
		{"local size x", mod(func(m *spv.Module) { m.LocalSize = [3]uint32{65, 1, 1} }), gpu.ErrLimit, "MaxLocalSize[0]"},
		{"local size y", mod(func(m *spv.Module) { m.LocalSize = [3]uint32{1, 33, 1} }), gpu.ErrLimit, "MaxLocalSize[1]"},
		{"local size z", mod(func(m *spv.Module) { m.LocalSize = [3]uint32{1, 1, 9} }), gpu.ErrLimit, "MaxLocalSize[2]"},
		{"invocations", mod(func(m *spv.Module) { m.LocalSize = [3]uint32{16, 8, 2} }), gpu.ErrLimit, "MaxInvocations"},
		{"shared", mod(func(m *spv.Module) { m.SharedBytes = 1024 }), nil, ""},
		{"shared over limit", mod(func(m *spv.Module) { m.SharedBytes = 1025 }), gpu.ErrLimit, "MaxSharedBytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := gpu.Dispatch{
				Module:   null.Module("test/k", 8, bind(S, S)...),
				Bindings: []gpu.Binding{{Buffer: small}, {Buffer: small}},
				Params:   make([]byte, 8), Groups: [3]uint32{1, 1, 1},
			}
			c.change(&d)
			err := d.Check(testInfo(), testSize)
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %q does not say %q", err, c.text)
			}
			var le *gpu.LimitError
			if c.want == gpu.ErrLimit && (!errors.As(err, &le) || le.Name != c.text || le.Want <= le.Have) {
				t.Errorf("got %#v, want a LimitError of %s", le, c.text)
			}
		})
	}
}

// TestCheckLocalSizeOverflow checks that local sizes whose product overflows 64 bits are
// refused.
func TestCheckLocalSizeOverflow(t *testing.T) {
	info := testInfo()
	info.Limits.MaxLocalSize = [3]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}
	m := null.Module("m", 0)
	m.LocalSize = [3]uint32{1 << 22, 1 << 22, 1 << 22} // 2⁶⁶
	if err := gpu.CheckModule(info, m); !errors.Is(err, gpu.ErrLimit) {
		t.Errorf("got %v, want ErrLimit", err)
	}
}

func TestCheckCapabilities(t *testing.T) {
	f := func(set func(*gpu.Features)) func(*gpu.Info) { return func(i *gpu.Info) { set(&i.Features) } }
	for _, c := range []struct {
		number uint32
		name   string
		enable func(*gpu.Info) // nil: nothing makes it available
	}{
		{9, "Float16", f(func(f *gpu.Features) { f.F16 = true })},
		{10, "Float64", f(func(f *gpu.Features) { f.F64 = true })},
		{11, "Int64", f(func(f *gpu.Features) { f.I64 = true })},
		{12, "Int64Atomics", f(func(f *gpu.Features) { f.Atomics64 = true })},
		{22, "Int16", f(func(f *gpu.Features) { f.I16 = true })},
		{39, "Int8", f(func(f *gpu.Features) { f.I8 = true })},
		{46, "SampledBuffer", func(i *gpu.Info) { i.Limits.MaxTexelBuffers = 1 }},
		{47, "ImageBuffer", func(i *gpu.Info) { i.Limits.MaxTexelBuffers = 1 }},
		{61, "GroupNonUniform", f(func(f *gpu.Features) { f.Subgroups = true })},
		{63, "GroupNonUniformArithmetic", f(func(f *gpu.Features) { f.SubgroupOps = gpu.SubgroupArithmetic })},
		{65, "GroupNonUniformShuffle", f(func(f *gpu.Features) { f.Subgroups = true })},
		{66, "GroupNonUniformShuffleRelative", f(func(f *gpu.Features) { f.SubgroupOps = gpu.SubgroupShuffleRelative })},
		{67, "GroupNonUniformClustered", f(func(f *gpu.Features) { f.SubgroupOps = gpu.SubgroupClustered })},
		{68, "GroupNonUniformQuad", f(func(f *gpu.Features) { f.SubgroupOps = gpu.SubgroupQuad })},
		{4433, "StorageBuffer16BitAccess", f(func(f *gpu.Features) { f.Storage16 = true })},
		{4448, "StorageBuffer8BitAccess", f(func(f *gpu.Features) { f.Storage8 = true })},
		{5345, "VulkanMemoryModel", f(func(f *gpu.Features) { f.VulkanMemoryModel = true })},
		{6, "Kernel", nil},
		{4435, "StoragePushConstant16", nil},
		{5347, "PhysicalStorageBufferAddresses", nil},
		{424242, "424242", nil},
	} {
		info := testInfo()
		info.Limits.MaxTexelBuffers = 0
		m := null.Module("m", 0)
		m.Capabilities = []uint32{1, c.number}
		err := gpu.CheckModule(info, m)
		if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s without: got %v, want ErrUnsupported naming it", c.name, err)
		}
		if c.enable == nil {
			continue
		}
		c.enable(info)
		if err := gpu.CheckModule(info, m); err != nil {
			t.Errorf("%s with: %v", c.name, err)
		}
	}
	// Features.Subgroups does not include relative shuffles.
	info := testInfo()
	info.Features.Subgroups = true
	m := null.Module("m", 0)
	m.Capabilities = []uint32{66}
	if err := gpu.CheckModule(info, m); !errors.Is(err, gpu.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func TestCheckUnsupportedBindings(t *testing.T) {
	info := testInfo()
	info.Limits.MaxTexelBuffers, info.Limits.MaxUniform = 0, 0
	for _, k := range []spv.Kind{spv.UniformTexel, spv.StorageTexel, spv.UniformBuffer} {
		if err := gpu.CheckModule(info, null.Module("m", 0, bind(k)...)); !errors.Is(err, gpu.ErrUnsupported) {
			t.Errorf("kind %d: got %v, want ErrUnsupported", k, err)
		}
	}
}

func goodDispatch() gpu.Dispatch {
	m := null.Module("m", 8, bind(spv.StorageBuffer, spv.StorageBuffer, spv.UniformTexel)...)
	m.Capabilities = []uint32{1, 46, 61}
	return gpu.Dispatch{
		Module: m, Bindings: []gpu.Binding{{Buffer: small}, {Buffer: small, Offset: 16, Size: 32}, {Buffer: large, Size: 256}},
		Params: make([]byte, 8), Groups: [3]uint32{3, 2, 1},
	}
}

func TestCheckDoesNotAllocate(t *testing.T) {
	info, d := testInfo(), goodDispatch()
	info.Features.Subgroups = true
	if err := d.Check(info, testSize); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = d.Check(info, testSize) }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

func BenchmarkCheck(b *testing.B) {
	info, d := testInfo(), goodDispatch()
	info.Features.Subgroups = true
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Check(info, testSize); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLabelAndCount(t *testing.T) {
	m := null.Module("", 0)
	if got := gpu.Label(m); !strings.HasPrefix(got, "shader e3b0c4") { // SHA-256 of nothing
		t.Errorf("label %q", got)
	}
	d := gpu.Dispatch{Groups: [3]uint32{1 << 31, 1 << 31, 1 << 31}}
	if got := d.Count(); got != math.MaxUint64 {
		t.Errorf("count %d", got)
	}
	d.Groups = [3]uint32{2, 3, 4}
	if got := d.Count(); got != 24 {
		t.Errorf("count %d, want 24", got)
	}
}
