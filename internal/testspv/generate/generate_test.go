package generate_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/internal/testspv/generate"
	"github.com/lathe-gpu/lathe/internal/testspv/interp"
)

// ways are the options that tests go through.
var ways = []generate.Options{
	{},
	{Mixed: true, SMod: true},
	{Carries: true, Atomics: true, Mixed: true},
	{Subgroups: true, Texels: true},
	{Wide: true, Carries: true},
	{Wide: true, Carries: true, Atomics: true, Subgroups: true, Texels: true, Mixed: true},
	{Affine: true},
	{Affine: true, Bottom: true, Wide: true, Mixed: true, SMod: true},
}

// Modules are valid, Parse takes them, and what they do is defined.
func TestModules(t *testing.T) {
	n := 30
	if testlevel.IsFull() {
		n = 120
	}
	val := testkit.ToolIfAny(t, "spirv-val") // without it Parse and the interpreter alone judge
	size, steps, outputs := 0, 0, 0
	for seed := range n {
		o := ways[seed%len(ways)]
		m := generate.New(uint64(seed), o)
		size += len(m.Code)
		if again := generate.New(uint64(seed), o); !bytes.Equal(again.Code, m.Code) {
			t.Fatalf("seed %d gives two modules", seed)
		}
		if val != "" && seed%4 == 0 {
			if out, err := testkit.Validate(t, val, "vulkan1.1", m.Code); err != nil {
				t.Errorf("seed %d %+v: spirv-val: %s", seed, o, out)
			}
		}
		if _, err := spv.Parse("", m.Code); err != nil {
			t.Errorf("seed %d %+v: %v", seed, o, err)
			continue
		}
		l := &interp.Launch{Buffers: map[uint32][]byte{}, Push: m.Push, Groups: m.Groups, Robust: o.Affine}
		for i, b := range m.Buffers {
			l.Buffers[uint32(i)] = slices.Clone(b)
		}
		res, err := interp.Run(m.Code, l)
		if err != nil || res.Undefined != "" {
			t.Errorf("seed %d %+v: %v, undefined: %q", seed, o, err, res.Undefined)
		}
		steps += res.Steps
		for i, b := range m.Buffers {
			if !bytes.Equal(b, l.Buffers[uint32(i)]) {
				outputs++
			}
		}
	}
	t.Logf("%d modules of %d bytes and %d steps on average", n, size/n, steps/n)
	if outputs < 2*n {
		t.Errorf("%d modules wrote to %d buffers", n, outputs)
	}
}
