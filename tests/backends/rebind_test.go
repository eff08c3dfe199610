package backends_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestRebind replays a graph on many pairs of tensors, whole ones and views, with all replays in flight. Each result is that of its own pair, and what lies beside a
// view stays as it was.
func TestRebind(t *testing.T) {
	eachBench(t, func(b bench) {
		const n = 97
		x, fixed, y := b.tensor(n, 1), b.tensor(n, 7), b.tensor(n, 0)
		b.chain(1, x, fixed, y)
		const pairs = 13 // more than the device keeps
		var in, out []*lathe.Tensor
		for i := range pairs {
			if i%3 == 2 { // at an address that every device can bind
				in, out = append(in, b.view(n, 256*(i%4), 400)), append(out, b.view(n, 512, 300))
			} else {
				in, out = append(in, b.tensor(n, 0)), append(out, b.tensor(n, 0))
			}
			b.fill(in[i], words(n, uint32(1000*i)))
		}
		for round := range 3 {
			for i := range pairs {
				b.replay(1, true, lathe.Rebind{From: y, To: out[i]}, lathe.Rebind{From: x, To: in[i]})
			}
			b.replay(1, true)
			for i := range pairs {
				if got, want := b.words(out[i]), chained(words(n, uint32(1000*i)), words(n, 7)); !slices.Equal(got, want) {
					b.Fatalf("round %d, pair %d: got %v, want %v", round, i, got, want)
				}
				b.fill(out[i], make([]uint32, n))
			}
			if got, want := b.words(y), chained(words(n, 1), words(n, 7)); !slices.Equal(got, want) {
				b.Fatalf("round %d: got %v, want %v", round, got, want)
			}
		}
		b.replay(1, true, lathe.Rebind{From: x, To: in[3]}) // y stays
		if got, want := b.words(y), chained(words(n, 3000), words(n, 7)); !slices.Equal(got, want) {
			b.Errorf("only the input: got %v, want %v", got, want)
		}
		b.replay(1, true, lathe.Rebind{From: x, To: y}, lathe.Rebind{From: y, To: x}) // they change places
		if got, want := b.words(x), chained(chained(words(n, 3000), words(n, 7)), words(n, 7)); !slices.Equal(got, want) {
			b.Errorf("exchanged: got %v, want %v", got, want)
		}
	})
}

// TestRebindBeside replays on views, and compares all bytes of their buffers.
func TestRebindBeside(t *testing.T) {
	eachBench(t, func(b bench) {
		for _, n := range []int{1, 3, 61} {
			whole, err := lathe.FromSlice(b.ctx, b.dev, make([]uint8, 1024), 1024)
			b.check(err)
			x, err := lathe.FromSlice(b.ctx, b.dev, make([]uint8, n), n)
			b.check(err)
			var y *lathe.Tensor
			b.check(b.c.Record(b.ctx, 1, func() error {
				if y, err = b.c.Device().Add(x, lathe.Scalar(1)); err != nil {
					return err
				}
				return b.c.Bindable(x, y)
			}))
			to, err := whole.Narrow(0, 256, n)
			b.check(err)
			b.replay(1, true, lathe.Rebind{From: y, To: to})
			got, err := lathe.ToSlice[uint8](b.ctx, whole)
			b.check(err)
			for i, v := range got {
				if want := i >= 256 && i < 256+n; (v == 1) != want {
					b.Fatalf("%d bytes, byte %d: got %d", n, i, v)
				}
			}
		}
	})
}

