package rawptr_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/rawptr"
)

// line is what Reduce computes of the elements along an axis.
func line(op rawptr.ReduceOp, xs []float64) (want, size float64) {
	at, extreme := 0, math.Inf(1)
	sum, product := 0.0, 1.0
	for i, x := range xs {
		sum, product, size = sum+x, product*x, size+math.Abs(x)
		key := x
		if op == rawptr.ReduceMax || op == rawptr.ReduceArgMax {
			key = -x
		}
		if key < extreme || math.IsNaN(key) && !math.IsNaN(extreme) {
			at, extreme = i, key
		}
	}
	switch op {
	case rawptr.ReduceSum:
		return sum, size
	case rawptr.ReduceMean:
		return sum / float64(len(xs)), size
	case rawptr.ReduceProd:
		return product, float64(len(xs)) * math.Abs(product)
	case rawptr.ReduceArgMax, rawptr.ReduceArgMin:
		return float64(at), 0
	}
	return xs[at], 0
}

func TestReduce(t *testing.T) {
	d := open(t)
	r := rand.New(rand.NewPCG(7, 8))
	for _, shape := range [][]int{{1}, {7}, {5, 3}, {2, 31, 4}, {3, 2, 5, 2}} {
		n := 1
		for _, s := range shape {
			n *= s
		}
		for _, bad := range []bool{false, true} {
			xs := random(r, n, -2, 2)
			if bad {
				xs[r.IntN(n)] = float32(math.NaN())
			}
			in, out := put(t, d, xs), alloc(t, d, 4*n)
			for axis, length := range shape {
				inner := 1
				for _, s := range shape[axis+1:] {
					inner *= s
				}
				for op := rawptr.ReduceSum; op <= rawptr.ReduceArgMin; op++ {
					if err := d.Reduce(op, in, out, shape, axis); err != nil {
						t.Fatalf("%v of %v along %d: %v", op, shape, axis, err)
					}
					for i := range n / length {
						var along []float64
						for k := range length {
							along = append(along, float64(xs[i/inner*length*inner+k*inner+i%inner]))
						}
						want, size := line(op, along)
						got := get[float32](t, d, out+rawptr.Ptr(4*i), 1)[0]
						if op >= rawptr.ReduceArgMax {
							got = float32(get[int32](t, d, out+rawptr.Ptr(4*i), 1)[0])
						}
						if !near(got, want, size) {
							t.Errorf("%v of %v along %d, element %d: got %v, want %v", op, shape, axis, i, got, want)
						}
					}
				}
			}
			free(t, d, in, out)
		}
	}
}

func TestSoftmax(t *testing.T) {
	d := open(t)
	xs := random(rand.New(rand.NewPCG(9, 10)), 2*5*3, -4, 4)
	in, out := put(t, d, xs), alloc(t, d, 4*len(xs))
	for axis, f := range [][2]int{{2, 15}, {5, 3}, {3, 1}} {
		if err := d.Softmax(in, out, []int{2, 5, 3}, axis); err != nil {
			t.Fatal(err)
		}
		for i, got := range get[float32](t, d, out, len(xs)) {
			first := i - i/f[1]%f[0]*f[1]
			sum := 0.0
			for k := range f[0] {
				sum += math.Exp(float64(xs[first+k*f[1]]))
			}
			if want := math.Exp(float64(xs[i])) / sum; !near(got, want, 1) {
				t.Errorf("axis %d, element %d: got %v, want %v", axis, i, got, want)
			}
		}
	}
	if err := d.Softmax(in, in, []int{2, 5, 3}, 2); err != nil {
		t.Fatal(err)
	}
	want := get[float32](t, d, out, len(xs))
	for i, got := range get[float32](t, d, in, len(xs)) {
		if got != want[i] {
			t.Errorf("in place: element %d is %v (want %v)", i, got, want[i])
		}
	}
}

func TestGatherAndScatter(t *testing.T) {
	d := open(t)
	const rows, cols, n = 5, 3, 7
	data := random(rand.New(rand.NewPCG(11, 12)), rows*cols, -1, 1)
	index := []int32{4, 0, 4, 2, -1, -5, 4}
	x, i, y := put(t, d, data), put(t, d, index), alloc(t, d, 4*n*cols)
	if err := d.Gather(x, i, y, rows, cols, n); err != nil {
		t.Fatal(err)
	}
	row := func(k int32) int { return (int(k) + rows) % rows }
	got := get[float32](t, d, y, n*cols)
	for k := range got {
		if want := data[row(index[k/cols])*cols+k%cols]; got[k] != want {
			t.Errorf("gather: element %d is %v (want %v)", k, got[k], want)
		}
	}
	updates := random(rand.New(rand.NewPCG(13, 14)), n*cols, -1, 1)
	u := put(t, d, updates)
	if err := d.ScatterAdd(x, i, u, rows, cols, n); err != nil {
		t.Fatal(err)
	}
	want := append([]float32(nil), data...)
	for k, v := range updates {
		want[row(index[k/cols])*cols+k%cols] += v // in order, as ScatterAdd promises
	}
	for k, got := range get[float32](t, d, x, rows*cols) {
		if got != want[k] {
			t.Errorf("scatter: element %d is %v (want %v)", k, got, want[k])
		}
	}
	// An index out of range is an error of the next wait, once, and leaves the output.
	bad := put(t, d, []int32{0, rows})
	if err := d.ScatterAdd(x, bad, u, rows, cols, 2); err != nil {
		t.Fatal(err)
	}
	wantInvalid(t, "scatter to no row", d.Synchronize(t.Context()))
	for k, got := range get[float32](t, d, x, rows*cols) {
		if got != want[k] {
			t.Errorf("a scatter that failed changed element %d to %v (was %v)", k, got, want[k])
		}
	}
	if err := d.Gather(x, bad, y, rows, cols, 2); err != nil {
		t.Fatal(err)
	}
	wantInvalid(t, "gather from no row", d.CopyDtoH(t.Context(), make([]byte, 4), y))
	for k, v := range get[float32](t, d, y, n*cols) {
		if v != got[k] {
			t.Errorf("a gather that failed changed element %d to %v (was %v)", k, v, got[k])
		}
	}
}

