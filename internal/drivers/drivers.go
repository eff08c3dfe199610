// Package drivers joins the backends. It lists the devices of all of them, and chooses which
// one to open. All code that opens a device as the user wishes calls it, so flags and
// environment variables mean the same everywhere.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// Env is the environment variable that names the backend if the program
// names none.
const Env = "LATHE_BACKEND"

// Auto means that all backends are considered.
const Auto = "auto"

// CPU is the name of the backend of package cpu. It is also the selector of its device.
const CPU = "cpu"

// Options are the settings of Open. The zero value is the usual choice.
type Options struct {
	Backend    string // vk, wgpu, cpu or auto; empty means LATHE_BACKEND, else auto
	Device     string // as gpu.Choose takes it; empty means LATHE_DEVICE, else the best
	Validation bool   // Vulkan's validation layer; rules out wgpu and cpu
	CacheDir   string // of compiled pipelines, empty for the usual one
	NoCache    bool
	Warn       func(string) // takes messages for the user; nil for standard error, each once a process

	CloseTimeout time.Duration // how long Close waits for work, as the backends take it
}

// Built lists the backends of this build, the preferred one first.
func Built() []string {
	var names []string
	if vk.Built {
		names = append(names, "vk")
	}
	if wgpu.Built {
		names = append(names, "wgpu")
	}
	if CPUBuilt {
		names = append(names, CPU)
	}
	return names
}

// Name returns the backend that the user has named: name, or else LATHE_BACKEND. It
// returns Auto if neither names one.
// Errors: ErrInvalidArgument.
func Name(name string) (string, error) {
	name, from := Given(name)
	switch name {
	case Auto, "vk", "wgpu", CPU:
		return name, nil
	}
	return "", fmt.Errorf("backend: %w: no backend is named %q%s (known: auto, vk, wgpu, cpu)", gpu.ErrInvalidArgument, name, from)
}

// Given returns name, or the name in LATHE_BACKEND if name is empty, or Auto if both are. If
// the name is from the variable, from says so in an error message.
func Given(name string) (given, from string) {
	if name != "" {
		return name, ""
	}
	if name = strings.TrimSpace(os.Getenv(Env)); name == "" {
		return Auto, ""
	}
	return name, " (from " + Env + ")"
}

// List describes the devices of a backend, or of all: those of vk, then those of wgpu,
// then that of cpu. A backend without devices is left out if another one has a device.
// Errors: ErrNoDevice, ErrInvalidArgument (name), ctx.Err().
func List(ctx context.Context, name string) ([]gpu.Info, error) {
	name, err := Name(name)
	if err != nil {
		return nil, err
	}
	names, err := sourceNames(name)
	if err != nil {
		return nil, err
	}
	var infos []gpu.Info
	var failed []error
	for _, n := range names {
		more, err := list(ctx, n)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		infos = append(infos, more...)
		if err != nil {
			failed = append(failed, err)
		}
	}
	if len(infos) > 0 {
		return infos, nil
	}
	return nil, errors.Join(failed...)
}

// list describes the devices of the backend with a name.
func list(ctx context.Context, name string) ([]gpu.Info, error) {
	switch name {
	case "wgpu":
		return wgpu.List(ctx)
	case CPU:
		e, err := enumerateCPU(ctx, Options{})
		if err != nil {
			return nil, err
		}
		return e.Infos(), nil
	}
	return vk.List(ctx)
}

// Open opens the device that the options select. Without a device named it takes
// hardware by Vulkan, then hardware by WebGPU, then the device of package cpu, then a CPU
// driver by Vulkan, then one by WebGPU. It decides by the lists of the backends. It opens
// no other device, unless that device cannot be opened. If the options name a device and no
// backend, an index counts the devices as List does. The device "cpu" is that of package
// cpu. If it is named, or the backend of that name, Open loads no driver.
//
// Errors: ErrNoDevice, saying what was looked for; ErrUnsupported (validation
// that is missing); ErrInvalidArgument (an unknown backend); ErrOutOfMemory;
// ctx.Err().
func Open(ctx context.Context, o Options) (gpu.Device, error) {
	name, err := Name(o.Backend)
	if err != nil {
		return nil, err
	}
	if o.Warn == nil {
		o.Warn = warnOnce
	}
	if o.Validation {
		if selector, _ := gpu.Selector(o.Device); strings.EqualFold(selector, CPU) {
			name = CPU
		}
		if name == "wgpu" || name == CPU {
			return nil, fmt.Errorf("%s: open: %w: Vulkan's validation layer; it goes with the backend vk", name, gpu.ErrUnsupported)
		}
		name = "vk"
	}
	names, err := sourceNames(name)
	if err != nil {
		return nil, err
	}
	var sources []Source[gpu.Device]
	for _, n := range names {
		s, done := SourceOf(n, o)
		defer done()
		sources = append(sources, s)
	}
	d, c, err := Choose(ctx, sources, o.Device, o.Warn)
	if err != nil {
		return nil, err
	}
	Warn(c, o.Device, o.Warn)
	return d, nil
}