// TestRebindAllocatesNothing counts the allocations of replays with three sets of tensors by turns, of which there are many.
func TestRebindAllocatesNothing(t *testing.T) {
	testlevel.Turn(t, 5)
	eachBench(t, func(b bench) {
		const n, many = 31, 20
		var in, out [3][many]*lathe.Tensor
		for set := range in {
			for i := range many {
				in[set][i], out[set][i] = b.tensor(n, uint32(100*set+i)), b.tensor(n, 0)
			}
		}
		b.check(b.c.Record(b.ctx, 1, func() error {
			for i := range many {
				if err := b.c.Device().Run(b.ctx, ops.Add{}, []*lathe.Tensor{in[0][i], in[0][i]}, []*lathe.Tensor{out[0][i]}); err != nil {
					return err
				}
			}
			return errors.Join(b.c.Bindable(in[0][:]...), b.c.Bindable(out[0][:]...))
		}))
		var with [3][]lathe.Rebind
		for set := range with {
			for i := range many {
				with[set] = append(with[set], lathe.Rebind{From: in[0][i], To: in[set][i]}, lathe.Rebind{From: out[0][i], To: out[set][i]})
			}
		}
		turn := 0
		step := func() {
			turn++
			b.replay(1, true, with[turn%3]...)
		}
		for range 1200 { // queues grow to their full length
			step()
		}
		if got := testing.AllocsPerRun(150, step); got > 0 && !testkit.Race {
			b.Errorf("%v allocations a replay, want none", got)
		}
		for set := range in {
			for i := range many {
				want := words(n, uint32(100*set+i))
				for k := range want {
					want[k] *= 2
				}
				if got := b.words(out[set][i]); !slices.Equal(got, want) {
					b.Errorf("set %d, tensor %d: got %v, want %v", set, i, got, want)
				}
			}
		}
	})
}

// TestRebindRefuses gives tensors that do not fit. Nothing runs, and the next replay works.
func TestRebindRefuses(t *testing.T) {
	eachBench(t, func(b bench) {
		const n = 37
		x, fixed, y, z := b.tensor(n, 1), b.tensor(n, 7), b.tensor(n, 0), b.tensor(n, 5)
		b.wantErr("nothing is recorded", b.c.Bindable(x), lathe.ErrCapture)
		b.chain(1, x, fixed, y)
		whole := b.tensor(400, 9)
		narrow := func(at, n int) *lathe.Tensor {
			v, err := whole.Narrow(0, at, n)
			b.check(err)
			return v
		}
		floats, err := b.dev.NewTensor(tensor.Contiguous(tensor.F32, n))
		b.check(err)
		matrix, err := z.Reshape(n, 1)
		b.check(err)
		freed := b.tensor(n, 0)
		b.check(b.dev.Free(freed))
		apart, err := b.tensor(2*n, 0).Reshape(n, 2)
		b.check(err)
		apart, err = apart.Narrow(1, 0, 1)
		b.check(err)
		column, err := b.tensor(n, 0).Reshape(n, 1)
		b.check(err)
		for what, c := range map[string]struct {
			list []lathe.Rebind
			want error
		}{
			"undeclared":         {[]lathe.Rebind{{From: fixed, To: z}}, lathe.ErrInvalidArgument},
			"twice":              {[]lathe.Rebind{{From: x, To: z}, {From: x, To: z}}, lathe.ErrInvalidArgument},
			"dtype":              {[]lathe.Rebind{{From: x, To: floats}}, lathe.ErrInvalidArgument},
			"shape":              {[]lathe.Rebind{{From: x, To: matrix}}, lathe.ErrInvalidArgument},
			"size":               {[]lathe.Rebind{{From: x, To: narrow(0, n+1)}}, lathe.ErrInvalidArgument},
			"strides":            {[]lathe.Rebind{{From: column, To: apart}}, lathe.ErrInvalidArgument},
			"alignment":          {[]lathe.Rebind{{From: x, To: narrow(1, n)}}, lathe.ErrInvalidArgument},
			"freed":              {[]lathe.Rebind{{From: x, To: freed}}, lathe.ErrInvalidHandle},
			"nil":                {[]lathe.Rebind{{From: x}}, lathe.ErrInvalidHandle},
			"nil from":           {[]lathe.Rebind{{To: x}}, lathe.ErrInvalidHandle},
			"a Scalar":           {[]lathe.Rebind{{From: x, To: lathe.Scalar(1)}}, lathe.ErrInvalidHandle},
			"output on an input": {[]lathe.Rebind{{From: y, To: fixed}}, lathe.ErrInvalidArgument},
			"output on x":        {[]lathe.Rebind{{From: y, To: x}}, lathe.ErrInvalidArgument},
			"input on y":         {[]lathe.Rebind{{From: x, To: y}}, lathe.ErrInvalidArgument},
			"both":               {[]lathe.Rebind{{From: x, To: z}, {From: y, To: z}}, lathe.ErrInvalidArgument},
			"overlap":            {[]lathe.Rebind{{From: x, To: narrow(0, n)}, {From: y, To: narrow(0, n)}}, lathe.ErrInvalidArgument},
		} {
			ok, err := b.c.ReplayWith(b.ctx, 1, c.list...)
			b.wantErr(what, err, c.want)
			if ok {
				b.Errorf("%s: it was replayed", what)
			}
		}
		if got := b.words(y); !slices.Equal(got, make([]uint32, 0)) && slices.Max(got) > uint32(n*n) {
			b.Errorf("something has run: %v", got)
		}
		b.replay(9, false, lathe.Rebind{From: fixed, To: z}) // no such graph
		b.replay(1, true, lathe.Rebind{From: x, To: fixed})  // both are only read
		if got, want := b.words(y), chained(words(n, 7), words(n, 7)); !slices.Equal(got, want) {
			b.Errorf("one tensor twice: got %v, want %v", got, want)
		}
		b.check(b.c.Begin(b.ctx))
		b.wantErr("gaps", b.c.Bindable(apart), lathe.ErrInvalidArgument)
		b.wantErr("no whole unit", b.c.Bindable(narrow(0, 3)), lathe.ErrInvalidArgument)
		b.wantErr("no start of a unit", b.c.Bindable(narrow(1, 3)), lathe.ErrInvalidArgument)
		b.wantErr("nil", b.c.Bindable(nil), lathe.ErrInvalidHandle)
		b.wantErr("a Scalar", b.c.Bindable(lathe.Scalar(1)), lathe.ErrInvalidHandle)
		b.check(b.c.Bindable(narrow(0, 64), narrow(64, 64), narrow(0, 64)))
		b.wantErr("overlap", b.c.Bindable(whole), lathe.ErrInvalidArgument)
		_, err = b.c.Device().Add(whole, whole)
		b.check(err)
		b.wantErr("across the border", b.c.End(b.ctx, 2), lathe.ErrInvalidArgument)
		if got := b.c.Keys(); !slices.Equal(got, []uint64{1}) {
			b.Errorf("keys: got %v", got)
		}
	})
}

