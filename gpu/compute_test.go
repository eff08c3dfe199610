package gpu

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/internal/extra"
)

// variants returns n modules that differ in one word only.
func variants(t *testing.T, n int) [][]byte {
	t.Helper()
	m, err := extra.Module("test/gputest_add.f32")
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]byte, n)
	for i := range out {
		out[i] = append([]byte(nil), m.Code...)
		out[i][8], out[i][9] = byte(i), byte(i>>8) // the generator's number: free to be anything
	}
	return out
}

func TestModuleCache(t *testing.T) {
	code := variants(t, 5)
	c := moduleCache{maxCount: 3, maxBytes: 1 << 20}
	get := func(i int) any {
		t.Helper()
		m, err := c.get(code[i])
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := get(0)
	if get(0) != first {
		t.Error("the same bytes were parsed twice")
	}
	get(1)
	get(2)
	get(0) // now 1 is the one used longest ago
	get(3)
	if get(0) != first {
		t.Error("the module just used was dropped")
	}
	if n := c.recent.Len(); n != 3 || len(c.byHash) != 3 || c.bytes != 3*len(code[0]) {
		t.Errorf("holds %d modules, %d keys, %d bytes; want 3, 3, %d", n, len(c.byHash), c.bytes, 3*len(code[0]))
	}
	// Changes of the caller's bytes after the call do not change a module.
	m := get(4)
	code[4][8]++
	if get(4) == m {
		t.Error("changed bytes gave the old module")
	}

	small := moduleCache{maxCount: 100, maxBytes: 2 * len(code[0])}
	for _, b := range code {
		if _, err := small.get(b); err != nil {
			t.Fatal(err)
		}
	}
	if n := small.recent.Len(); n != 2 {
		t.Errorf("holds %d modules, want the 2 that fit", n)
	}
	if _, err := c.get([]byte("not a shader")); !errors.Is(err, ErrInvalidShader) {
		t.Errorf("got %v, want ErrInvalidShader", err)
	}
}

// TestModuleCacheCollision checks two modules with the same hash. maphash makes that
// unlikely. They replace each other.
func TestModuleCacheCollision(t *testing.T) {
	code := variants(t, 2)
	c := moduleCache{maxCount: 3, maxBytes: 1 << 20}
	a, err := c.get(code[0])
	if err != nil {
		t.Fatal(err)
	}
	for hash, e := range c.byHash { // Make the entry belong to other bytes.
		e.Value.(*cached).code[8] ^= 0xFF
		_ = hash
	}
	b, err := c.get(code[0])
	if err != nil {
		t.Fatal(err)
	}
	if a == b {
		t.Error("an entry with other bytes was returned")
	}
	if c.recent.Len() != 1 || len(c.byHash) != 1 || c.bytes != len(code[0]) {
		t.Errorf("holds %d modules, %d keys, %d bytes; want 1, 1, %d", c.recent.Len(), len(c.byHash), c.bytes, len(code[0]))
	}
}

func TestModuleCacheConcurrent(t *testing.T) {
	code := variants(t, 20)
	c := moduleCache{maxCount: 4, maxBytes: 1 << 20}
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for g := range errs {
		wg.Go(func() {
			for i := range 200 {
				b := code[(i*7+g*3)%len(code)]
				m, err := c.get(b)
				if err != nil {
					errs[g] = err
				} else if m.Code[8] != b[8] {
					errs[g] = fmt.Errorf("got the module of %d, want %d", m.Code[8], b[8])
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if n := c.recent.Len(); n != 4 {
		t.Errorf("holds %d modules, want 4", n)
	}
}
