package compile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// shaderOf is a shader with statements that may use the words of d, the number i of the
// invocation, and x.
func shaderOf(declarations, statements string) string {
	return `#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer D { uint d[]; };
` + declarations + `
void main() { uint i = gl_GlobalInvocationID.x; uint x = d[i];
` + statements + `
d[i] = x; }`
}

// repeated is a text n times, with # as the number.
func repeated(n int, text string) string {
	var b strings.Builder
	for k := range n {
		b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(k)))
	}
	return b.String()
}

// large are shaders about as large as a device takes, each of which is much of one thing.
var large = map[string]string{
	"a switch":             shaderOf("", "switch (x) {"+repeated(3000, "case #: x += #; break;\n")+"}"),
	"a switch, falling":    shaderOf("", "switch (x) {"+repeated(3000, "case #: x += #;\n")+"}"),
	"conditions in a row":  shaderOf("", repeated(1500, "if ((x & 3) == #) x += d[#];\n")),
	"conditions inside":    shaderOf("", repeated(300, "if ((x & #) < 5) { x++;\n")+strings.Repeat("}", 300)),
	"loops inside":         shaderOf("", repeated(40, "for (uint k# = 0; k# < x; k#++) { x -= d[k#];\n")+strings.Repeat("}", 40)),
	"loops in a row":       shaderOf("", repeated(600, "for (uint k = 0; k < x; k++) { x -= d[k]; if (x == #) break; }\n")),
	"values that stay":     shaderOf("", repeated(3000, "uint v# = d[i + #];\n")+repeated(3000, "x = x * 3 + v#;\n")),
	"a sum":                shaderOf("", repeated(6000, "x = x * 3 + #;\n")),
	"variables":            shaderOf("", repeated(1500, "uint v#;\n")+repeated(1500, "v# = x++;\n")+"for (uint k = 0; k < i; k++) {"+repeated(1500, "v# += x;\n")+"}"+repeated(1500, "x ^= v#;\n")),
	"stores in a row":      shaderOf("", repeated(4000, "x = ((x*3+#)^(x>>5))*7+(x>>3); x ^= x*11; d[#] = x;\n")),
	"barriers":             shaderOf("shared uint s[64];", repeated(500, "uint v# = s[i & 63]; s[x & 63] = #; barrier();\n")+repeated(500, "x += v#;\n")),
	"barriers, conditions": shaderOf("shared uint s[64];", repeated(200, "uint v# = s[i & 63]; if (x > #) s[x & 63] = #; barrier(); for (uint k = 0; k < x; k++) s[k & 63]++; barrier();\n")+repeated(200, "x += v#;\n")),
	"a loop to leave":      shaderOf("", "uint k; "+repeated(1000, "uint v# = 0;\n")+"for (k = 0; k < x; k++) {"+repeated(1000, "v# = d[k + #]; if (v# == x) break;\n")+"}"+repeated(1000, "x += v#;\n")),
	"a table":              shaderOf("", "uint t[2000]; for (uint k = 0; k < 2000; k++) t[k] = d[k];\n"+repeated(2000, "x += t[x % 2000];\n")),
	"tables":               shaderOf("struct S { uint a[60]; vec4 b; };", "S s[2];"+repeated(60, "s[0].a[#] = d[#]; s[1].a[#] = s[0].a[x % 60];\n")+repeated(300, "s[x & 1] = s[1 - (x & 1)]; x += s[1].a[# % 60];\n")),
	"functions":            shaderOf("uint f0(uint x) { return x + d[x]; }\n"+repeated(10, "#@")+"", "x += f10(x);"),
	"matrices":             shaderOf("", "mat4 m = mat4(float(x));"+repeated(60, "m = inverse(m) * transpose(m);\n")+"x = uint(m[0].x);"),
	"gathers":              shaderOf("struct V { vec4 a; vec4 b; }; layout(binding = 1) buffer W { V w[]; };", repeated(600, "w[x].a = w[x + #].b; x += 7;\n")),
}

func init() {
	text := ""
	for k := range 10 {
		text += fmt.Sprintf("uint f%d(uint x) { uint y = f%d(x); if (y > 7) return y; return f%d(y) + 1; }\n", k+1, k, k)
	}
	large["functions"] = strings.Replace(large["functions"], repeated(10, "#@"), text, 1)
}

// refused are those that would take wazero too long.
var refused = map[string]string{
	"a switch": "behind too many branches", "a switch, falling": "behind too many branches", "values that stay": "behind too many branches", "loops in a row": "branches and loops",
	"functions": "return in several places", "stores in a row": "branches and loops", "barriers, conditions": "branches and loops", "a loop to leave": "bytes of WebAssembly",
}

// TestLarge compiles large shaders, or refuses them. The time must not grow with the square
// of the size, which is minutes here.
func TestLarge(t *testing.T) {
	ctx, r := runtimeOf(t)
	for i, name := range slices.Sorted(maps.Keys(large)) {
		if !testlevel.Sampled(i, 8) {
			continue
		}
		m, err := spv.Parse("large", testkit.GLSL(t, large[name], "--target-env=vulkan1.1"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		start := time.Now()
		k, err := Compile(m)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if want := refused[name]; want != "" {
			if !errors.Is(err, errs.ErrLimit) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want ErrLimit, %s", name, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		start = time.Now()
		c, err := r.CompileModule(ctx, k.Wasm)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.Close(ctx)
		if took := time.Since(start); took > 60*time.Second {
			t.Errorf("%s: wazero took %v", name, took)
		}
	}
}
