package conformance

import (
	"fmt"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// TestEffort bounds what an operation costs the suite, so that it grows with the number
// of operations and with nothing else. It counts the cases that are chosen and the
// elements of their operands; on two processors a million elements take a fifth of a
// second, and a case takes a few milliseconds. The operands of one case are bounded too: CI and
// users run the suite on machines of little memory, which holds some copies of them.
func TestEffort(t *testing.T) {
	testlevel.Turn(t, 5)
	const mostBytes = 80 << 20
	for _, c := range []struct {
		name     string
		quick    bool
		cases    int     // of one operation, at most
		elements float64 // of one operation, at most, in millions
		mean     float64 // elements of an operation on average, in millions, at most
	}{
		{"quick", true, 600, 20, 8},
		{"full", false, 1200, 160, 45},
	} {
		if !c.quick && !testlevel.IsFull() {
			continue
		}
		s := onNull(t, Options{Pairs: true, Quick: c.quick, Seed: DefaultSeed})
		var total float64
		for _, op := range spec.All() {
			jobs := s.chosen(op)
			var elements float64
			for i := range jobs {
				n := 0
				in := jobs[i].inputs()
				bytes := int64(0)
				for _, d := range in {
					n += d.Elems()
					bytes += d.Bytes()
				}
				out, _ := shape(op, jobs[i].call, in) // a call that Shape refuses has no outputs
				for _, d := range out {
					n += d.Elems()
					bytes += d.Bytes()
				}
				if bytes > mostBytes {
					t.Errorf("%s: a case of %d MB: %v", op.Name, bytes>>20, in)
				}
				elements += float64(n*max(1, len(s.devicesFor(&jobs[i])))) / 1e6
			}
			total += elements
			if len(jobs) > c.cases || elements > c.elements {
				t.Errorf("%s at the %s level: %d cases of %.1f million elements, want at most %d of %.0f", op.Name, c.name, len(jobs), elements, c.cases, c.elements)
			}
		}
		mean := total / float64(len(spec.All()))
		t.Logf("%s: %.1f million elements for an operation on average", c.name, mean)
		if mean > c.mean {
			t.Errorf("%s level: an operation has %.1f million elements on average, want at most %.0f", c.name, mean, c.mean)
		}
	}
}

// TestLaunches bounds the launches of every case on every device, with every strategy, because a
// plan keeps a few hundred bytes of each.
func TestLaunches(t *testing.T) {
	const most = 1 << 17
	testlevel.Need(t, testlevel.Full)
	s := onNull(t, Options{Ops: spec.All(), Seed: DefaultSeed})
	tried := map[string]bool{}
	for _, j := range s.jobs() {
		name := fmt.Sprint(j.op.Name, j.dtype, callName(j.call), j.dims, j.shape)
		if j.pattern == "none" || tried[name] {
			continue
		}
		tried[name] = true
		in := j.inputs()
		out, err := shape(j.op, j.call, in)
		if err != nil {
			continue // The suite reports it.
		}
		for _, l := range s.devices {
			target := l.x.Target()
			strategies := []string{""}
			if j.op.Strategies != nil {
				strategies = append(strategies, j.op.Strategies(j.call, &target, in, out)...)
			}
			for _, target.Strategy = range strategies {
				plan, err := j.op.Plan(j.call, &target, in, out)
				if err == nil && len(plan.Steps) > most {
					t.Errorf("%s on %s by %q: %d launches (want at most %d)", name, l.Name, target.Strategy, len(plan.Steps), most)
				}
			}
		}
	}
}

// TestVerifyTriesEveryCall checks that no call of an operation is too large for the quick level of
// lathe verify, which chooses its sizes in another way than the tests do.
func TestVerifyTriesEveryCall(t *testing.T) {
	s := onNull(t, Options{Ops: spec.All(), Quick: true, Seed: DefaultSeed})
	for _, j := range s.jobs() {
		if j.pattern == "none" {
			t.Errorf("%s: no case at the quick level", callName(j.call))
		}
	}
}
