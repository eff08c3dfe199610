package vecmath

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// reference computes a function in float64.
type reference struct {
	name  Name
	ulp   float64 // the error may be so large
	one   func(x float64) float64
	two   func(x, y float64) float64
	bound float32 // a benchmark has arguments from low to this
	low   float32
}

var references = []reference{
	{name: Exp, ulp: 1.5, one: math.Exp, low: -20, bound: 20},
	{name: Exp2, ulp: 1.5, one: math.Exp2, low: -20, bound: 20},
	{name: Log, ulp: 1.5, one: math.Log, low: 0.01, bound: 100},
	{name: Log2, ulp: 1.5, one: log2, low: 0.01, bound: 100},
	{name: Sin, ulp: 1.5, one: math.Sin, low: -20, bound: 20},
	{name: Cos, ulp: 1.5, one: math.Cos, low: -20, bound: 20},
	{name: Tan, ulp: 3, one: math.Tan, low: -20, bound: 20},
	{name: Asin, ulp: 3, one: math.Asin, low: -1, bound: 1},
	{name: Acos, ulp: 3, one: math.Acos, low: -1, bound: 1},
	{name: Atan, ulp: 3, one: math.Atan, low: -5, bound: 5},
	{name: Atan2, ulp: 3, two: math.Atan2, low: -5, bound: 5},
	{name: Sinh, ulp: 3, one: math.Sinh, low: -5, bound: 5},
	{name: Cosh, ulp: 3, one: math.Cosh, low: -5, bound: 5},
	{name: Tanh, ulp: 3, one: math.Tanh, low: -5, bound: 5},
	{name: Asinh, ulp: 3, one: math.Asinh, low: -5, bound: 5},
	{name: Acosh, ulp: 3, one: math.Acosh, low: 1, bound: 5},
	{name: Atanh, ulp: 3, one: math.Atanh, low: -1, bound: 1},
	{name: Pow, ulp: 2, two: pow, low: 0.1, bound: 10},
}

// log2 is more accurate near 1 than math.Log2.
func log2(x float64) float64 { return math.Log(x) * (1 / math.Ln2) }

// pow is more accurate for large y than math.Pow.
func pow(x, y float64) float64 {
	if x == 0 || x == 1 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) {
		return math.Pow(x, y)
	}
	p := math.Exp(y * math.Log(math.Abs(x)))
	switch {
	case x > 0:
		return p
	case y != math.Trunc(y):
		return math.NaN()
	case math.Mod(y, 2) != 0:
		return -p
	}
	return p
}

// engine runs the functions.
type engine struct {
	memory api.Memory
	runs   map[Name]api.Function
}

const (
	block   = 4096 // arguments of a run
	xOffset = 0
	yOffset = 4 * block
	zOffset = 8 * block
)

// newEngine makes a module with a function for each name. It computes z from x and y, for
// as many bytes as its operand says.
func newEngine(t testing.TB, names ...Name) *engine {
	t.Helper()
	return newEngineOf(t, wazero.NewRuntimeConfig(), names...)
}

