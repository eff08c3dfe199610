package exec

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// compiler is a device that counts the modules that it compiles, and fails at one of them.
type compiler struct {
	*null.Device
	compiled atomic.Int64
	fail     int64 // 0: none
}

var errCompile = errors.New("the compiler is tired")

func (c *compiler) CompileModule(*gpu.Module) error {
	if n := c.compiled.Add(1); n == c.fail {
		return errCompile
	}
	return nil
}

func newCompiler(t *testing.T, fail int64) (*Runner, *compiler) {
	t.Helper()
	dev := &compiler{Device: null.NewRecorder(nil), fail: fail}
	r, err := New(dev)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), dev.Close()); err != nil {
			t.Error(err)
		}
	})
	return r, dev
}

// TestWarm compiles each kernel once, and launches one workgroup of it.
func TestWarm(t *testing.T) {
	r, dev := newCompiler(t, 0)
	a, b := picture(t, dev, 64, 64), picture(t, dev, 64, 64)
	job := Job{imageops.GaussianBlur{Sigma: 9}, []Operand{a}, []Operand{b}}
	if err := r.Warm(t.Context(), []Job{job, job, {imageops.Sharpen{}, []Operand{b}, []Operand{a}}}); err != nil {
		t.Fatal(err)
	}
	warm := dev.Recorded()
	if len(warm) < 2 || int(dev.compiled.Load()) != len(warm) {
		t.Errorf("%d launches and %d compilations", len(warm), dev.compiled.Load())
	}
	seen, keys := map[*gpu.Module]bool{}, map[string]bool{}
	for _, d := range warm {
		if key := keyOf(&d); keys[key] {
			t.Errorf("%s: launched again", key)
		} else {
			keys[key] = true
		}
		if d.Groups != [3]uint32{1, 1, 1} {
			t.Errorf("%s: %v workgroups", d.Module.Name, d.Groups)
		}
		seen[d.Module] = true
		for i, bind := range d.Bindings {
			if bind.Discard {
				t.Errorf("%s: binding %d promises to be overwritten", d.Module.Name, i)
			}
		}
	}
	if err := r.Run(t.Context(), job.Call, job.In, job.Out); err != nil {
		t.Fatal(err)
	}
	for _, d := range dev.Recorded()[len(warm):] {
		if !seen[d.Module] {
			t.Errorf("%s was not warm", d.Module.Name)
		}
	}
	if n := len(r.work.Load().scratch.out); n != 0 {
		t.Errorf("%d buffers were not returned", n)
	}
}

// TestWarmChecks warms a call whose inputs the device checks. The words that they report in
// are not those of any call.
func TestWarmChecks(t *testing.T) {
	r, dev := newCompiler(t, 0)
	operand := func(d tensor.Desc) Operand {
		h, err := dev.Alloc(d.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return Operand{Buffer: h, Desc: d}
	}
	in := []Operand{operand(tensor.Contiguous(tensor.I32, 3)), operand(tensor.Contiguous(tensor.F32, 5, 4))}
	out := []Operand{operand(tensor.Contiguous(tensor.F32, 3, 4))}
	if err := r.Warm(t.Context(), []Job{{ops.Embedding{}, in, out}}); err != nil {
		t.Fatal(err)
	}
	if len(dev.Recorded()) == 0 || len(r.work.Load().status.wait) != 0 || r.work.Load().status.buf != 0 {
		t.Errorf("%d launches, %d checks wait", len(dev.Recorded()), len(r.work.Load().status.wait))
	}
}

// TestWarmStops fails at the first of many kernels. What the other processors compile then is
// the last that is compiled.
func TestWarmStops(t *testing.T) {
	r, dev := newCompiler(t, 1)
	a, b := picture(t, dev, 64, 64), picture(t, dev, 64, 64)
	var jobs []Job
	for _, c := range []spec.Call{imageops.Sharpen{}, imageops.GaussianBlur{Sigma: 1}, imageops.GaussianBlur{Sigma: 9}, imageops.Brightness{Factor: 2}, imageops.Grayscale{}, imageops.InvertColors{}} {
		jobs = append(jobs, Job{c, []Operand{a}, []Operand{b}})
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	if err := r.Warm(t.Context(), jobs); !errors.Is(err, errCompile) {
		t.Errorf("got %v, want the error of the compiler", err)
	}
	if n := dev.compiled.Load(); n > 2 {
		t.Errorf("%d kernels were compiled by 2 processors, of which the first failed", n)
	}
}

func TestWarmFails(t *testing.T) {
	r, dev := newCompiler(t, 1)
	a, b := picture(t, dev, 8, 8), picture(t, dev, 8, 8)
	good := []Job{{imageops.Sharpen{}, []Operand{a}, []Operand{b}}}
	if err := r.Warm(t.Context(), good); !errors.Is(err, errCompile) {
		t.Errorf("got %v, want the error of the compiler", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct{ got, want error }{
		"cancelled": {r.Warm(cancelled, good), context.Canceled},
		"no call":   {r.Warm(t.Context(), []Job{{}}), errs.ErrInvalidArgument},
		"overlap":   {r.Warm(t.Context(), []Job{{imageops.Sharpen{}, []Operand{a}, []Operand{a}}}), errs.ErrInvalidArgument},
		"stale":     {r.Warm(t.Context(), []Job{{imageops.Sharpen{}, []Operand{a}, []Operand{{Buffer: 99, Desc: b.Desc}}}}), errs.ErrInvalidHandle},
		"zero":      {(&Runner{}).Warm(t.Context(), nil), errs.ErrNotInitialized},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	if n := len(dev.Recorded()); n != 0 {
		t.Errorf("%d launches", n)
	}
	if n := len(r.work.Load().scratch.out); n != 0 {
		t.Errorf("%d buffers were not returned", n)
	}
}
