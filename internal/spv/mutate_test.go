package spv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// mutant is a module with one word or one instruction changed.
type mutant struct {
	what string
	code []byte
}

// mutate changes one word or instruction of a valid module.
func mutate(rng *rand.Rand, code []byte) mutant {
	w := make([]uint32, len(code)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	var starts []int
	for at := headerWords; at < len(w); at += int(w[at] >> 16) {
		if n := int(w[at] >> 16); n == 0 || at+n > len(w) {
			break // an earlier mutation broke the rest
		}
		starts = append(starts, at)
	}
	if len(starts) == 0 {
		return mutant{"nothing left", code}
	}
	k := rng.IntN(len(starts))
	at := starts[k]
	n := int(w[at] >> 16)
	op := opcode(w[at] & 0xffff)
	bound := w[3]
	var what string
	switch kind := rng.IntN(10); kind {
	case 0:
		what = fmt.Sprintf("delete %v", op)
		w = slices.Delete(w, at, at+n)
	case 1:
		what = fmt.Sprintf("duplicate %v", op)
		w = slices.Insert(w, at, slices.Clone(w[at:at+n])...)
	case 2:
		j := starts[rng.IntN(len(starts))]
		what = fmt.Sprintf("move %v at %d to %d", op, at, j)
		part := slices.Clone(w[at : at+n])
		w = slices.Insert(w, j, part...)
		if j <= at {
			at += n
		}
		w = slices.Delete(w, at, at+n)
	case 3:
		what = fmt.Sprintf("opcode of %v", op)
		w[at] = w[at]&^0xffff | uint32(grammar[rng.IntN(len(grammar))].op)
	case 4, 5, 6, 7, 8:
		i := at
		if n > 1 {
			i += 1 + rng.IntN(n-1)
		}
		v := w[i]
		switch rng.IntN(5) {
		case 0:
			v = rng.Uint32N(bound)
		case 1:
			v++
		case 2:
			v--
		case 3:
			v = w[headerWords+rng.IntN(len(w)-headerWords)]
		case 4:
			v ^= 1 << rng.IntN(32)
		}
		what = fmt.Sprintf("word %d of %v at %d: %d to %d", i-at, op, at, w[i], v)
		w[i] = v
	case 9:
		i := at + n - 1
		what = fmt.Sprintf("drop last word of %v", op)
		if n > 1 {
			w[at] -= 1 << 16
			w = slices.Delete(w, i, i+1)
		}
	}
	out := make([]byte, 4*len(w))
	for i, x := range w {
		binary.LittleEndian.PutUint32(out[4*i:], x)
	}
	return mutant{what, out}
}

// committedFiles are the modules that shaders/ was compiled to.
func committedFiles() ([]string, error) {
	files, err := filepath.Glob("../../spirv/*/*.spv")
	more, worse := filepath.Glob("../../internal/extra/*/*.spv")
	return append(files, more...), errors.Join(err, worse)
}

// committed returns the modules of the shader bundle.
func committed(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := committedFiles()
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules in ../spirv (%v)", err)
	}
	all := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(f)] = b
	}
	return all
}

// compiled returns what glslc makes of testdata in several ways; nothing where
// it is not installed.
func compiled(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	if testkit.ToolIfAny(t, "glslc") == "" {
		return all
	}
	files, err := filepath.Glob("testdata/*.comp")
	if err != nil || len(files) == 0 {
		t.Fatalf("no shaders in testdata (%v)", err)
	}
	for _, f := range files {
		for _, flags := range [][]string{{"--target-env=vulkan1.1"}, {"--target-env=vulkan1.1", "-O"}, {"--target-env=vulkan1.3", "-Os"}} {
			out, err := exec.Command("glslc", append(flags, "-o", "-", f)...).Output()
			if err != nil {
				t.Fatalf("glslc %s: %v", f, err)
			}
			all[f+strings.Join(flags, "")] = out
		}
	}
	return all
}

// Every module a compiler makes must be accepted.
func TestParseAccepts(t *testing.T) {
	testlevel.Turn(t, 5)
	all := map[string][]byte{}
	kernels := committed(t)
	for i, name := range slices.Sorted(maps.Keys(kernels)) {
		if testlevel.Sampled(i, 8) {
			all[name] = kernels[name]
		}
	}
	maps.Copy(all, compiled(t))
	for name, code := range all {
		if _, err := Parse("", code); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Parse must return, whatever is done to a module.
func TestParseNeverPanics(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	bases := [][]byte{assemble(t, v13, good), assemble(t, v13, texels)}
	all := committed(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if code := all[name]; len(code) < 8<<10 {
			bases = append(bases, code)
		}
	}
	for range 5000 {
		m := mutant{code: bases[rng.IntN(len(bases))]}
		var what []string
		for range 1 + rng.IntN(4) {
			m = mutate(rng, m.code)
			what = append(what, m.what)
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("panic %v after %q", r, what)
				}
			}()
			Parse("", m.code)
		}()
	}
}

// Parse must refuse what spirv-val refuses: drivers crash on such modules. In
// 6000 mutants of seed 3, spirv-val 2023.1 refused 5482, and Parse accepted
// none of those; the bound leaves room for other versions of spirv-val.
func TestMutants(t *testing.T) {
	const perMille = 10
	n := 60
	if testlevel.IsFull() {
		n = 600
	}
	val := testkit.Tool(t, "spirv-val") // TestParseRefuses runs without it
	all := committed(t)
	maps.Copy(all, compiled(t))
	names := slices.Sorted(maps.Keys(all))
	rng := rand.New(rand.NewPCG(11, 7))
	list := make([]mutant, n)
	for i := range list {
		name := names[rng.IntN(len(names))]
		list[i] = mutate(rng, all[name])
		list[i].what = name + ": " + list[i].what
	}
	var refused, missed, stricter atomic.Int32
	var wg sync.WaitGroup
	next := make(chan mutant)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for m := range next {
				_, err := Parse("", m.code)
				env := "vulkan1.1"
				if m.code[5] > 3 {
					env = "vulkan1.3"
				}
				out, verr := testkit.Validate(t, val, env, m.code)
				switch {
				case verr != nil && err == nil:
					missed.Add(1)
					t.Logf("accepted %s\n\tspirv-val: %s", m.what, strings.TrimSpace(out))
					fallthrough
				case verr != nil:
					refused.Add(1)
				case err != nil:
					stricter.Add(1)
				}
			}
		})
	}
	for _, m := range list {
		next <- m
	}
	close(next)
	wg.Wait()
	t.Logf("%d mutants: spirv-val refuses %d, of which Parse accepts %d; Parse alone refuses %d", n, refused.Load(), missed.Load(), stricter.Load())
	if int(refused.Load()) < n/2 {
		t.Errorf("spirv-val refused only %d of %d mutants: it does not work here", refused.Load(), n)
	}
	if missed.Load()*1000 > refused.Load()*perMille {
		t.Errorf("Parse accepted %d of the %d mutants spirv-val refuses (want at most %d‰)", missed.Load(), refused.Load(), perMille)
	}
}