func newEngineOf(t testing.TB, config wazero.RuntimeConfig, names ...Name) *engine {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(api.CoreFeaturesV2))
	t.Cleanup(func() {
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	// The binary format of a module that exports a memory of one page.
	code := []byte("\x00asm\x01\x00\x00\x00\x05\x03\x01\x00\x01\x07\x0a\x01\x06memory\x02\x00")
	env, err := r.InstantiateWithConfig(ctx, code, wazero.NewModuleConfig().WithName("env"))
	if err != nil {
		t.Fatal(err)
	}
	m := &wasm.Module{}
	m.ImportMemory(wasm.Memory{Module: "env", Name: "memory", Min: 1})
	lib := New(m)
	for _, n := range names {
		f := m.Func(wasm.FuncType{Params: []wasm.ValType{wasm.I32}})
		m.Export(string(n), f)
		i := f.Local(wasm.I32)
		again := f.Open(wasm.Loop, wasm.Empty)
		f.Get(i)
		f.Get(i)
		f.Memory(wasm.V128Load, 4, xOffset)
		if len(definitions[n].typ.Params) == 2 {
			f.Get(i)
			f.Memory(wasm.V128Load, 4, yOffset)
		}
		f.Call(lib.Func(n)) // while this function is being written
		f.Memory(wasm.V128Store, 4, zOffset)
		f.Get(i)
		f.I32Const(16)
		f.Op(wasm.I32Add)
		f.Tee(i)
		f.Get(0)
		f.Op(wasm.I32LtU)
		f.Br(wasm.BrIf, again)
		f.End()
	}
	in, err := r.Instantiate(ctx, m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{env.Memory(), map[Name]api.Function{}}
	for _, n := range names {
		e.runs[n] = in.ExportedFunction(string(n))
	}
	return e
}

// run computes up to one block of results.
func (e *engine) run(t testing.TB, n Name, z, x, y []float32) {
	t.Helper()
	b, _ := e.memory.Read(0, 12*block)
	put := func(offset int, v []float32) {
		for i, f := range v {
			binary.LittleEndian.PutUint32(b[offset+4*i:], math.Float32bits(f))
		}
	}
	put(xOffset, x)
	put(yOffset, y)
	if _, err := e.runs[n].Call(context.Background(), uint64(4*len(x))); err != nil {
		t.Fatal(err)
	}
	for i := range z {
		z[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[zOffset+4*i:]))
	}
}

// ulps returns the error of got in units of the last place of want. It is infinite if one
// is NaN and the other one is not, or if the signs differ.
func ulps(got float32, want float64) float64 {
	g := float64(got)
	if math.IsNaN(g) || math.IsNaN(want) {
		if math.IsNaN(g) && math.IsNaN(want) {
			return 0
		}
		return math.Inf(1)
	}
	if math.Signbit(g) != math.Signbit(want) {
		return math.Inf(1)
	}
	// Infinity counts as the number that follows the largest one.
	g, want = min(math.Abs(g), 0x1p128), min(math.Abs(want), 0x1p128)
	exponent := max(int(math.Float64bits(want)>>52)-1023, -126)
	unit := math.Float64frombits(uint64(min(exponent, 127)-23+1023) << 52)
	return math.Abs(g-want) / unit
}

// checker compares results with a reference.
type checker struct {
	t     testing.TB
	e     *engine
	ref   reference
	x, y  []float32
	z     []float32
	worst float64
	at    string
	wrong int
}

func (c *checker) add(x, y float32) {
	c.x, c.y = append(c.x, x), append(c.y, y)
	if len(c.x) == block {
		c.flush()
	}
}

func (c *checker) flush() {
	n := len(c.x)
	for len(c.x)%4 != 0 {
		c.x, c.y = append(c.x, 1), append(c.y, 1)
	}
	c.z = slices.Grow(c.z[:0], block)[:len(c.x)]
	c.e.run(c.t, c.ref.name, c.z, c.x, c.y)
	for i := range n {
		x, y := float64(c.x[i]), float64(c.y[i])
		var want float64
		if c.ref.two != nil {
			want = c.ref.two(x, y)
		} else {
			want = c.ref.one(x)
		}
		u := ulps(c.z[i], want)
		if u > c.worst {
			c.worst, c.at = u, fmt.Sprintf("%s(%v, %v) = %v, want %v", c.ref.name, c.x[i], c.y[i], c.z[i], want)
		}
		if u > c.ref.ulp {
			if c.wrong++; c.wrong < 10 {
				c.t.Errorf("%s(%v, %v) = %v, want %v: %.2f ULP", c.ref.name, c.x[i], c.y[i], c.z[i], want, u)
			}
		}
	}
	c.x, c.y = c.x[:0], c.y[:0]
}

// specials are arguments at which something changes.
func specials() []float32 {
	inf := float32(math.Inf(1))
	s := []float32{0, 1, 2, 3, 4, 5, 0.5, 0.25, 1.5, 2.5, inf, float32(math.NaN()), math.MaxFloat32,
		0x1p-126, 0x1p-149, 0x1.fffffcp-127, 0x1p-148, 0x1p23, 0x1p24, 0x1.fffffep23, 0x1p24 + 2, 0x1.fffffep22,
		88.72284, 89.41599, 103.97208, 87.33655, 126, 127, 128, 149, 150, 151, 9, 9.1, 0.34657359, 0.5493061,
		sqrtHalf, math.Sqrt2, 16384, 6400, 0x1p20, 125, 0x1p-12, 90, 0.41421356, 1e10, 1e30}
	for _, v := range slices.Clone(s) {
		s = append(s, math.Nextafter32(v, 0), math.Nextafter32(v, inf))
	}
	for _, v := range slices.Clone(s) {
		s = append(s, -v)
	}
	return s
}

const sqrtHalf = math.Sqrt2 / 2

// arguments calls a function for the special arguments, for all exponents and signs with
// random mantissas, and for more numbers where the functions are delicate.
func arguments(r *rand.Rand, each int, f func(x float32)) {
	for _, x := range specials() {
		f(x)
	}
	for high := range uint32(512) {
		for range each {
			f(math.Float32frombits(high<<23 | r.Uint32()>>9))
		}
	}
	// Numbers near 1 and -1 and near the multiples of pi/2.
	for i := range int32(32 * each) {
		x := math.Float32frombits(uint32(int32(math.Float32bits(1)) + i - int32(16*each)))
		f(x)
		f(-x)
	}
	for i := range 16 * each {
		n := i
		if i > 5000 {
			n = r.IntN(1 << (13 + i%14))
		}
		x := float32(float64(n) * math.Pi / 2)
		for range 3 {
			f(x)
			f(-x)
			x = math.Nextafter32(x, 100+2*x)
		}
	}
	// Moderate numbers.
	for range 256 * each {
		f(float32(r.NormFloat64()) * 20)
		f(float32(r.NormFloat64()))
	}
}

// TestAccuracy compares the functions with those of package math.
func TestAccuracy(t *testing.T) {
	seed := testlevel.Seed(t)
	each := 30
	if testlevel.IsFull() {
		each = 300
	}
	for _, ref := range references {
		t.Run(string(ref.name), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			c := &checker{t: t, e: newEngine(t, ref.name), ref: ref}
			if ref.two != nil {
				pairs(r, each, c.add)
			} else {
				arguments(r, each, func(x float32) { c.add(x, 1) })
				if testlevel.IsFull() {
					const stride = 257
					for i := uint64(seed % stride); i < 1<<32; i += stride {
						c.add(math.Float32frombits(uint32(i)), 1)
					}
				}
			}
			c.flush()
			t.Logf("%.3f ULP: %s", c.worst, c.at)
		})
	}
}

