//go:build !js

package cpu

import (
	"os"
	"strings"
	"testing"
)

// TestEngineVersion compares the version with that of go.mod.
func TestEngineVersion(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/tetratelabs/wazero " + engineVersion + "\n"; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod requires another version than %s", engineVersion)
	}
	if name := driverName(); !strings.Contains(name, engineVersion) {
		t.Errorf("the driver is %q", name)
	}
}
