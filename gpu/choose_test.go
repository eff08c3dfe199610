package gpu_test

import (
	"errors"
	"slices"
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
		{"", "4090", -1}, // no such index, and digits are never a part of a name
		{"", "15", -1}, {"", "4", -1}, {"", "7", -1}, {"", "99999999999999999999", -1},
		{"", "huge 4090", 2}, {"", " 0002 ", 2},
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

// TestRankOwn ranks the device of package cpu behind hardware and before CPU drivers.
// "cpu" selects it alone.
func TestRankOwn(t *testing.T) {
	device := func(backend, name string, kind gpu.Kind) gpu.Info {
		return gpu.Info{Backend: backend, Name: name, Kind: kind}
	}
	for _, c := range []struct {
		infos    []gpu.Info
		selector string
		want     []int
	}{
		{[]gpu.Info{device("vk", "llvmpipe", gpu.CPU), device("wgpu", "llvmpipe", gpu.CPU), device("cpu", "Acme CPU", gpu.CPU)}, "", []int{2, 0, 1}},
		{[]gpu.Info{device("vk", "llvmpipe", gpu.CPU), device("vk", "Acme", gpu.Discrete), device("cpu", "Acme CPU", gpu.CPU)}, "", []int{1, 2, 0}},
		{[]gpu.Info{device("vk", "Acme CPU driver", gpu.CPU), device("cpu", "Acme", gpu.CPU)}, "cpu", []int{1}},
		{[]gpu.Info{device("vk", "Acme CPU driver", gpu.CPU), device("cpu", "Acme", gpu.CPU)}, "CPU", []int{1}},
		{[]gpu.Info{device("vk", "Acme CPU driver", gpu.CPU)}, "cpu", nil},
		{[]gpu.Info{device("vk", "llvmpipe", gpu.CPU), device("cpu", "Acme", gpu.CPU)}, "llvm", []int{0}},
		{[]gpu.Info{device("vk", "llvmpipe", gpu.CPU), device("mine", "simulator", gpu.CPU), device("cpu", "Acme", gpu.CPU)}, "", []int{2, 0, 1}},
		{[]gpu.Info{device("mine", "simulator", gpu.CPU), device("wgpu", "llvmpipe", gpu.CPU), device("cpu", "Acme", gpu.CPU)}, "", []int{0, 2, 1}},
	} {
		got, err := gpu.Rank(c.infos, c.selector)
		if !slices.Equal(got, c.want) || errors.Is(err, gpu.ErrNoDevice) != (c.want == nil) {
			t.Errorf("%q of\n%s\ngot %d, %v; want %d", c.selector, gpu.Describe(c.infos), got, err, c.want)
		}
	}
}

func TestOnlyCPU(t *testing.T) {
	t.Setenv(gpu.SelectorEnv, "")
	own := &gpu.Info{Backend: "cpu", Name: "Acme CPU 7", Kind: gpu.CPU}
	driver := &gpu.Info{Backend: "vk", Name: "llvmpipe", Kind: gpu.CPU}
	card := &gpu.Info{Backend: "vk", Name: "Acme Huge", Kind: gpu.Discrete}
	for _, c := range []struct {
		info     *gpu.Info
		selector string
		want     string
	}{
		{own, "", "no GPU found, using the processor: Acme CPU 7"}, {driver, "", "no GPU found, using the CPU driver llvmpipe"},
		{own, "acme", `no GPU matches "acme", using the processor: Acme CPU 7`},
		{own, "cpu", ""}, {own, "CPU", ""}, {own, "7", ""}, {own, own.UUID.String(), ""}, {driver, "llvm", ""}, {card, "", ""}, {card, "acme", ""}, {nil, "", ""},
	} {
		if c.want != "" {
			c.want = "lathe: " + c.want
		}
		if got := gpu.OnlyCPU(c.info, c.selector); got != c.want {
			t.Errorf("%v, %q: got %q, want %q", c.info, c.selector, got, c.want)
		}
	}
}
