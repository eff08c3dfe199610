package conformance_test

import (
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// named lists the operations in LATHE_OPS, or nil without it.
func named(t *testing.T) (ops []*spec.Op) {
	names := os.Getenv("LATHE_OPS")
	if names == "" {
		return nil
	}
	for _, n := range strings.Split(names, ",") {
		op := spec.Lookup(n)
		if op == nil {
			t.Fatalf("LATHE_OPS: no operation is named %q", n)
		}
		ops = append(ops, op)
	}
	return ops
}

// TestOps is TestDevices for the operations that LATHE_OPS names, separated by commas. It is for
// work on these operations. TestPlansKeepLimits in package conformance reads LATHE_OPS too.
func TestOps(t *testing.T) {
	ops := named(t)
	if ops == nil {
		t.Skip("runs for the operations in LATHE_OPS, as LATHE_OPS=add,softmax; TestDevices runs all of them")
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		rep, err := conformance.Run(t.Context(), dev, conformance.Options{Ops: ops, Expect: expectations(t), Quick: !testlevel.IsFull(), Pairs: !testlevel.IsSoak(), Seed: testlevel.Seed(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s\n%s", rep.Slowest(8), rep)
		if n := rep.Count(conformance.Fail); n > 0 {
			t.Errorf("%d cases failed", n)
		}
	})
}
