package cpu_test

import (
	"runtime"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
)

// TestSameResults computes operations with one worker and with five, which must give the
// same bits. In a program for GOOS=js, which has one worker, they must be the published ones. The seed draws one of 16 parts of the operations and element types, or of 4 at
// the full level.
func TestSameResults(t *testing.T) {
	testlevel.Turn(t, 5)
	parts := 16
	if testlevel.IsFull() {
		parts = 4
	}
	opts := conformance.HashOptions{Part: int(testlevel.Seed(t) % uint64(parts)), Parts: parts}
	var lists []conformance.Hashes
	workers := []int{1, 5}
	if runtime.GOOS == "js" {
		published, err := conformance.PublishedHashes()
		if err != nil {
			t.Fatal(err)
		}
		lists, workers = append(lists, published), workers[:1]
	}
	for _, workers := range workers {
		dev, err := cpu.Open(cpu.Options{NoCache: true, Workers: workers, MaxMemory: 512 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		list, err := conformance.HashResults(t.Context(), dev, opts)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, list)
	}
	if len(lists[1]) < 15 {
		t.Errorf("part %d of %d has %d hashes only", opts.Part, parts, len(lists[1]))
	}
	for _, line := range lists[1].Differences(lists[0]) {
		t.Error(line)
	}
}
