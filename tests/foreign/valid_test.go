package foreign_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// valid is a module that is right by the specification: on each driver it runs and is
// right, or is refused as unsupported, and the text names what.
type valid struct {
	name    string
	source  string   // GLSL, HLSL or the text of SPIR-V, which tools make a module of
	flags   []string // of glslc, or of spirv-as where the first is --target-env
	env     string   // of spirv-val: vulkan1.1 if empty
	entry   string   // chosen by spv.Entry, if not empty
	buffers [][]uint32
	push    []uint32
	want    map[int][]uint32  // what buffers hold first, afterwards
	refused map[string]string // by driver: what the text names
	wrong   map[string]bool   // drivers that compute something else by a mistake of their own
}

// bits are the bits of floats.
func floats(list ...float32) []uint32 {
	out := make([]uint32, len(list))
	for i, x := range list {
		out[i] = math.Float32bits(x)
	}
	return out
}

// module makes the case's module and has spirv-val say that it is valid.
func (v *valid) module(t *testing.T) (code []byte) {
	t.Helper()
	if strings.HasPrefix(strings.TrimSpace(v.source), "OpCapability") {
		code = testkit.Assembly(t, v.source, v.flags...)
	} else {
		code = testkit.GLSL(t, v.source, v.flags...)
	}
	if out, err := testkit.Validate(t, testkit.Tool(t, "spirv-val"), cmp.Or(v.env, "vulkan1.1"), code); err != nil {
		t.Fatalf("the case is not valid: %s", out)
	}
	return code
}

// TestValid runs modules that are valid, with what compilers of others make of shaders
// and ours do not: on every driver, and under Vulkan's validation layer, which must have
// nothing to say.
func TestValid(t *testing.T) {
	list := launch.Drivers(t)
	if _, err := os.Stat("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"); err == nil && list[0].Name == "lavapipe" {
		list = append(slices.Clone(list), launch.Driver{Name: "lavapipe validated", Env: append(slices.Clone(list[0].Env), launch.Validation+"=1")})
	} else if testkit.ToolsRequired() {
		t.Error("no validation layer: ", err)
	}
	var workers []*launch.Worker
	for _, d := range list {
		workers = append(workers, launch.New(t, d))
	}
	for _, v := range slices.Concat(sources, assembled, features) {
		t.Run(v.name, func(t *testing.T) {
			code := v.module(t)
			if v.entry != "" {
				var err error
				if code, err = spv.Entry(code, v.entry); err != nil {
					t.Fatal(err)
				}
			}
			for i, d := range list {
				v.try(t, d, workers[i], code)
			}
		})
	}
}

// try runs the case on a driver.
func (v *valid) try(t *testing.T, d launch.Driver, w *launch.Worker, code []byte) {
	job := launch.Job{Code: code, Push: testkit.Words(v.push...)}
	for _, b := range v.buffers {
		job.Buffers = append(job.Buffers, testkit.Words(b...))
	}
	kind, _, _ := strings.Cut(d.Name, " ")
	want, refused := v.refused[kind], false
	r, err := w.Run(t.Context(), job, 30*time.Second)
	if err != nil {
		t.Errorf("%s: %v", d.Name, err)
		return
	}
	if r.Refused() {
		refused = r.Kind == errs.ErrUnsupported.Error()
		if !refused || want == "" || !strings.Contains(r.Err, want) {
			t.Errorf("%s: %s, want %s", d.Name, r.Err, cmp.Or(want, "no error"))
		}
		return
	}
	if want != "" {
		t.Errorf("%s: ran, want it refused for %s", d.Name, want)
	}
	if v.wrong[kind] {
		v.tryWrong(t, d, &r)
		return
	}
	for k, words := range v.want {
		if got := r.Buffers[k]; len(got) < 4*len(words) || !bytes.Equal(got[:4*len(words)], testkit.Words(words...)) {
			var list []uint32
			for i := 0; i+4 <= len(got); i += 4 {
				list = append(list, binary.LittleEndian.Uint32(got[i:]))
			}
			t.Errorf("%s: buffer %d holds %d, want %d", d.Name, k, list, words)
		}
	}
}

// tryWrong fails t if a driver's mistake is gone, so that it is struck from the list.
func (v *valid) tryWrong(t *testing.T, d launch.Driver, r *launch.Result) {
	for k, words := range v.want {
		if !bytes.Equal(r.Buffers[k][:4*len(words)], testkit.Words(words...)) {
			return
		}
	}
	t.Errorf("%s: it is right: take it from the drivers that are wrong, and from docs/foreign-shaders.md", d.Name)
}

// A module of several entry points says what there is to choose from.
func TestEntries(t *testing.T) {
	v := assembled[slices.IndexFunc(assembled, func(v valid) bool { return v.entry == "second" })]
	code := v.module(t)
	if got, err := spv.Entries(code); err != nil || !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("entries %q, %v", got, err)
	}
	if _, err := spv.Parse("", code); !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), `"first", "second"`) {
		t.Errorf("Parse: %v, want ErrUnsupported with the names", err)
	}
	if _, err := spv.Entry(code, "third"); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), `"first", "second"`) {
		t.Errorf("Entry: %v, want ErrInvalidArgument with the names", err)
	}
	one, err := spv.Entry(code, "second")
	if err != nil {
		t.Fatal(err)
	}
	m, err := spv.Parse("", one)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Bindings) != 1 || m.Bindings[0].Number != 2 || m.SharedBytes != 0 || m.ParamSize != 0 || m.LocalSize != [3]uint32{2, 1, 1} || !slices.Equal(m.Capabilities, []uint32{1}) {
		t.Errorf("the second entry point alone has %+v, %d shared bytes, %d parameter bytes, local size %v, capabilities %d",
			m.Bindings, m.SharedBytes, m.ParamSize, m.LocalSize, m.Capabilities)
	}
	if again, err := spv.Entry(one, "main"); err != nil || !bytes.Equal(again, one) {
		t.Errorf("a module in its form does not come back as it is: %v", err)
	}
}
