package conformance

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// site is the launch of a plan in which a mistake may be.
type site struct {
	height, width int
	dtype         tensor.DType
	odd           bool // the attribute
	target        *spec.Target
	chunk, chunks int
}

// oddly is victim with an attribute and with strategies. Neither changes the result.
type oddly struct {
	Odd bool `attr:"odd" doc:"changes nothing"`
	op  *spec.Op
}

func (o oddly) Spec() *spec.Op { return o.op }

// spoiled is added to the parameter A of launches whose results must be wrong.
const spoiled = 2

// newOddly returns an operation whose launches give wrong results where wrong returns
// true.
func newOddly(wrong func(s site) bool) *spec.Op {
	op := newVictim()
	base := *op
	call := func(spec.Call) spec.Call { return base.Defaults }
	op.Name, op.Defaults = "oddly", oddly{op: op}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) { return base.Shape(call(c), in) }
	op.Strategies = func(spec.Call, *spec.Target, []tensor.Desc, []tensor.Desc) []string {
		return []string{"usual", "other"}
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		p, err := base.Plan(call(c), t, in, out)
		if err != nil {
			return nil, err
		}
		for i := range p.Steps {
			params := p.Steps[i].Params.(kernelParams)
			s := site{in[0].Shape[0], in[0].Shape[1], in[0].DType, c.(oddly).Odd, t, i, len(p.Steps)}
			if wrong(s) {
				params.A += spoiled
			}
			p.Steps[i].Params = params
		}
		return p, nil
	}
	op.Cases.Calls, op.Cases.Invalid = []spec.Call{op.Defaults, oddly{Odd: true, op: op}}, nil
	return op
}

// oddKernel is the kernel of newOddly. If its launch must be wrong, the last element is.
func oddKernel(d gpu.Dispatch, bufs [][]byte) error {
	le := binary.LittleEndian
	n, a := int(le.Uint32(d.Params)), math.Float32frombits(le.Uint32(d.Params[4:]))
	wrong := a >= spoiled
	if wrong {
		a -= spoiled
	}
	for i := range n {
		if a != 0 {
			if bufs[1][i] = 255 - bufs[0][i]; wrong && i == n-1 {
				bufs[1][i] ^= 1
			}
			continue
		}
		v := math.Sqrt(float64(math.Float32frombits(le.Uint32(bufs[0][4*i:]))))
		if wrong && i == n-1 { // The value may be NaN.
			v = 7
		}
		le.PutUint32(bufs[1][4*i:], math.Float32bits(float32(v)))
	}
	return nil
}

func prime(n int) bool {
	for i := 2; i*i <= n; i++ {
		if n%i == 0 {
			return false
		}
	}
	return n > 1
}

