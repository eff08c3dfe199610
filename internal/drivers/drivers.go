// Package drivers joins the backends that a program has. It lists the devices of all of
// them, and chooses which one to open. All code that opens a device as the user wishes calls
// it, so flags and environment variables mean the same everywhere.
//
// The packages vk, wgpu and cpu register themselves when they are imported. Package
// internal/drivers/standard imports those that every program has.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
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
	Warn       func(string) // takes messages for the user; nil for slog.Default, each once a process

	CloseTimeout time.Duration // how long Close waits for work, as the backends take it
}

// DefaultWarn writes a message for the user to slog.Default, each text once in a process. Open
// does so if Options have no Warn.
func DefaultWarn(text string) { device.Warner(nil)(text) }

// Name returns the backend that the user has named: name, or else LATHE_BACKEND. It
// returns Auto if neither names one.
// Errors: ErrInvalidArgument.
func Name(name string) (string, error) {
	name, from := Given(name)
	if name == Auto || Known(name) {
		return name, nil
	}
	return "", fmt.Errorf("backend: %w: no backend is named %q%s (known: %s, %s)", gpu.ErrInvalidArgument, name, from, Auto, strings.Join(known, ", "))
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
		found, err := find(ctx, n, Options{})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		infos = append(infos, found.Infos...)
		found.Close()
	}
	if len(infos) > 0 {
		return infos, nil
	}
	return nil, hinted(errors.Join(failed...), name, nil)
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
	o.Warn = device.Warner(o.Warn)
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
	if err := CheckSelector(o.Backend, o.Device); err != nil {
		return nil, err
	}
	var sources []Source[gpu.Device]
	for _, n := range names {
		s, done := SourceOf(n, o)
		defer done()
		sources = append(sources, s)
	}
	d, c, err := Choose(ctx, sources, o.Device, o.Warn)
	switch {
	case err != nil && o.Validation: // which no other backend has
		return nil, err
	case err != nil:
		return nil, c.Hinted(err, name)
	}
	Warn(c, name, o.Device, o.Warn)
	return d, nil
}

// Warn tells the user that a device on the CPU was taken and none was selected, and which
// backend is in disorder in that case. backend and selector are what the user asked for.
func Warn(c Choice, backend, selector string, warn func(string)) {
	if !c.Listed || c.Info.Kind != gpu.CPU || c.failed || c.alone { // if it failed, Choose has said so
		return
	}
	if selected, _ := gpu.Selector(selector); selected == "" {
		for _, text := range c.broken {
			warn(text)
		}
	}
	if text := gpu.OnlyCPU(&c.Info, selector); text != "" {
		if more := hint(backend, c.found); more != "" {
			text += ". " + more
		}
		warn(text)
	}
}

// CheckSelector reports ErrNoDevice for the selector "cpu" together with another backend. The
// arguments are those of Options. The error names the environment variables that it comes from.
func CheckSelector(backend, selector string) error {
	selector, from := gpu.Selector(selector)
	name, by := Given(backend)
	if !strings.EqualFold(selector, CPU) || name == CPU || name == Auto {
		return nil
	}
	return cpuMissing(from, name+by)
}

// sourceNames are the backends to look at for a name.
// Errors: ErrNoDevice (a name that this program does not have, or Auto if it has none).
func sourceNames(name string) ([]string, error) {
	if name != Auto {
		return []string{name}, Missing(name)
	}
	if built := Built(); len(built) > 0 {
		return built, nil
	}
	return nil, fmt.Errorf("backend: open: %w: this program was built without any backend; build it without the tag nocpu, or with cgo and without the tags novk and nowgpu", gpu.ErrNoDevice)
}

// SourceOf is a backend, "vk", "wgpu" or "cpu", as Choose takes it. The driver stays loaded
// from List until done is called, so that Open does not load it again.
func SourceOf(name string, o Options) (s Source[gpu.Device], done func()) {
	var found *Found
	s.Name = name
	s.List = func(ctx context.Context) (infos []gpu.Info, err error) {
		if found, err = find(ctx, name, o); err != nil {
			return nil, err
		}
		return found.Infos, found.Unusable
	}
	s.Open = func(ctx context.Context, i int) (gpu.Device, error) { return found.Open(ctx, i) }
	if b := present[name]; b != nil {
		s.Skip = b.Skip
	}
	return s, func() {
		if found != nil {
			found.Close()
		}
	}
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
