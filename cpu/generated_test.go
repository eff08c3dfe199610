package cpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/internal/testspv/generate"
	"github.com/lathe-gpu/lathe/internal/testspv/interp"
)

// generated is a module made at random with what it must compute.
type generated struct {
	*generate.Module
	want   map[uint32][]byte
	module *spv.Module
}

// optionsOf are the constructs that the module of a seed may have.
func optionsOf(seed uint64) generate.Options {
	o := generate.Options{Affine: seed%8 != 0, Bottom: true, SMod: true}
	for i, p := range []*bool{&o.Wide, &o.Carries, &o.Mixed, &o.Atomics, &o.Subgroups, &o.Texels} {
		*p = seed>>(3+2*i)&3 == 0
	}
	return o
}

func generateModule(seed uint64, o generate.Options) (*generated, error) {
	m := generate.New(seed, o)
	l := &interp.Launch{Buffers: map[uint32][]byte{}, Push: m.Push, Groups: m.Groups, Robust: true}
	for i, b := range m.Buffers {
		l.Buffers[uint32(i)] = slices.Clone(b)
	}
	res, err := interp.Run(m.Code, l)
	if err != nil || res.Undefined != "" {
		return nil, fmt.Errorf("the suite's own mistake: %v, undefined: %q", err, res.Undefined)
	}
	parsed, err := spv.Parse("", m.Code)
	return &generated{m, l.Buffers, parsed}, err
}

// zone is the number of bytes around each buffer that nothing may change.
const zone = 1 << 10

// check runs the module on a device and compares what it computes with what it must. Each
// buffer is a window of a larger one.
func (m *generated) check(t *testing.T, d *Device) error {
	job := gpu.Dispatch{Module: m.module, Params: m.Push, Groups: m.Groups}
	var handles []gpu.Handle
	defer func() {
		for _, h := range handles {
			if err := d.Free(h); err != nil {
				t.Error(err)
			}
		}
	}()
	around := func(b []byte) []byte {
		edge := bytes.Repeat([]byte{0xa5}, zone)
		return slices.Concat(edge, b, edge)
	}
	for _, b := range m.Buffers {
		h, err := d.Alloc(int64(len(b)) + 2*zone)
		if err != nil {
			return err
		}
		handles = append(handles, h)
		if err := d.Write(t.Context(), h, 0, around(b)); err != nil {
			return err
		}
	}
	job.Bindings = make([]gpu.Binding, len(m.Buffers))
	for i, h := range handles {
		job.Bindings[i] = gpu.Binding{Buffer: h, Offset: zone, Size: int64(len(m.Buffers[i]))}
	}
	job.Bindings = job.Bindings[:m.module.Bindings[len(m.module.Bindings)-1].Slot+1]
	if err := d.Submit([]gpu.Dispatch{job}); err != nil {
		return err
	}
	for i, h := range handles {
		got := make([]byte, len(m.Buffers[i])+2*zone)
		if err := d.Read(t.Context(), h, 0, got); err != nil {
			return err
		}
		inner := got[zone : len(got)-zone]
		if !bytes.Equal(got, around(inner)) {
			return fmt.Errorf("binding %d: something is stored outside of it", i)
		}
		if m.Near[i] {
			continue
		}
		open, ok := m.Open[i]
		for k := 0; k+4 <= len(inner); k += 4 {
			g, w := binary.LittleEndian.Uint32(inner[k:]), binary.LittleEndian.Uint32(m.want[uint32(i)][k:])
			if m.Floats[i] && (g|w)<<1 == 0 { // zeros
				continue
			}
			if ok && !slices.Contains(open, g) {
				return fmt.Errorf("binding %d: word %d is %#x, which nothing stores", i, k/4, g)
			}
			if !ok && g != w {
				return fmt.Errorf("binding %d: word %d is %#x, want %#x", i, k/4, g, w)
			}
		}
	}
	return nil
}

// TestGenerated runs modules made at random, with and without the version for workgroups in
// the middle, and compares the results with those of an interpreter, bit for bit.
// LATHE_FUZZ_ONLY names one, which is reduced if it fails.
func TestGenerated(t *testing.T) {
	count := 20
	if testlevel.IsFull() {
		count = 300
	}
	if testlevel.IsSoak() {
		count = 20_000
	}
	var end time.Time
	if text := os.Getenv("LATHE_FUZZ_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("LATHE_FUZZ_TIME: %v", err)
		}
		count, end = math.MaxInt, time.Now().Add(d)
	}
	versions := []struct {
		name      string
		translate func(*spv.Module) (*compile.Kernel, error)
		device    *Device
	}{{"interior", compile.Compile, nil}, {"general", compile.CompileGeneral, nil}}
	try := func(m *generated, of int) error {
		v := &versions[of]
		if v.device == nil {
			v.device = openUnclosed(t, Options{NoCache: true, MaxMemory: 64 << 20})
			v.device.translate = v.translate
		}
		return m.check(t, v.device)
	}
	closeAll := func() {
		for i := range versions {
			if d := versions[i].device; d != nil {
				versions[i].device = nil
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	defer closeAll()
	rng := rand.New(rand.NewPCG(testlevel.Seed(t), 3))
	only, err := strconv.ParseUint(os.Getenv("LATHE_FUZZ_ONLY"), 10, 64)
	ran := 0
	for ; ran < count; ran++ {
		seed := uint64(rng.Uint32())
		if err == nil {
			seed, count = only, 1
		}
		if !end.IsZero() && time.Now().After(end) {
			break
		}
		if ran%200 == 199 { // A device keeps what it has compiled.
			closeAll()
		}
		o := optionsOf(seed)
		m, err := generateModule(seed, o)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for k := range versions {
			bad := try(m, k)
			if bad == nil {
				continue
			}
			t.Errorf("seed %d, %s: %v\nagain: LATHE_FUZZ_ONLY=%d go test -count 1 -run '^%s$' ./cpu", seed, versions[k].name, bad, seed, t.Name())
			if count == 1 {
				reduce(t, seed, o, bad, func(m *generated) error { return try(m, k) })
			}
		}
	}
	t.Logf("%d modules", ran)
}

// reduce leaves out statements of a module as long as it fails, and saves what is left.
func reduce(t *testing.T, seed uint64, o generate.Options, bad error, try func(*generated) error) {
	o.Skip = map[uint64]bool{}
	for again := true; again; {
		again = false
		list := generate.New(seed, o).Statements
		for i := len(list) - 1; i >= 0; i-- {
			o.Skip[list[i]] = true
			m, err := generateModule(seed, o)
			if err == nil {
				err = try(m)
				if err != nil {
					bad, again = err, true
					continue
				}
			}
			delete(o.Skip, list[i])
		}
	}
	m := generate.New(seed, o)
	name := filepath.Join(os.TempDir(), fmt.Sprintf("lathe-generated-%d.spv", seed))
	if err := os.WriteFile(name, m.Code, 0o644); err != nil {
		t.Error(err)
	}
	t.Logf("%d statements are left: %v, groups %v, parameters %x\nsaved: %s", len(m.Statements), bad, m.Groups, m.Push, name)
}