// TestRebindFreed frees tensors of a graph. Replays that replace them go on, and others say that there is no graph.
func TestRebindFreed(t *testing.T) {
	eachBench(t, func(b bench) {
		const n = 41
		x, fixed, y, z := b.tensor(n, 1), b.tensor(n, 7), b.tensor(n, 0), b.tensor(n, 5)
		b.chain(1, x, fixed, y)
		with := lathe.Rebind{From: x, To: z}
		b.replay(1, true, with)
		b.check(b.dev.Free(x))
		b.replay(1, true, with)
		if got, want := b.words(y), chained(words(n, 5), words(n, 7)); !slices.Equal(got, want) {
			b.Errorf("got %v, want %v", got, want)
		}
		b.check(b.dev.Free(z)) // it was of an earlier replay only
		other := b.tensor(n, 6)
		with.To = other
		b.replay(1, true, with)
		if got, want := b.words(y), chained(words(n, 6), words(n, 7)); !slices.Equal(got, want) {
			b.Errorf("got %v, want %v", got, want)
		}
		b.replay(1, false) // x was freed
		b.replay(1, false, with)
		x = b.tensor(n, 2)
		b.chain(1, x, fixed, y)
		with.From = x
		b.replay(1, true, with)
		b.check(b.dev.Free(fixed))
		b.replay(1, false, with)
		if len(b.c.Keys()) > 0 {
			b.Errorf("keys: got %v", b.c.Keys())
		}
	})
}

