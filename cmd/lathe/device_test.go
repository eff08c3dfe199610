package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// TestIndexInJSON: the device in the JSON of a command has the index by which "lathe devices"
// lists it.
func TestIndexInJSON(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(folder, "cache"))
	t.Setenv("LATHE_BACKEND", "")
	t.Setenv("LATHE_DEVICE", "")
	if !hasDevice() {
		if code, _, said := command(t, "devices", "--json"); code != exitNoDevice {
			t.Errorf("without a device: exit code %d: %s", code, said)
		}
		return
	}
	data, err := testimg.Encode(testimg.Quarters(8, 8), ".png")
	if err != nil {
		t.Fatal(err)
	}
	picture := filepath.Join(folder, "a.png")
	if err := os.WriteFile(picture, data, 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(result any, args ...string) {
		t.Helper()
		code, out, said := command(t, append(args, "--json", "--quiet")...)
		if code != exitOK {
			t.Fatalf("%q: exit code %d: %s", args, code, said)
		}
		if err := json.Unmarshal([]byte(out), result); err != nil {
			t.Fatalf("%q: %v in %s", args, err, out)
		}
	}
	used := func(args ...string) deviceJSON {
		t.Helper()
		var result struct{ Device deviceJSON }
		run(&result, append([]string{"image", picture, "--op", "invert", "-o", filepath.Join(folder, "b.png"), "--force"}, args...)...)
		return result.Device
	}
	var list []deviceJSON
	run(&list, "devices")
	for i, d := range list {
		if d.Index == nil || *d.Index != i || d.Same == nil || *d.Same > i {
			t.Errorf("device %d of the list is %+v", i, d)
			continue
		}
		got := used("--device", strconv.Itoa(i))
		if got.Index == nil || *got.Index != i || got.UUID != d.UUID || got.Backend != d.Backend || got.Same == nil || *got.Same != *d.Same {
			t.Errorf("--device %d: got %+v, want %+v", i, got, d)
		}
	}
	if !drivers.Has(drivers.CPU) {
		return
	}
	// No driver is loaded to count the devices, so there is no index.
	if got := used("--device", "CPU"); got.Index != nil || got.Same != nil || got.Backend != drivers.CPU {
		t.Errorf("--device CPU: got %+v", got)
	}
	if got := used("--backend", "cpu"); got.Index == nil || *got.Index != 0 {
		t.Errorf("--backend cpu: got %+v", got)
	}
}
