package conformance

import (
	"context"
	"crypto/sha256"
	_ "embed" // hashes.txt
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/bits"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Hash is the hash of the results of an operation for one element type.
type Hash struct {
	// Op is the name of the operation, and DType the element type. Both are "all" for the
	// hash of a whole list.
	Op    string `json:"op"`
	DType string `json:"dtype"`
	// Sum is a hash in 32 hexadecimal digits. It is "unsupported" if the device refuses
	// the element type.
	Sum string `json:"hash"`
}

// Hashes is a list of hashes, sorted by operation. The element types are in the order of
// spec.CasesOf. A list of all operations ends with the hash of the list.
type Hashes []Hash

// hashAll is the name in the hash of a whole list.
const hashAll = "all"

//go:embed hashes.txt
var publishedHashes string

// PublishedHashes returns the hashes of the results that the device of package cpu must
// have in this version, on every machine.
func PublishedHashes() (Hashes, error) { return ParseHashes(publishedHashes) }

// HashOptions says what HashResults hashes. The zero value is everything.
type HashOptions struct {
	// Ops are the operations. Nil means every registered one that declares cases.
	Ops []*spec.Op
	// Part, if Parts is above 1, is the part of the pairs of operation and element type to
	// hash, counted from 0.
	Part, Parts int
	// Progress, if not nil, is called after each pair.
	Progress func(done, total int, op string)
}

// HashResults computes every operation on fixed inputs, and hashes the results. The inputs
// are made of integers and of operations that IEEE 754 defines, so they are the same on
// every machine. All NaNs count as the same.
// Errors: those of the device, ErrInvalidArgument (Part, no context, no device, an operation
// that is none), ctx.Err().
func HashResults(ctx context.Context, dev gpu.Device, o HashOptions) (Hashes, error) {
	if o.Parts > 1 && (o.Part < 0 || o.Part >= o.Parts) {
		return nil, fmt.Errorf("conformance: hash: %w: part %d of %d (want 0 to %d)", errs.ErrInvalidArgument, o.Part, o.Parts, o.Parts-1)
	}
	whole := o.Ops == nil && o.Parts < 2
	ops := slices.Clone(o.Ops)
	if ops == nil {
		ops = withCases()
	}
	if err := checkRun(ctx, dev, ops, false); err != nil {
		return nil, fmt.Errorf("conformance: hash: %w", err)
	}
	slices.SortFunc(ops, func(a, b *spec.Op) int { return strings.Compare(a.Name, b.Name) })
	var pairs []job
	for _, op := range ops {
		for _, d := range op.Cases.DTypes {
			pairs = append(pairs, job{op: op, dtype: d})
		}
	}
	pairs = partOf(pairs, o.Part, o.Parts)
	l, err := newVariantDevice(dev, Variant{Name: "hash"}, Options{})
	if err != nil {
		return nil, fmt.Errorf("conformance: hash: %w", err)
	}
	s := &suite{ctx: ctx}
	var list Hashes
	for i, p := range pairs {
		sum, e := s.hashPair(l, p.op, p.dtype)
		if e != nil {
			err = fmt.Errorf("conformance: hash: %s %v: %w", p.op.Name, p.dtype, e)
			break
		}
		list = append(list, Hash{p.op.Name, p.dtype.String(), sum})
		if o.Progress != nil {
			o.Progress(i+1, len(pairs), p.op.Name)
		}
	}
	if err = errors.Join(err, l.close()); err != nil {
		return nil, err
	}
	if whole {
		sum := sha256.Sum256([]byte(list.String()))
		list = append(list, Hash{hashAll, hashAll, shortSum(sum[:])})
	}
	return list, nil
}

// shortSum returns the half of a hash that lists show.
func shortSum(sum []byte) string { return hex.EncodeToString(sum[:16]) }

// hashPair hashes the results of an operation for one element type.
func (s *suite) hashPair(l *variantDevice, op *spec.Op, d tensor.DType) (string, error) {
	sum := sha256.New()
	for i, c := range op.Cases.Calls {
		for _, j := range hashJobs(op, d, c, i == 0) {
			err := s.hashJob(sum, l, &j)
			if errors.Is(err, gpu.ErrUnsupported) {
				return "unsupported", nil
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", j.name(), err)
			}
		}
	}
	return shortSum(sum.Sum(nil)), s.ctx.Err()
}

// hashJobs chooses the jobs for a call whose results are hashed. first says that the call
// is the operation's first one.
func hashJobs(op *spec.Op, d tensor.DType, c spec.Call, first bool) []job {
	dims := op.Cases.Dims
	values := make([][]int, len(dims))
	for i := range dims {
		values[i] = awkward(dims[i])
	}
	var list []job
	add := func(v []int, pattern string) bool {
		n, flops, ok := caseSize(op, c, d, v, first)
		if !ok || n > 1<<17 || flops > 1<<24 {
			return false
		}
		if !slices.ContainsFunc(list, func(j job) bool { return slices.Equal(j.dims, v) && j.pattern == pattern }) {
			list = append(list, job{op: op, dtype: d, call: c, dims: v, pattern: pattern})
		}
		return true
	}
	for _, n := range []int{3, 13, 37} {
		add(sizesAt(dims, values, n), "random")
	}
	for _, n := range []int{131, 67} {
		if add(sizesAt(dims, values, n), "random") {
			break
		}
	}
	for i := range dims {
		for _, o := range dims[i].Only {
			v := sizesAt(dims, values, 7)
			v[i] = o
			add(v, "random")
		}
		if len(dims[i].Only) == 0 && first {
			for _, n := range []int{257, 16384} {
				v := sizesAt(dims, values, 3)
				v[i] = n
				add(v, "random")
			}
		}
	}
	if !first {
		return list
	}
	for _, v := range op.Cases.Sizes {
		add(v, "random")
	}
	for _, n := range []int{37, 13, 7, 5, 3, 2} {
		v := sizesAt(dims, values, n)
		if !op.Cases.Specials || !add(v, "random") {
			continue
		}
		for _, pattern := range specialPatterns(op.Cases.InputsFor(c, d, v)) {
			add(v, pattern)
		}
		break
	}
	return list
}

// hashJob runs a job and adds its results to a hash.
func (s *suite) hashJob(sum hash.Hash, l *variantDevice, j *job) error {
	p := &prepared{job: j}
	name := j.op.Name + " " + j.dtype.String() + " " + j.name()
	seed := sha256.Sum256([]byte(name))
	rng := splitMix(binary.LittleEndian.Uint64(seed[:]))
	descs := j.inputs()
	for i := range descs {
		p.in = append(p.in, j.fill(i, descs, &rng))
	}
	outs, err := j.op.Shape(j.call, descs)
	if err != nil {
		return err
	}
	for _, d := range outs {
		p.want = append(p.want, &tensor.Host{Desc: d})
	}
	got, err := s.launch(l, p, allModes[0], poison1)
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%s\n", name)
	for i, d := range outs {
		sameNaNs(d.DType, got[i])
		fmt.Fprintf(sum, "%v %v %d\n", d.DType, d.Shape, len(got[i]))
		sum.Write(got[i])
	}
	return nil
}

// sameNaNs replaces all NaNs in the elements of a type by the same one. IEEE 754 does not
// say which NaN an operation gives, and processors differ.
func sameNaNs(d tensor.DType, elems []byte) {
	var infinity uint64 // all numbers are up to this one, without the sign
	switch d {
	case tensor.F16:
		infinity = 0x7c00
	case tensor.BF16:
		infinity = 0x7f80
	case tensor.F32:
		infinity = 0x7f800000
	case tensor.F64:
		infinity = 0x7ff0000000000000
	default:
		return
	}
	size := d.Size()
	sign := uint64(1) << (8*size - 1)
	for ; len(elems) >= size; elems = elems[size:] {
		v := uint64(0)
		for i := range size {
			v |= uint64(elems[i]) << (8 * i)
		}
		if v&^sign > infinity {
			for i := range size {
				elems[i] = byte((infinity | infinity>>1) >> (8 * i))
			}
		}
	}
}

// splitMix is a generator of random numbers with a fixed sequence, which no version of Go
// changes. Source: G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number
// generators", 2014.
type splitMix uint64

// Uint64 returns 64 random bits.
func (s *splitMix) Uint64() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Int64N returns a number from 0 to n-1. n is at least 1.
func (s *splitMix) Int64N(n int64) int64 {
	high, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int64(high)
}

// IntN returns a number from 0 to n-1. n is at least 1.
func (s *splitMix) IntN(n int) int { return int(s.Int64N(int64(n))) }
