package spv

import (
	"testing"

	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// What is proven of the loops that compilers make, optimised and not.
func TestIterations(t *testing.T) {
	const u = Unbounded
	for i, c := range []struct {
		body     string
		low, top uint64 // of the bound
	}{
		{"d[0] = 1;", 0, 0},
		{"for (int i = 0; i < 10; i++) d[i] = i;", 10, 12},
		{"for (uint i = 3; i <= 10; i += 2) d[i] = 1;", 4, 7},
		{"for (int i = 9; i >= 0; i--) d[i] = i;", 10, 12},
		{"for (int i = 9; i >= 0; --i) for (int j = 0; j < 5; ++j) d[i] = j;", 60, 100},
		{"int i = 0; while (i < 100) { if (d[i] == 7) break; d[i] = 1; i++; }", 100, 102},
		{"int i = 0; do { d[i] = 1; i++; } while (i < 10);", 9, 13},
		{"for (int i = 0; i < 70000; i++) { if (d[i] == 2) continue; d[i] = i; }", 70000, 70002},
		{"for (int i = 0; i < 10; i++) d[i] = f(i);", 50, 100},
		{"for (int i = 0; i < d[0]; i++) d[i] = i;", u, u},
		{"for (int i = d[0]; i < 10; i++) d[i] = i;", u, u},
		{"for (int i = 0; i < 10; i += d[0]) d[i] = i;", u, u},
		{"for (int i = 0; i < 10; ) { if (d[i] == 2) i++; d[i] = 3; }", u, u},
		{"for (int i = 0; i < 10; i++) { if (d[i] == 2) i = 0; d[i] = 3; }", u, u},
		{"for (int i = 0; i != 10; i += 3) d[i] = i;", u, u},
		{"for (uint i = 9; i >= 0u; i--) d[i] = 1;", u, u},
		{"while (true) d[0] += 1;", u, u},
		{"for (int i = 0; i < 10; i++) while (d[i] == 0) d[0] += 1;", u, u},
	} {
		text := "#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) buffer B { int d[]; };\n" +
			"int f(int x) { int s = 0; for (int k = 0; k < 4; k++) s += d[x + k]; return s; }\nvoid main() {\n" + c.body + "\n}\n"
		for k, opt := range []string{"-O0", "-O"} {
			if !testlevel.Sampled(i+k, 2) { // a process each
				continue
			}
			m, err := Parse("", testkit.GLSL(t, text, opt))
			if err != nil {
				t.Fatalf("%s: %v", c.body, err)
			}
			got := m.Iterations
			// What one compiler's optimiser takes apart or unrolls is less.
			if got > c.top || got < c.low && !(opt == "-O" && got > 0) {
				t.Errorf("%s %s: got %d, want %d to %d", opt, c.body, got, c.low, c.top)
			}
		}
	}
}
