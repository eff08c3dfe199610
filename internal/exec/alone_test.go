package exec_test

import (
	"bytes"
	"flag"
	"os"
	osexec "os/exec"
	"testing"

	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestViewAlone runs an operation on a view in a child process that has declared no other one. The copy of the view
// needs kernels that the declaration of the operation does not link.
func TestViewAlone(t *testing.T) {
	if flag.Arg(0) != "alone" {
		open(t) // or skip
		cmd := osexec.Command(os.Args[0], "-test.run", "^TestViewAlone$", "alone")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dev, r := open(t)
	h := tensor.NewHost(tensor.Contiguous(tensor.F32, 2, 3))
	h.SetFloats([]float64{1, 2, 2, 4, 4, 2})
	in, out := put(t, dev, h, 1, true), put(t, dev, tensor.NewHost(tensor.Contiguous(tensor.I32, 2)), 0, false)
	if err := r.Run(t.Context(), ops.ArgMax{Dim: 1}, []exec.Operand{in.Operand}, []exec.Operand{out.Operand}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.elements(t, r), []byte{1, 0, 0, 0, 0, 0, 0, 0}; !bytes.Equal(got, want) {
		t.Errorf("arg_max of a view: %v (want %v)", got, want)
	}
}
