package backends_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/rawptr"
)

// TestRawPtr computes by addresses on a device of each backend. A product of float64 is right, or ErrUnsupported.
func TestRawPtr(t *testing.T) {
	t.Setenv(drivers.Env, "")
	t.Setenv(gpu.SelectorEnv, "")
	r := rawptr.NewRegistry()
	for _, name := range drivers.Built() {
		t.Run(name, func(t *testing.T) {
			b, err := r.Open(t.Context(), name)
			testkit.Opened(t, err)
			testkit.Device(t, b, err)
			put := func(data []byte) rawptr.Ptr {
				p, err := b.Alloc(int64(len(data)))
				if err == nil {
					err = b.CopyHtoD(t.Context(), p, data)
				}
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			get := func(p rawptr.Ptr, n int) []byte {
				data := make([]byte, n)
				if err := b.CopyDtoH(t.Context(), data, p); err != nil {
					t.Fatal(err)
				}
				return data
			}
			var f32, f64 []byte
			for _, x := range []float64{1, 2, 3, 4, 9} {
				f32 = binary.LittleEndian.AppendUint32(f32, math.Float32bits(float32(x)))
				f64 = binary.LittleEndian.AppendUint64(f64, math.Float64bits(x))
			}
			// C = 2·A·Aᵀ − C, with a leading dimension of 3 in C.
			want := []float64{19, 26, 3, 24, 31}
			a, c := put(f32[:16]), put(f32)
			if err := b.GemmF32(rawptr.NoTrans, rawptr.Trans, 2, 2, 2, 2, a, 2, a, 2, -1, c, 3); err != nil {
				t.Fatal(err)
			}
			data := get(c, 20)
			for i, x := range want {
				if got := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])); got != float32(x) {
					t.Errorf("f32: element %d is %v (want %v)", i, got, x)
				}
			}
			info, err := b.Capabilities()
			if err != nil {
				t.Fatal(err)
			}
			a, c = put(f64[:32]), put(f64)
			err = b.Gemm(rawptr.NoTrans, rawptr.Trans, 2, 2, 2, 2, a, 2, a, 2, -1, c, 3)
			switch data := get(c, 40); {
			case info.F64 && err != nil:
				t.Fatal(err)
			case !info.F64 && (!errors.Is(err, gpu.ErrUnsupported) || !slices.Equal(data, f64)):
				t.Errorf("without float64: %v, and C is %v", err, data)
			case info.F64:
				for i, x := range want {
					if got := math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])); got != x {
						t.Errorf("f64: element %d is %v (want %v)", i, got, x)
					}
				}
			}
			list, err := b.AvailableDevices(t.Context())
			if err != nil || len(list) == 0 || list[0].Backend != name {
				t.Errorf("devices %v, %v", list, err)
			}
		})
	}
}
