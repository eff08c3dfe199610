package foreign_test

import (
	"bytes"
	"encoding/gob"
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/launch"
)

// A module that a failure has saved, tried alone: LATHE_FUZZ_FILE is the path
// of its .spv, and the .job with its buffers lies beside it. It fails on a crash or a hang, for tools that make modules smaller.
func TestFile(t *testing.T) {
	path := os.Getenv("LATHE_FUZZ_FILE")
	if path == "" {
		t.Skip("runs for the module in LATHE_FUZZ_FILE, a path")
	}
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(strings.TrimSuffix(path, ".spv") + ".job")
	if err != nil {
		t.Fatal(err)
	}
	var j launch.Job
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&j); err != nil {
		t.Fatal(err)
	}
	j.Code = code
	try(t, 0, func(give func(trial) bool) { give(trial{name: path, what: "a saved module", job: j}) })
}
