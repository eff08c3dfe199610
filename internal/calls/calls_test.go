package calls

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// TestLinked looks whether each declaration links the kernels that it lists. Only a program that
// declares no other operation shows that, so the test runs itself for each operation. A run at the
// first level takes every sixth one.
func TestLinked(t *testing.T) {
	if spec.All() != nil {
		t.Fatal("operations are registered: this package must not import ops/all")
	}
	name := flag.Arg(0) // of a child process
	for i, c := range All {
		call := fmt.Sprintf("%T", c)
		switch {
		case name == call:
			missing := map[string]bool{}
			for _, k := range c.Spec().Kernels {
				if spirv.Kernel(k.Name).Code == nil {
					missing[path.Dir(k.Name)] = true
				}
			}
			for folder := range missing {
				t.Errorf("%s launches kernels of %s: let its declaration call the function of package spirv that links them", call, folder)
			}
		case name == "" && testlevel.Sampled(i, 6):
			t.Run(call, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(os.Args[0], "-test.run", "^TestLinked$", call)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}