func TestRowErrors(t *testing.T) {
	rec := recorder(t)
	d := rec.Device
	p, q, i := alloc(t, d, 4*12), alloc(t, d, 4*12), alloc(t, d, 4*12)
	rec.quiet(t, func() {
		for name, err := range map[string]error{
			"an unknown reduction": d.Reduce(0, p, q, []int{3}, 0), "another one": d.Reduce(99, p, q, []int{3}, 0),
			"axis below 0": d.Reduce(rawptr.ReduceSum, p, q, []int{3, 4}, -1), "axis of nothing": d.Reduce(rawptr.ReduceSum, p, q, nil, 0),
			"axis too large": d.Reduce(rawptr.ReduceSum, p, q, []int{3, 4}, 2), "a negative shape": d.Reduce(rawptr.ReduceSum, p, q, []int{3, -4}, 0),
			"a large shape": d.Reduce(rawptr.ReduceSum, p, q, []int{math.MaxInt, math.MaxInt}, 0), "past the end": d.Reduce(rawptr.ReduceSum, p+4, q, []int{3, 4}, 0),
			"the result past the end": d.Reduce(rawptr.ReduceSum, p, q+40, []int{3, 4}, 0), "the result in the operand": d.Reduce(rawptr.ReduceSum, p, p+16, []int{3, 4}, 0),
			"the largest of nothing": d.Reduce(rawptr.ReduceMax, p, q, []int{0, 4}, 0), "the index of nothing": d.Reduce(rawptr.ReduceArgMin, p, q, []int{0, 4}, 0),
			"softmax, axis": d.Softmax(p, q, []int{3, 4}, 2), "softmax, negative axis": d.Softmax(p, q, []int{3, 4}, -1), "softmax, overlap": d.Softmax(p, p+4, []int{3}, 0),
			"softmax, range": d.Softmax(p, q, []int{3, 5}, 0),
			"gather, rows":   d.Gather(p, i, q, -1, 4, 3), "gather, range": d.Gather(p, i, q, 4, 4, 3), "gather, no rows": d.Gather(p, i, q, 0, 4, 3), "gather, indices": d.Gather(p, 1, q, 3, 4, 3),
			"gather, overlap": d.Gather(p, i, p, 3, 4, 3), "gather, n": d.Gather(p, i, q, 3, 4, -1),
			"scatter, overlap": d.ScatterAdd(p, i, p, 3, 4, 3), "scatter over its indices": d.ScatterAdd(p, p+8, q, 1, 4, 3), "scatter, range": d.ScatterAdd(p, i, q, 3, 4, 4),
			"scatter, cols": d.ScatterAdd(p, i, q, 3, -4, 3), "scatter, addresses": d.ScatterAdd(p, i, 3, 3, 4, 3),
		} {
			wantInvalid(t, name, err)
		}
		for name, err := range map[string]error{
			"reduce": d.Reduce(rawptr.ReduceMax, 0, 0, []int{0, 4}, 1), "softmax": d.Softmax(0, 0, []int{3, 0}, 0),
			"gather": d.Gather(p, 0, 0, 3, 4, 0), "gather no columns": d.Gather(p, i, 0, 3, 0, 3), "scatter": d.ScatterAdd(p, 0, 0, 3, 4, 0), "scatter no columns": d.ScatterAdd(p, i, q, 3, 0, 3),
		} {
			if err != nil {
				t.Errorf("%s of nothing: %v", name, err)
			}
		}
	})
}

// The sum of nothing is 0, and the product is 1.
func TestReduceNothing(t *testing.T) {
	d := open(t)
	out := put(t, d, []float32{5, 5})
	for op, want := range map[rawptr.ReduceOp]float64{rawptr.ReduceSum: 0, rawptr.ReduceProd: 1, rawptr.ReduceMean: math.NaN()} {
		if err := d.Reduce(op, 0, out, []int{2, 0}, 1); err != nil {
			t.Fatal(err)
		}
		for i, got := range get[float32](t, d, out, 2) {
			if !near(got, want, 1) {
				t.Errorf("%v: element %d is %v (want %v)", op, i, got, want)
			}
		}
	}
}