// TestPairsCatchPlanted plants mistakes that show in few cases. Kernels and plans have
// had such mistakes, or similar ones. The quick level chooses few of all cases, and must
// find each mistake.
func TestPairsCatchPlanted(t *testing.T) {
	seeds := uint64(1)
	if testlevel.IsFull() {
		seeds = 8
	}
	small := func(s site) bool { return s.target.MaxBinding < 2<<20 }
	for name, wrong := range map[string]func(s site) bool{
		"a prime width":                      func(s site) bool { return s.width > 7 && prime(s.width) },
		"one prime width":                    func(s site) bool { return s.width == 31 },
		"one prime height":                   func(s site) bool { return s.height == 67 },
		"a tile less one":                    func(s site) bool { return s.width == 15 },
		"a tile":                             func(s site) bool { return s.width == 16 },
		"a tile and one":                     func(s site) bool { return s.width == 17 },
		"two tiles and one":                  func(s site) bool { return s.width == 33 },
		"one row":                            func(s site) bool { return s.height == 1 && s.width > 1 },
		"more than 65535 elements":           func(s site) bool { return s.height*s.width > math.MaxUint16 },
		"more than 65535 rows":               func(s site) bool { return s.height > math.MaxUint16 },
		"more than 65535 columns":            func(s site) bool { return s.width > math.MaxUint16 },
		"bytes":                              func(s site) bool { return s.dtype == tensor.U8 },
		"bytes of a tile and one":            func(s site) bool { return s.dtype == tensor.U8 && s.width == 17 },
		"floats of one prime height":         func(s site) bool { return s.dtype == tensor.F32 && s.height == 31 },
		"an attribute":                       func(s site) bool { return s.odd },
		"an attribute with bytes":            func(s site) bool { return s.odd && s.dtype == tensor.U8 },
		"an attribute with a tile and one":   func(s site) bool { return s.odd && s.width == 17 },
		"an attribute under small limits":    func(s site) bool { return s.odd && small(s) },
		"small limits":                       small,
		"bytes under small limits":           func(s site) bool { return small(s) && s.dtype == tensor.U8 },
		"a tile less one under small limits": func(s site) bool { return small(s) && s.width == 15 },
		"no texel buffers":                   func(s site) bool { return !s.target.TexelBuffers },
		"plans for the other kind of device": func(s site) bool { return s.target.CPU },
		"bytes on the other kind of device":  func(s site) bool { return s.target.CPU && s.dtype == tensor.U8 },
		"a strategy":                         func(s site) bool { return s.target.Strategy == "other" },
		"a strategy with bytes":              func(s site) bool { return s.target.Strategy == "other" && s.dtype == tensor.U8 },
		"a strategy with a tile and one":     func(s site) bool { return s.target.Strategy == "other" && s.width == 17 },
		"a strategy with an attribute":       func(s site) bool { return s.target.Strategy == "other" && s.odd },
		"a strategy under small limits":      func(s site) bool { return s.target.Strategy == "other" && small(s) },
		"the last chunk":                     func(s site) bool { return s.chunks > 1 && s.chunk == s.chunks-1 },
		"the last chunk of bytes":            func(s site) bool { return s.chunks > 1 && s.chunk == s.chunks-1 && s.dtype == tensor.U8 },
		"every chunk but the first":          func(s site) bool { return s.chunk > 0 },
		"the last chunk of long rows":        func(s site) bool { return s.chunks > 1 && s.chunk == s.chunks-1 && s.width > s.height },
		"the last chunk of many rows":        func(s site) bool { return s.chunks > 1 && s.chunk == s.chunks-1 && s.height > s.width },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				rep := pairsOf(t, newOddly(wrong), seed+1)
				caught := 0
				for _, r := range rep.Failures() {
					if r.Message != "" {
						caught++
					}
				}
				if caught == 0 {
					t.Errorf("seed %d: not caught in %d cases", seed+1, len(rep.Rows))
				}
			}
		})
	}
	for seed := range seeds {
		rep := pairsOf(t, newOddly(func(site) bool { return false }), seed+1)
		if !rep.OK() || rep.Count(Pass) < 150 {
			t.Errorf("seed %d: a right operation: %s", seed+1, rep)
		}
	}
}

// pairsOf runs an operation at the quick level of the tests.
func pairsOf(t *testing.T, op *spec.Op, seed uint64) *Report {
	t.Helper()
	info := null.DefaultInfo()
	info.Limits.MaxTexelBuffers = max(info.Limits.MaxTexelBuffers, 8)
	d := null.New(&info)
	d.Kernels = map[string]null.Kernel{kernelName: oddKernel}
	rep, err := Run(t.Context(), d, Options{Ops: []*spec.Op{op}, Quick: true, Pairs: true, Seed: seed, noCopies: true})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// TestPairsCatchEmpty checks that an operation which refuses empty inputs passes, and
// that one which is wrong only for empty inputs fails.
func TestPairsCatchEmpty(t *testing.T) {
	for _, empty := range []func(shape []int) bool{
		func(s []int) bool { return s[0] == 0 && s[1] > 0 }, func(s []int) bool { return s[1] == 0 && s[0] > 0 }, func(s []int) bool { return s[0] == 0 && s[1] == 0 },
	} {
		op := newOddly(func(site) bool { return false })
		plan := op.Plan
		op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if empty(in[0].Shape) {
				return nil, fmt.Errorf("no plan for %v", in[0])
			}
			return plan(c, t, in, out)
		}
		for seed := range uint64(2) {
			wantCaught(t, pairsOf(t, op, seed+1), "no plan for", "=0")
		}
	}
}
