package conformance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
)

// A quick look at one operation on one device.
func ExampleRun() {
	ctx := context.Background()
	dev, err := cpu.Open(cpu.Options{NoCache: true})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	report, err := conformance.Run(ctx, dev, conformance.Options{Ops: []*spec.Op{ops.Transpose{}.Spec()}, Quick: true, Once: true, Kernels: 8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.OK(), len(report.Rows) > 10, report.Count("fail"))
	// Output:
	// true true 0
}