// TestRebindViews declares a part of a buffer. Another part of it, which a call uses too, stays where it is.
func TestRebindViews(t *testing.T) {
	eachBench(t, func(b bench) {
		const n = 64
		whole := b.tensor(256, 0)
		lower, err := whole.Narrow(0, 0, n)
		b.check(err)
		upper, err := whole.Narrow(0, 128, n)
		b.check(err)
		y := b.tensor(n, 0)
		b.check(b.c.Record(b.ctx, 1, func() error {
			if err := b.c.Bindable(upper); err != nil {
				return err
			}
			return b.c.Device().Run(b.ctx, ops.Sub{}, []*lathe.Tensor{upper, lower}, []*lathe.Tensor{y})
		}))
		to := b.tensor(n, 100)
		b.replay(1, true, lathe.Rebind{From: upper, To: to})
		all := words(256, 0)
		want := make([]uint32, n)
		for i := range want {
			want[i] = 100 + uint32(i*i) - all[i]
		}
		if got := b.words(y); !slices.Equal(got, want) {
			b.Errorf("got %v, want %v", got, want)
		}
		b.replay(1, true)
		for i := range want {
			want[i] = all[128+i] - all[i]
		}
		if got := b.words(y); !slices.Equal(got, want) {
			b.Errorf("got %v, want %v", got, want)
		}
	})
}

// TestRebindExecutable rebinds the input and the output of a recorded Executable.
func TestRebindExecutable(t *testing.T) {
	eachBench(t, func(b bench) {
		const n = 53
		g := graph.New()
		v := g.Input("x", tensor.U32, n)
		g.Output("y", g.Add(g.Mul(v, v), v))
		exe, err := b.c.Device().Compile(b.ctx, g, graph.Options{})
		b.check(err)
		x := b.tensor(n, 1)
		var y *lathe.Tensor
		b.check(b.c.Record(b.ctx, 1, func() error {
			out, err := exe.Run(b.ctx, map[string]*lathe.Tensor{"x": x})
			if err != nil {
				return err
			}
			y = out["y"]
			return b.c.Bindable(x, y)
		}))
		in, out := b.tensor(n, 9), b.tensor(n, 0)
		b.replay(1, true, lathe.Rebind{From: x, To: in}, lathe.Rebind{From: y, To: out})
		b.replay(1, true)
		for i, first := range []uint32{9, 1} {
			want := words(n, first)
			for k, w := range want {
				want[k] = w*w + w
			}
			if got := b.words([]*lathe.Tensor{out, y}[i]); !slices.Equal(got, want) {
				b.Errorf("%d: got %v, want %v", i, got, want)
			}
		}
	})
}

// TestRebindConcurrent replays one graph from several goroutines, each with tensors of its own.
func TestRebindConcurrent(t *testing.T) {
	eachBench(t, func(b bench) {
		const n = 43
		x, fixed, y := b.tensor(n, 1), b.tensor(n, 7), b.tensor(n, 0)
		b.chain(1, x, fixed, y)
		var all sync.WaitGroup
		for g := range 4 {
			in, out := b.tensor(n, uint32(g)), b.tensor(n, 0)
			all.Go(func() {
				for range 30 {
					ok, err := b.c.ReplayWith(b.ctx, 1, lathe.Rebind{From: x, To: in}, lathe.Rebind{From: y, To: out})
					if !ok || err != nil {
						b.Errorf("replay: got %v, %v", ok, err)
						return
					}
				}
				got, err := lathe.ToSlice[uint32](b.ctx, out)
				if want := chained(words(n, uint32(g)), words(n, 7)); err != nil || !slices.Equal(got, want) {
					b.Errorf("goroutine %d: got %v, %v, want %v", g, got, err, want)
				}
			})
		}
		all.Wait()
	})
}

// TestRebindEmpty replays a graph on empty tensors.
func TestRebindEmpty(t *testing.T) {
	eachBench(t, func(b bench) {
		x, y, other := b.tensor(0, 0), b.tensor(0, 0), b.tensor(0, 0)
		b.chain(1, x, other, y)
		b.replay(1, true, lathe.Rebind{From: x, To: other})
		b.replay(1, true, lathe.Rebind{From: y, To: b.tensor(0, 0)})
		whole := b.tensor(64, 0)
		none, err := whole.Narrow(0, 0, 0)
		b.check(err)
		_, err = b.c.ReplayWith(b.ctx, 1, lathe.Rebind{From: x, To: none})
		b.wantErr("an empty view", err, lathe.ErrInvalidArgument)
	})
}