// Warn tells the user that a device on the CPU was taken and none was selected, and which
// backend is in disorder in that case.
func Warn(c Choice, selector string, warn func(string)) {
	if !c.Listed || c.Info.Kind != gpu.CPU || c.failed || c.alone { // if it failed, Choose has said so
		return
	}
	if selected, _ := gpu.Selector(selector); selected == "" {
		for _, text := range c.broken {
			warn(text)
		}
	}
	if text := gpu.OnlyCPU(&c.Info, selector); text != "" {
		warn(text)
	}
}

// sourceNames are the backends to look at for a name.
// Errors: ErrNoDevice (a name that this program was built without, or Auto if it was built
// without all of them).
func sourceNames(name string) ([]string, error) {
	built := Built()
	switch {
	case name == Auto && len(built) > 0:
		return built, nil
	case name == Auto:
		return nil, fmt.Errorf("backend: open: %w: this program was built without any backend; build it without the tag nocpu, or with cgo and without the tags novk and nowgpu", gpu.ErrNoDevice)
	case name == CPU && !CPUBuilt:
		return nil, errNoCPU
	}
	return []string{name}, nil // vk and wgpu say by themselves that they are left out
}

// enumeration is what a backend finds: its devices, ready to be opened.
type enumeration interface {
	Infos() []gpu.Info
	Close()
}

// SourceOf is a backend, "vk", "wgpu" or "cpu", as Choose takes it. The driver stays loaded
// from List until done is called, so that Open does not load it again.
func SourceOf(name string, o Options) (s Source[gpu.Device], done func()) {
	var found enumeration
	var open func(context.Context, int) (gpu.Device, error)
	var unusable error
	s.Name = name
	list := func(ctx context.Context) (err error) {
		e, err := vk.Enumerate(ctx, vk.Options{Validation: o.Validation, CacheDir: o.CacheDir, NoCache: o.NoCache, Warn: o.Warn, CloseTimeout: o.CloseTimeout})
		if err == nil {
			found, open = e, func(ctx context.Context, i int) (gpu.Device, error) { return asDevice(e.Open(ctx, i)) }
			unusable = e.Unusable()
		}
		return err
	}
	switch name {
	case "wgpu":
		list = func(ctx context.Context) error {
			e, err := wgpu.Enumerate(ctx, wgpu.Options{Warn: o.Warn, CloseTimeout: o.CloseTimeout})
			if err == nil {
				found, open = e, func(ctx context.Context, i int) (gpu.Device, error) { return asDevice(e.Open(ctx, i)) }
			}
			return err
		}
		s.Skip = sameDrivers
	case CPU:
		list = func(ctx context.Context) error {
			e, err := enumerateCPU(ctx, o)
			if err == nil {
				found, open = e, func(ctx context.Context, i int) (gpu.Device, error) { return asDevice(e.Open(ctx, i)) }
			}
			return err
		}
	}
	s.List = func(ctx context.Context) ([]gpu.Info, error) {
		if err := list(ctx); err != nil {
			return nil, err
		}
		return found.Infos(), unusable
	}
	s.Open = func(ctx context.Context, i int) (gpu.Device, error) { return open(ctx, i) }
	return s, func() {
		if found != nil {
			found.Close()
		}
	}
}

// asDevice converts a device of a backend's own type to a gpu.Device. No device becomes nil.
func asDevice[D gpu.Device](d D, err error) (gpu.Device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// sameDrivers says why WebGPU has no other hardware than the devices found: it uses the same
// drivers as Vulkan.
func sameDrivers(found []gpu.Info) string {
	for i := range found {
		api := strings.TrimSpace(os.Getenv(wgpu.APIEnv))
		if found[i].Backend == "vk" && (runtime.GOOS == "linux" || runtime.GOOS == "android") && (api == "" || api == "vulkan") {
			return "it runs on the drivers that vk has listed"
		}
	}
	return ""
}

// Same returns an index for each device. It is that of the first device in the list that is
// the same hardware by another backend, or the device's own index. Same compares vendors and
// names. If several devices are equal, it matches them in order.
func Same(infos []gpu.Info) []int {
	same := make([]int, len(infos))
	taken := map[int]bool{}
	for i := range infos {
		same[i] = i
		for j := range i {
			if infos[j].Backend != infos[i].Backend && !taken[j] && infos[j].Vendor == infos[i].Vendor && infos[j].Name == infos[i].Name {
				same[i], taken[j] = j, true
				break
			}
		}
	}
	return same
}