// bitPatterns returns arguments that do not depend on arithmetic: one of them in 16 has
// any bits, the others are of moderate size.
func bitPatterns(r *rand.Rand) []float32 {
	x := make([]float32, block)
	for i := range x {
		bits := r.Uint32()
		if i%16 != 0 {
			bits = bits&0x807fffff | (127-20+r.Uint32N(28))<<23
		}
		x[i] = math.Float32frombits(bits)
	}
	return x
}

// TestLanes shows that a lane does not depend on the others: they may take the slow path.
// TestAccuracy cannot see that.
func TestLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(testlevel.Seed(t), 5))
	for _, ref := range references {
		e := newEngine(t, ref.name)
		x, y := bitPatterns(r), bitPatterns(r)
		mixed := make([]float32, block)
		e.run(t, ref.name, mixed, x, y)
		// Each argument now fills a vector.
		wide := func(x []float32, from int) []float32 {
			w := make([]float32, block)
			for i := range w {
				w[i] = x[from+i/4]
			}
			return w
		}
		same := make([]float32, block)
		for from := 0; from < block; from += block / 4 {
			e.run(t, ref.name, same, wide(x, from), wide(y, from))
			for i, got := range same {
				want := mixed[from+i/4]
				if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
					t.Fatalf("%s(%v, %v) is %v or %v", ref.name, x[from+i/4], y[from+i/4], got, want)
				}
			}
		}
	}
}

