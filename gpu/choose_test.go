package gpu_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lathe-gpu/lathe/gpu"
)

func TestChoose(t *testing.T) {
	infos := []gpu.Info{
		{Name: "llvmpipe (LLVM 15)", Kind: gpu.CPU, Backend: "vk", UUID: uuid.MustParse("00000000-0000-0000-0000-00000000000a")},
		{Name: "Acme Tiny", Kind: gpu.Integrated, Backend: "vk", UUID: uuid.MustParse("00000000-0000-0000-0000-00000000000b")},
		{Name: "Acme Huge 4090", Kind: gpu.Discrete, Backend: "vk", UUID: uuid.MustParse("00000000-0000-0000-0000-00000000000c")},
		{Name: "Acme Huge 4090", Kind: gpu.Discrete, Backend: "vk", UUID: uuid.MustParse("00000000-0000-0000-0000-00000000000d")},
	}
	for _, c := range []struct {
		env, selector string
		want          int // -1: ErrNoDevice
	}{
		{"", "", 2}, {"", " \t", 2},
		{"", "0", 0}, {"", "3", 3},
		{"", "4090", 2}, // no such index: part of a name
		{"", "4", 2},    // likewise
		{"", "7", -1},
		{"", "-1", -1},
		{"", "LLVM", 0}, {"", "acme", 2}, {"", " tiny ", 1}, {"", "nothing", -1},
		{"", "00000000-0000-0000-0000-00000000000d", 3},
		{"", "0000000000000000000000000000000B", 1},
		{"", "00000000-0000-0000-0000-0000000000ff", -1},
		{"pipe", "", 0}, {"1", "", 1}, {"pipe", "3", 3}, {"bogus", "", -1}, {" ", "", 2},
	} {
		t.Setenv(gpu.SelectorEnv, c.env)
		got, err := gpu.Choose(infos, c.selector)
		if c.want < 0 {
			if !errors.Is(err, gpu.ErrNoDevice) {
				t.Errorf("env %q, selector %q: got %d, %v; want ErrNoDevice", c.env, c.selector, got, err)
				continue
			}
			for i := range infos {
				if !strings.Contains(err.Error(), infos[i].UUID.String()) {
					t.Errorf("error does not list device %d: %v", i, err)
				}
			}
			if c.env == "bogus" && !strings.Contains(err.Error(), gpu.SelectorEnv) {
				t.Errorf("error does not say where the selector came from: %v", err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("env %q, selector %q: got %d, %v; want %d", c.env, c.selector, got, err, c.want)
		}
	}
	t.Setenv(gpu.SelectorEnv, "")
	if _, err := gpu.Choose(nil, ""); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("no devices: got %v, want ErrNoDevice", err)
	}
}
