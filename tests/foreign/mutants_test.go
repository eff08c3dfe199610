package foreign_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testspv/interp"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tests/foreign/internal/mutate"
)

const (
	// mutantsEach is how many mutants of every kernel there are.
	mutantsEach = 500
	// stepLimit is what the interpreter may take for a mutant. Past it the mutant
	// is taken for endless, as any shader may be, and not launched.
	stepLimit  = 2_000_000
	bufferSize = 16 << 10
)

// jobOf launches a module with small buffers and parameters.
func jobOf(rng *rand.Rand, m *spv.Module) launch.Job {
	j := launch.Job{Code: m.Code, Push: make([]byte, (m.ParamSize+3)&^3), Groups: [3]uint32{2, 1, 1}}
	if rng.IntN(4) == 0 {
		j.Groups = [3]uint32{1, 2, 2}
	}
	for i := 0; i < len(j.Push); i += 4 {
		binary.LittleEndian.PutUint32(j.Push[i:], []uint32{0, 1, 1, 2, 3, 4, 5, 8, 16, 64}[rng.IntN(10)])
	}
	for _, p := range m.Params {
		if p.Type == "f32" {
			binary.LittleEndian.PutUint32(j.Push[p.Offset:], math.Float32bits(float32(rng.IntN(9)-2)/2))
		}
	}
	for _, b := range m.Bindings {
		for len(j.Buffers) <= int(b.Slot) {
			j.Buffers = append(j.Buffers, make([]byte, bufferSize))
		}
		data := j.Buffers[b.Slot]
		for i := 0; i < len(data); i += 4 {
			v := rng.Uint32N(16)
			switch {
			case strings.HasPrefix(b.Type, "f32"):
				v = math.Float32bits(rng.Float32()*4 - 2)
			case rng.IntN(2) == 0:
				v = rng.Uint32()
			}
			binary.LittleEndian.PutUint32(data[i:], v)
		}
	}
	return j
}

// endless reports whether a launch takes more steps than it may, whether numbers
// that are undefined, such as a quotient by zero, turn out as zero or as large. It looks at
// the code that drivers get, in which the ids are few.
func endless(j *launch.Job, m *spv.Module) bool {
	code := j.Code
	if guarded, err := spv.Guard(m); err == nil {
		code = guarded.Code
	}
	sizes := []uint32{1}
	if slices.ContainsFunc(m.Capabilities, func(c uint32) bool { return c >= 61 && c <= 68 }) { // GroupNonUniform and its kinds
		sizes = []uint32{1, 4, 8} // of a device of one, cpu and SwiftShader, and lavapipe
	}
	for _, size := range sizes {
		for _, ones := range []bool{false, true} {
			l := &interp.Launch{Buffers: map[uint32][]byte{}, Push: slices.Clone(j.Push), Groups: j.Groups, Ones: ones, Subgroup: size, MaxSteps: stepLimit}
			for i, b := range j.Buffers {
				l.Buffers[uint32(i)] = slices.Clone(b)
			}
			res, err := interp.Run(code, l)
			if errors.Is(err, interp.ErrEndless) {
				return true
			}
			if res.Undefined == "" {
				break
			}
		}
	}
	return false
}

// mutants counts what became of mutants before any launch.
type mutants struct {
	parsed, invalid, unsupported, equal, endless int
	seen                                         map[[32]byte]bool
}

// trial makes mutant i of a kernel, nil if there is nothing to launch.
func (c *mutants) trial(t *testing.T, name string, code []byte, i int) *trial {
	m := mutate.Of(name, code, i)
	c.parsed++
	parsed, err := spv.Parse("", m.Code)
	switch {
	case errors.Is(err, errs.ErrInvalidShader):
		c.invalid++
		return nil
	case errors.Is(err, errs.ErrUnsupported):
		c.unsupported++
		return nil
	case err != nil:
		t.Errorf("%s: an error of no kind: %v", m.What, err)
		return nil
	}
	key := mutate.Key(m.Code)
	if c.seen[key] {
		c.equal++
		return nil
	}
	c.seen[key] = true
	h := fnv.New64a()
	h.Write([]byte(name))
	j := jobOf(rand.New(rand.NewPCG(h.Sum64(), uint64(i))), parsed)
	if endless(&j, parsed) {
		c.endless++
		return nil
	}
	return &trial{name: fmt.Sprintf("%s#%d", name, i), what: m.What, job: j}
}

// Whatever a mutant does, it crashes and hangs nothing. Every one is parsed,
// and what package spv accepts is launched on every driver.
func TestMutants(t *testing.T) {
	s := chosen(t, 120, 40*time.Second)
	names := slices.Sorted(slices.Values(append(spirv.Names(), extra.Names()...)))
	if len(names) == 0 {
		t.Fatal("no kernels")
	}
	c := &mutants{seen: map[[32]byte]bool{}}
	code := func(name string) []byte {
		m, err := spirv.Module(name)
		if err != nil {
			m, err = extra.Module(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m.Code
	}
	var tallies []*tally
	switch {
	case s.only != "":
		name, number, _ := strings.Cut(s.only, "#")
		i, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("LATHE_FUZZ_ONLY is %q (want a kernel, # and a number)", s.only)
		}
		tallies = try(t, 0, func(give func(trial) bool) {
			x := c.trial(t, name, code(name), i)
			if x == nil {
				t.Fatalf("mutant %s is not launched: %+v", s.only, c)
			}
			t.Log(x.what)
			give(*x)
		})
	case s.all:
		tallies = try(t, 0, func(give func(trial) bool) {
			for k, name := range names {
				if !s.mine(k) {
					continue
				}
				for i := range mutantsEach {
					if x := c.trial(t, name, code(name), i); x != nil && !give(*x) {
						return
					}
				}
				clear(c.seen)
			}
		})
	default:
		rng := rand.New(rand.NewPCG(s.seed, 1))
		tallies = try(t, s.bound, func(give func(trial) bool) {
			for given := 0; given < s.count; {
				name := names[rng.IntN(len(names))]
				x := c.trial(t, name, code(name), rng.IntN(mutantsEach))
				if x == nil || len(x.job.Code) > 32<<10 && s.count < math.MaxInt { // large ones take seconds to compile
					continue
				}
				given++
				if !give(*x) {
					return
				}
			}
		})
	}
	t.Logf("%d mutants: %d invalid, %d unsupported, %d equal to others, %d endless", c.parsed, c.invalid, c.unsupported, c.equal, c.endless)
	for _, d := range tallies {
		if s.only == "" && d.ran == 0 {
			t.Errorf("%s ran no mutant", d.driver)
		}
	}
}