// TestSameBits compares the results with those of other machines, by their sums. Whoever
// changes a function sets its sum anew; no machine may need another one. The interpreter is
// such a machine.
func TestSameBits(t *testing.T) {
	sums := map[Name]uint32{
		Exp: 0x5405cf7, Exp2: 0x937f1647, Log: 0xd27956cf, Log2: 0x4b6622f5, Sin: 0xca95ea3d,
		Cos: 0xd04f0d9b, Tan: 0xb3208b62, Asin: 0xacb80846, Acos: 0x9753700c, Atan: 0x9db79c74,
		Atan2: 0x46104827, Sinh: 0x6e56db2f, Cosh: 0xc70c4d27, Tanh: 0xebad6a29, Asinh: 0xc6916de0,
		Acosh: 0xa46bcf78, Atanh: 0x6de7ea6, Pow: 0x89ad5241,
	}
	for _, ref := range references {
		for kind, config := range map[string]wazero.RuntimeConfig{
			"compiled":    wazero.NewRuntimeConfig(),
			"interpreted": wazero.NewRuntimeConfigInterpreter(),
		} {
			r := rand.New(rand.NewPCG(7, 7))
			e := newEngineOf(t, config, ref.name)
			z := make([]float32, block)
			h := fnv.New32a()
			for range 4 {
				e.run(t, ref.name, z, bitPatterns(r), bitPatterns(r))
				for _, v := range z {
					if v != v {
						v = float32(math.NaN())
					}
					h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
				}
			}
			if got := h.Sum32(); got != sums[ref.name] {
				t.Errorf("%s, %s: sum %#x, want %#x", ref.name, kind, got, sums[ref.name])
			}
		}
	}
}

// pairs calls a function for arguments of Atan2 and Pow.
func pairs(r *rand.Rand, each int, f func(x, y float32)) {
	s := specials()
	for _, x := range s {
		for _, y := range s {
			f(x, y)
		}
	}
	word := func() float32 { return math.Float32frombits(r.Uint32()) }
	for i := range 2000 * each {
		switch i % 8 {
		case 0:
			f(word(), word())
		case 1: // powers that are neither 0 nor infinite
			x := math.Float32frombits(r.Uint32() >> 1)
			f(x, float32((r.Float64()*2-1)*150/math.Log2(float64(x))))
		case 2: // x near 1
			x := math.Float32frombits(math.Float32bits(1) + r.Uint32()>>(9+r.Uint32()%20) - 1000)
			f(x, float32((r.Float64()*2-1)*150/math.Log2(float64(x))))
		case 3: // numbers of similar size
			x := word()
			f(x, x*float32(r.NormFloat64()))
		case 4:
			f(r.Float32()*4, float32(r.NormFloat64())*4)
		case 5: // integers
			f(float32(r.NormFloat64()), float32(r.IntN(64)-32))
		case 6:
			f(float32(r.NormFloat64()), float32(r.NormFloat64()))
		case 7: // results near the largest number and near the subnormal ones
			x := r.Float64() * 10
			f(float32(x), float32((128-r.Float64()*278)/math.Log2(x)))
		}
	}
}

// BenchmarkFunctions measures calls with ordinary arguments. The loop around the call and
// the loads and stores count.
func BenchmarkFunctions(b *testing.B) {
	for _, ref := range references {
		b.Run(string(ref.name), func(b *testing.B) { benchmark(b, ref.name, ref.low, ref.bound) })
	}
}

// BenchmarkSlow measures calls with arguments that take the slow paths.
func BenchmarkSlow(b *testing.B) {
	for _, c := range []struct {
		what       string
		name       Name
		low, bound float32
	}{
		{"exp of 0 to -500", Exp, -500, 0},
		{"log of subnormal numbers", Log, 0, 0x1p-126},
		{"sin of 6400 to 1e6", Sin, 6400, 1e6},
		{"sin of 1e7 to 1e9", Sin, 1e7, 1e9},
		{"pow of negative numbers", Pow, -10, -1},
	} {
		b.Run(c.what, func(b *testing.B) { benchmark(b, c.name, c.low, c.bound) })
	}
}

func benchmark(b *testing.B, name Name, low, bound float32) {
	e := newEngine(b, name)
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, block), make([]float32, block)
	for i := range x {
		x[i] = low + r.Float32()*(bound-low)
		y[i] = low + r.Float32()*(bound-low)
	}
	e.run(b, name, nil, x, y)
	run := e.runs[name]
	for b.Loop() {
		if _, err := run.Call(context.Background(), 4*block); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(block/4), "ns/vector")
	b.ReportMetric(0, "ns/op")
}
