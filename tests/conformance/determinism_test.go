package conformance_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// lone is a call with the bytes of its outputs when nothing else runs.
type lone struct {
	*run
	bits [][]byte
}

// TestDeterminism runs the operations, at the quick level a third of them, from several goroutines on one Runner, in random
// order, with memory that other calls have written. Each result must be equal, bit for
// bit, to that of a lone run.
func TestDeterminism(t *testing.T) {
	testlevel.Turn(t, 5)
	long := time.Second
	if testlevel.IsFull() {
		long = 3 * time.Second
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		var calls []lone
		ops := aThird(testlevel.Seed(t), shared(t, dev, inShard()))
		if len(ops) == 0 { // A small shard may have none for this device.
			ops = inShard()[:1]
		}
		for _, op := range ops {
			for _, n := range []int{7, 61} {
				call, in, want, err := conformance.Sample(op, op.Cases.DTypes[0], n)
				if err != nil {
					t.Fatal(err)
				}
				r := &run{op: op, call: call}
				for _, h := range in {
					r.in, r.data = append(r.in, h.Desc), append(r.data, h.Data)
				}
				for _, h := range want {
					r.out = append(r.out, h.Desc)
				}
				x := runner(t, dev)
				bits, err := r.do(t, dev, x)
				closeRunner(t, x)
				if err != nil {
					t.Fatalf("%s: %v", op.Name, err)
				}
				calls = append(calls, lone{r, bits})
			}
		}
		x := runner(t, dev)
		defer closeRunner(t, x)
		end := time.Now().Add(long)
		var wg sync.WaitGroup
		var runs [4]int
		for g := range runs {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(5, uint64(g)))
				for order := rng.Perm(len(calls)); time.Now().Before(end) && !t.Failed(); runs[g]++ {
					c := calls[order[runs[g]%len(order)]]
					if rng.IntN(3) == 0 {
						litter(t, dev, rng)
					}
					if !same(t, dev, x, c) {
						return
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d calls, run %v times", len(calls), runs)
	})
}

// same runs the call and compares its outputs with those of the lone run.
func same(t *testing.T, dev gpu.Device, x *exec.Runner, c lone) bool {
	got, err := c.do(t, dev, x)
	if err != nil {
		t.Errorf("%s of %v: %v", c.op.Name, c.in, err)
		return false
	}
	for i := range got {
		if !bytes.Equal(got[i], c.bits[i]) {
			t.Errorf("%s of %v: output %d is not what it was in a lone run", c.op.Name, c.in, i)
			return false
		}
	}
	return true
}

// litter frees memory of random size that is full of NaN. A later call may get that
// memory.
func litter(t *testing.T, dev gpu.Device, rng *rand.Rand) {
	b := bytes.Repeat([]byte{0xFF}, 1<<(8+rng.IntN(10)))
	h, err := dev.Alloc(int64(len(b)))
	if err == nil {
		err = dev.Write(t.Context(), h, 0, b)
	}
	if err == nil {
		err = dev.Free(h)
	}
	if err != nil {
		t.Error(err)
	}
}
