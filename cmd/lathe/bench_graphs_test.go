package main

import (
	"testing"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestBenchGraphs measures the networks on the device cpu, quickly.
func TestBenchGraphs(t *testing.T) {
	testkit.Built(t, drivers.Built(), "cpu")
	dev, err := cpu.Open(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	rows, err := benchGraphs(t.Context(), dev, &bench.Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 {
		t.Fatalf("got %d rows, want 4", len(rows))
	}
	for _, r := range rows {
		if r.Launches == 0 || r.Launches > r.EagerLaunches || r.Bytes > r.EagerBytes || r.Flops == 0 || r.Compiled.Median <= 0 || r.Eager.Median <= 0 || r.Ratio <= 0 {
			t.Errorf("got %+v", r)
		}
		t.Logf("%s: %.2f times as fast, %d launches of %d", r.Name, r.Ratio, r.Launches, r.EagerLaunches)
	}
	if r := rows[0]; r.Launches != 1 || r.EagerLaunches < 8 || r.Bytes*4 > r.EagerBytes {
		t.Errorf("the chain is %+v, want one launch", r)
	}
}
