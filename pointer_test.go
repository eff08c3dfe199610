package lathe_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// pointerTo returns a call as a program has it that writes &Op{...}.
func pointerTo(c spec.Call) spec.Call {
	p := reflect.New(reflect.TypeOf(c))
	p.Elem().Set(reflect.ValueOf(c))
	return p.Interface().(spec.Call)
}

// callsOf is every call of an operation's cases, with inputs of a dtype that suit it.
func callsOf(t *testing.T, op *spec.Op) (calls []spec.Call, inputs [][]tensor.Desc) {
	t.Helper()
	for _, c := range op.Cases.Calls {
		c, err := spec.Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{5, 8, 3, 2, 1} {
			dims := make([]int, len(op.Cases.Dims))
			for i, dim := range op.Cases.Dims {
				if dims[i] = n; len(dim.Only) > 0 {
					dims[i] = dim.Only[0]
				}
			}
			in := op.Cases.InputsFor(c, op.Cases.DTypes[0], dims)
			if in == nil {
				continue
			}
			if _, err := op.Shape(c, in); err == nil {
				calls, inputs = append(calls, c), append(inputs, in)
				break
			}
		}
	}
	return calls, inputs
}

// hosts makes tensors of random values that suit the call.
func hosts(t *testing.T, op *spec.Op, c spec.Call, descs []tensor.Desc) []*tensor.Host {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var list []*tensor.Host
	for i, d := range descs {
		low, high := op.Cases.Low, op.Cases.High
		if op.Cases.Range != nil && i < len(descs) {
			low, high = op.Cases.Range(c, i, descs)
		}
		values := make([]float64, d.Elems())
		for k := range values {
			values[k] = low + r.Float64()*(high-low)
		}
		h, err := tensor.FromFloats(d.DType, d.Shape, values)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, h)
	}
	return list
}

// TestCallsByPointer hands every call of every operation to its functions as a value and
// by pointer. Both are the same call: what a function returns of them is equal.
func TestCallsByPointer(t *testing.T) {
	target := spec.Target{
		MaxBinding: 1 << 27, MaxTexels: 1 << 27, OffsetAlign: 16, TexelAlign: 16, MaxGroups: [3]uint32{65535, 65535, 65535},
		MaxInvocations: 256, MaxSharedBytes: 1 << 14, MaxParamBytes: 128, MaxBindings: 8, TexelBuffers: true, F16: true, F64: true, I64: true,
	}
	for _, op := range spec.All() {
		t.Run(op.Name, func(t *testing.T) {
			calls, inputs := callsOf(t, op)
			if len(calls) == 0 {
				t.Fatal("no call of the cases has inputs")
			}
			for k, value := range calls {
				in := inputs[k]
				out, err := op.Shape(value, in)
				if err != nil {
					t.Fatalf("%#v: %v", value, err)
				}
				pointer := pointerTo(value)
				same := func(what string, f func(c spec.Call) any) {
					t.Helper()
					if got, want := f(pointer), f(value); !reflect.DeepEqual(got, want) {
						t.Errorf("%s of %#v by pointer: got %v, want %v", what, value, got, want)
					}
				}
				same("Shape", func(c spec.Call) any {
					got, err := op.Shape(c, in)
					return []any{got, err}
				})
				same("Plan", func(c spec.Call) any {
					p, err := op.Plan(c, &target, in, out)
					if err != nil {
						t.Fatalf("%T %v: %v", c, c, err)
					}
					return []any{p.Steps, p.Scratch, len(p.Checks)}
				})
				for _, d := range op.Cases.DTypes {
					same("Tolerance", func(c spec.Call) any { return op.Tolerance(c, d, in) })
				}
				same("Cost", func(c spec.Call) any { return op.Cost(c, in) })
				same("Reference", func(c spec.Call) any {
					results := make([]*tensor.Host, len(out))
					for i, d := range out {
						if results[i], err = tensor.FromFloats(d.DType, d.Shape, make([]float64, d.Elems())); err != nil {
							t.Fatal(err)
						}
					}
					op.Reference(c, hosts(t, op, value, in), results)
					var data [][]byte
					for _, r := range results {
						data = append(data, r.Data)
					}
					return data
				})
				if op.Strategies != nil {
					same("Strategies", func(c spec.Call) any { return op.Strategies(c, &target, in, out) })
				}
				if op.SizeClass != nil {
					same("SizeClass", func(c spec.Call) any { return op.SizeClass(c, in) })
				}
				if op.Halo != nil {
					same("Halo", func(c spec.Call) any { return op.Halo(c) })
				}
				if op.Scalar != nil {
					same("Scalar", func(c spec.Call) any { return math.Float64bits(op.Scalar(c, []float64{0.5, 0.25})) }) // NaN too
				}
				same("the text", func(c spec.Call) any { return spec.FormatCall(c) })
			}
		})
	}
}

// TestApplyByPointer runs every operation on pictures by pointer and as a value, alone
// and in chains over strips, where halos count. At the quick level it runs a third of the calls alone.
func TestApplyByPointer(t *testing.T) {
	testlevel.Seed(t)
	dev := open(t)
	strips := open(t, lathe.WithStrip(24*64*4))
	src := noise(64, 96)
	var all []spec.Call
	for _, op := range spec.All() {
		if op.Group != "image" {
			continue
		}
		for _, c := range op.Cases.Calls {
			c, err := spec.Resolve(c)
			if err != nil {
				t.Fatal(err)
			}
			if over, ok := c.(imageops.Composite); ok {
				over.Image = noise(30, 20) // its input, which an attribute has in Apply
				c = over
			}
			if lut, ok := c.(imageops.LUT); ok {
				if lut.Table, err = imageops.ParseCube(strings.NewReader("LUT_1D_SIZE 2\n0.2 0 0\n1 0.5 1")); err != nil {
					t.Fatal(err)
				}
				c = lut
			}
			if to, ok := c.(imageops.ToSRGB); ok {
				if to.Profile, err = imageops.ParseProfile(testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve())); err != nil {
					t.Fatal(err)
				}
				c = to
			}
			if to, ok := c.(imageops.ToProfile); ok {
				p3, err := imageops.ParseProfile(testimg.RGBProfile(4, testimg.DisplayP3, testimg.SRGBCurve()))
				if err != nil {
					t.Fatal(err)
				}
				if to.Profile, err = p3.From(nil); err != nil {
					t.Fatal(err)
				}
				c = to
			}
			all = append(all, c)
			if !testlevel.Sampled(len(all), 3) {
				continue
			}
			want, err := dev.Apply(context.Background(), src, c)
			if err != nil { // an operation that Lathe calls itself
				if op.Offered() {
					t.Errorf("%#v: %v", c, err)
				}
				continue
			}
			got, err := dev.Apply(context.Background(), src, pointerTo(c))
			if err != nil {
				t.Errorf("%#v by pointer: %v", c, err)
			} else if !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%#v gives another picture by pointer", c)
			}
		}
	}
	chain := slices.DeleteFunc(all, func(c spec.Call) bool {
		return !c.Spec().Offered() || !reflect.DeepEqual(c, c.Spec().Defaults)
	})
	if len(chain) < 5 {
		t.Fatalf("only %d operations on pictures", len(chain))
	}
	pointers := make([]spec.Call, len(chain))
	for i, c := range chain {
		pointers[i] = pointerTo(c)
	}
	want, err := dev.Apply(context.Background(), src, chain...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := strips.Apply(context.Background(), src, pointers...)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Pix, want.Pix) {
		t.Error("a chain by pointer over strips gives another picture than the same chain by value at once")
	}
}
