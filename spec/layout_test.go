package spec_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
)

type stage struct {
	Flags uint32
	Bias  float32
}

type Size struct{ Width, Height uint32 }

type params struct {
	Size
	Shift   int32
	Sigma   float32
	Weights [3]float32
	Stage   [2]stage
}

func TestEncodeAndLayout(t *testing.T) {
	p := params{Size{1, 2}, -3, 0.5, [3]float32{1, 2, -2}, [2]stage{{7, 1}, {8, -0.25}}}
	b, err := spec.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	want := "01000000" + "02000000" + "fdffffff" + "0000003f" + "0000803f" + "00000040" + "000000c0" + "07000000" + "0000803f" + "08000000" + "000080be"
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("bytes\n%s, want\n%s", got, want)
	}
	members, err := spec.Layout(p)
	if err != nil {
		t.Fatal(err)
	}
	wantMembers := []spv.Member{
		{Name: "width", Type: "u32", Offset: 0, Size: 4}, {Name: "height", Type: "u32", Offset: 4, Size: 4},
		{Name: "shift", Type: "i32", Offset: 8, Size: 4}, {Name: "sigma", Type: "f32", Offset: 12, Size: 4},
		{Name: "weights", Type: "f32[3]", Offset: 16, Size: 12},
		{Name: "stage[0].flags", Type: "u32", Offset: 28, Size: 4}, {Name: "stage[0].bias", Type: "f32", Offset: 32, Size: 4},
		{Name: "stage[1].flags", Type: "u32", Offset: 36, Size: 4}, {Name: "stage[1].bias", Type: "f32", Offset: 40, Size: 4},
	}
	if d := cmp.Diff(wantMembers, members); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	members[0].Name = "changed"
	if again, _ := spec.Layout(p); again[0].Name != "width" {
		t.Error("Layout returns its cached slice")
	}
}

func TestEncodeNone(t *testing.T) {
	for _, p := range []any{nil, struct{}{}} {
		b, err := spec.Encode(p)
		m, lerr := spec.Layout(p)
		if err != nil || lerr != nil || len(b) != 0 || len(m) != 0 {
			t.Errorf("%T: bytes %v, members %v, errors %v, %v; want nothing", p, b, m, err, lerr)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct {
		params any
		want   string
	}{
		{7, "not a struct"},
		{&params{}, "not a struct"},
		{struct{ n uint32 }{}, "field n is not exported"},
		{struct{ N int }{}, "field N is int"},
		{struct{ N uint64 }{}, "field N is uint64"},
		{struct{ A [2]uint8 }{}, "field A[0] is uint8"},
		{struct{ A [0]uint32 }{}, "field A is [0]uint32"},
		{struct{ S struct{ B bool } }{}, "field S.B is bool"},
		{struct{ A [33]uint32 }{}, "more than 128 bytes"},
		{struct{ A [1 << 20]struct{ N uint32 } }{}, "field A is [1048576]struct"},
	} {
		for range 2 { // the second time from the cache
			_, err := spec.Encode(c.params)
			if !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%T: error %v, want ErrInvalidArgument naming %q", c.params, err, c.want)
			}
		}
	}
	if _, err := spec.Encode(struct{ A [32]uint32 }{}); err != nil {
		t.Errorf("128 bytes: %v", err)
	}
}

func TestCheckParams(t *testing.T) {
	type blur struct {
		N      uint32
		Radius uint32
	}
	m := &spv.Module{Name: "image/blur.u8", Params: []spv.Member{{Name: "n", Type: "u32", Offset: 0, Size: 4}, {Name: "radius", Type: "u32", Offset: 4, Size: 4}}}
	if err := spec.CheckParams(m, blur{}); err != nil {
		t.Errorf("equal: %v", err)
	}
	// An optimiser may have removed the names.
	stripped := &spv.Module{Name: "image/blur.u8", Params: []spv.Member{{Type: "u32", Offset: 0, Size: 4}, {Type: "u32", Offset: 4, Size: 4}}}
	if err := spec.CheckParams(stripped, blur{}); err != nil {
		t.Errorf("without names: %v", err)
	}
	if err := spec.CheckParams(stripped, struct {
		N      uint32
		Radius float32
	}{}); !errors.Is(err, errs.ErrABIMismatch) {
		t.Errorf("without names, another type: %v, want ErrABIMismatch", err)
	}
	if err := spec.CheckParams(&spv.Module{}, nil); err != nil {
		t.Errorf("none: %v", err)
	}
	for _, c := range []struct {
		params any
		want   string
	}{
		{struct{ N, Sigma uint32 }{}, "image/blur.u8: params field 1: Go has Sigma u32 at 4, shader has radius u32 at 4"},
		{struct {
			N      uint32
			Radius float32
		}{}, "params field 1: Go has Radius f32 at 4, shader has radius u32 at 4"},
		{struct{ N uint32 }{}, "params field 1: Go has nothing, shader has radius u32 at 4"},
		{struct{ N, Radius, M uint32 }{}, "params field 2: Go has M u32 at 8, shader has nothing"},
		{nil, "params field 0: Go has nothing, shader has n u32 at 0"},
	} {
		if err := spec.CheckParams(m, c.params); !errors.Is(err, errs.ErrABIMismatch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want ErrABIMismatch with %q", c.params, err, c.want)
		}
	}
	if err := spec.CheckParams(m, struct{ N int }{}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("bad struct: error %v, want ErrInvalidArgument", err)
	}
}

func TestEncodeAllocatesOnce(t *testing.T) {
	var p any = params{}
	if _, err := spec.Encode(p); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { spec.Encode(p) }); n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

// TestMoreParams encodes words behind a params struct, and without one.
func TestMoreParams(t *testing.T) {
	type own struct {
		N uint32
		X float32
	}
	for _, c := range []struct {
		p     spec.MoreParams
		bytes int
		last  spv.Member
	}{
		{spec.MoreParams{Params: own{7, 1}, Words: []uint32{8, 9}}, 16, spv.Member{Name: "words", Type: "u32[2]", Offset: 8, Size: 8}},
		{spec.MoreParams{Words: []uint32{8, 9}}, 8, spv.Member{Name: "words", Type: "u32[2]", Size: 8}},
		{spec.MoreParams{Params: own{7, 1}}, 8, spv.Member{Name: "x", Type: "f32", Offset: 4, Size: 4}},
	} {
		b, err := spec.Encode(c.p)
		members, err2 := spec.Layout(c.p)
		if err != nil || err2 != nil || len(b) != c.bytes || len(members) == 0 || members[len(members)-1] != c.last {
			t.Errorf("%+v: % x, %+v, %v %v", c.p, b, members, err, err2)
			continue
		}
		if n := len(c.p.Words); n > 0 && (b[len(b)-4] != 9 || b[len(b)-8] != 8) {
			t.Errorf("%+v: % x", c.p, b)
		}
	}
	for _, p := range []spec.MoreParams{{Params: own{}, Words: make([]uint32, 31)}, {Words: make([]uint32, 1<<20)}, {Params: spec.MoreParams{}}, {Params: "text"}} {
		if _, err := spec.Encode(p); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%d words after %T: %v", len(p.Words), p.Params, err)
		}
	}
}
