package spv_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// part reads a committed part.
func part(t testing.TB, name string) *spv.Module {
	t.Helper()
	code, err := os.ReadFile("../../spirv/" + name + ".spv")
	if err != nil {
		t.Fatal(err)
	}
	m, err := spv.Reflect(name, code)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sumOf links gelu(a + b) of fours; get returns the parts.
func sumOf(get func(name string) *spv.Module) (*spv.Module, error) {
	l := spv.NewLinker(get("fused/map.quads"))
	load := get("fused/load.f32")
	quad, n := l.Param(0), l.Param(1)
	a, b := l.Call(l.Part(load, 0), quad), l.Call(l.Part(load, 1), quad)
	add, gelu, store := l.Part(get("math/add.f32.function")), l.Part(get("nn/gelu.f32.function")), l.Part(get("fused/store.f32"), 2)
	veil, word := l.Part(get("fused/veil.f32")), l.Part(get("fused/word"))
	var made []spv.Value
	for i := range 4 {
		sum := l.Call(add, l.Extract(a, i), l.Extract(b, i))
		made = append(made, l.Call(gelu, l.Call(veil, sum, l.Call(word, l.Number(2)))))
	}
	l.Call(store, quad, n, l.Compose(store, 2, made...))
	return l.Module("sum")
}

// TestLink checks what a linked module declares, that it is the same each time, and that spirv-val accepts it, also as
// Lower writes it.
func TestLink(t *testing.T) {
	m, err := sumOf(func(name string) *spv.Module { return part(t, name) })
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Bindings) != 3 || m.Bindings[0].Access != spv.ReadOnly || m.Bindings[2].Access != spv.WriteOnly || m.ParamSize != 128 || m.LocalSize != [3]uint32{64, 1, 1} || m.Foreign {
		t.Errorf("bindings %v, %d bytes of parameters, local size %v, foreign %v", m.Bindings, m.ParamSize, m.LocalSize, m.Foreign)
	}
	again, err := sumOf(func(name string) *spv.Module { return part(t, name) })
	if err != nil || !bytes.Equal(again.Code, m.Code) {
		t.Errorf("linked again: other bytes (error %v)", err)
	}
	if precise := strings.Count(string(m.Code), "\x47\x00\x03\x00"); precise == 0 {
		t.Error("nothing is decorated: precise is lost")
	}
	low, err := spv.Lower(m, false)
	if err != nil {
		t.Fatal(err)
	}
	val := testkit.Tool(t, "spirv-val")
	for name, code := range map[string][]byte{"linked": m.Code, "lowered": low.Code} {
		if text, err := testkit.Validate(t, val, "vulkan1.1", code); err != nil || text != "" {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// TestLinkRefuses checks mistakes of a caller: errors that name the mistake.
func TestLinkRefuses(t *testing.T) {
	for want, f := range map[string]func(l *spv.Linker){
		"2 parameters":         func(l *spv.Linker) { l.Call(l.Part(part(t, "math/add.f32.function")), l.Param(0)) },
		"another type":         func(l *spv.Linker) { l.Call(l.Part(part(t, "nn/gelu.f32.function")), l.Param(0)) },
		"number 9":             func(l *spv.Linker) { l.Param(9) },
		"binding 0":            func(l *spv.Linker) { l.Call(l.Part(part(t, "fused/load.f32")), l.Param(0)) },
		"component 4":          func(l *spv.Linker) { l.Extract(l.Call(l.Part(part(t, "fused/load.f32"), 0), l.Param(0)), 4) },
		"component 0":          func(l *spv.Linker) { l.Extract(l.Param(0), 0) },
		"no part":              func(l *spv.Linker) { l.Part(nil) },
		"no function":          func(l *spv.Linker) { l.Call(nil) },
		"make no argument":     func(l *spv.Linker) { f := l.Part(part(t, "fused/store.f32"), 0); l.Compose(f, 2, l.Param(0)) },
		"entry point that":     func(l *spv.Linker) { l.Part(part(t, "math/add.f32")) },
		"no function with a p": func(l *spv.Linker) { l.Compose(nil, 0) },
	} {
		l := spv.NewLinker(part(t, "fused/map.quads"))
		f(l)
		if _, err := l.Module("wrong"); !errors.Is(err, errs.ErrInvalidShader) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := spv.NewLinker(nil).Module("none"); !errors.Is(err, errs.ErrInvalidShader) {
		t.Errorf("no template: error %v", err)
	}
}

// TestLinkMutated links parts with a word or an instruction changed. The result is an error or a module that Parse accepts.
func TestLinkMutated(t *testing.T) {
	names := []string{"fused/map.quads", "fused/load.f32", "math/add.f32.function", "nn/gelu.f32.function", "fused/store.f32", "fused/veil.f32", "fused/word"}
	good := map[string]*spv.Module{}
	for _, n := range names {
		good[n] = part(t, n)
	}
	rounds := 3000
	if !testlevel.IsFull() {
		rounds = 600
	}
	rng := rand.New(rand.NewPCG(1, testlevel.Seed(t)))
	linked := 0
	for range rounds {
		victim := names[rng.IntN(len(names))]
		code := good[victim].Code
		var what []string
		for range 1 + rng.IntN(3) {
			var w string
			w, code = spv.Mutate(rng, code)
			what = append(what, w)
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("%s, %v: panic: %v", victim, what, p)
				}
			}()
			m, err := sumOf(func(name string) *spv.Module {
				if name == victim {
					return &spv.Module{Name: name, Code: code, Bindings: good[name].Bindings}
				}
				return good[name]
			})
			if err == nil {
				linked++
				_, err = spv.Parse("again", m.Code)
			}
			if err != nil && !errors.Is(err, errs.ErrInvalidShader) && !errors.Is(err, errs.ErrUnsupported) {
				t.Errorf("%s, %v: error %v", victim, what, err)
			}
		}()
	}
	if linked == 0 || linked == rounds {
		t.Errorf("%d of %d mutated modules linked", linked, rounds)
	}
}

func BenchmarkLink(b *testing.B) {
	parts := map[string]*spv.Module{}
	get := func(name string) *spv.Module {
		if parts[name] == nil {
			parts[name] = part(b, name)
		}
		return parts[name]
	}
	for b.Loop() {
		if _, err := sumOf(get); err != nil {
			b.Fatal(err)
		}
	}
}
