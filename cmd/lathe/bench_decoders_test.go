package main

import (
	"testing"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestBenchDecoders measures the decoder on the device cpu, quickly. Replays that drew another text would be an error.
func TestBenchDecoders(t *testing.T) {
	testlevel.Turn(t, 5)
	testkit.Built(t, drivers.Built(), "cpu")
	dev, err := cpu.Open(cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	rows, err := benchDecoders(t.Context(), dev, &bench.Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Name == rows[1].Name {
		t.Fatalf("got %+v, want two rows", rows)
	}
	for _, r := range rows {
		if r.Tokens < 8 || r.Calls < 20 || r.Eager.Median <= 0 || r.Compiled.Median <= 0 || r.Replayed.Median <= 0 || r.Replayed.Count < 3 {
			t.Errorf("got %+v", r)
		}
		t.Logf("%+v", r)
	}
}
