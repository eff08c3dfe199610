// Package drivers joins the backends: what devices they offer together, and
// which one to open. Everything that opens a device by the user's wishes comes
// here, so that flags and environment mean the same everywhere.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

// Env is the environment variable that names the backend where the program
// names none.
const Env = "LATHE_BACKEND"

// Auto is the name of the choice among all backends.
const Auto = "auto"

// Options are what Open may be told. The zero value is the usual choice.
type Options struct {
	Backend    string // vk, wgpu or auto; empty means LATHE_BACKEND, else auto
	Device     string // as gpu.Choose takes it; empty means LATHE_DEVICE, else the best
	Validation bool   // Vulkan's validation layer; rules out wgpu
	CacheDir   string // of compiled pipelines, empty for the usual one
	NoCache    bool
	Warn       func(string) // takes messages for the user; nil for standard error

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
	return names
}

// Name resolves what the user said about the backend, "" if nothing.
// Errors: ErrInvalidArgument.
func Name(name string) (string, error) {
	from := ""
	if name == "" {
		name, from = strings.TrimSpace(os.Getenv(Env)), " (from "+Env+")"
	}
	switch name {
	case "":
		return Auto, nil
	case Auto, "vk", "wgpu":
		return name, nil
	}
	return "", fmt.Errorf("backend: %w: no backend is named %q%s (known: auto, vk, wgpu)", gpu.ErrInvalidArgument, name, from)
}

// List describes the devices of a backend, or of all: those of vk, then those
// of wgpu. A backend without devices is left out as long as the other has any.
// Errors: ErrNoDevice, ErrInvalidArgument (name), ctx.Err().
func List(ctx context.Context, name string) ([]gpu.Info, error) {
	name, err := Name(name)
	switch {
	case err != nil:
		return nil, err
	case name == "vk":
		return vk.List(ctx)
	case name == "wgpu":
		return wgpu.List(ctx)
	}
	a, errA := vk.List(ctx)
	b, errB := wgpu.List(ctx)
	if infos := append(a, b...); len(infos) > 0 || ctx.Err() != nil {
		return infos, ctx.Err()
	}
	return nil, neither(errA, errB)
}

// neither is the error where no backend has a device.
func neither(errVK, errWGPU error) error {
	if !wgpu.Built {
		return errVK
	}
	if !vk.Built {
		return errWGPU
	}
	return fmt.Errorf("%w\n%v", errVK, errWGPU)
}

// Open opens the device that the options select. Without a backend or device
// named it takes hardware by Vulkan, then hardware by WebGPU, then a CPU driver
// by Vulkan, then one by WebGPU.
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
		o.Warn = func(s string) { fmt.Fprintln(os.Stderr, s) }
	}
	selected := o.Device
	if selected == "" {
		selected = strings.TrimSpace(os.Getenv(gpu.SelectorEnv))
	}
	switch {
	case name == "wgpu" && o.Validation:
		return nil, fmt.Errorf("wgpu: open: %w: Vulkan's validation layer; it goes with the backend vk", gpu.ErrUnsupported)
	case name == "vk" || o.Validation:
		return o.vk(ctx, o.Device)
	case name == "wgpu":
		return o.wgpu(ctx, o.Device)
	case selected != "":
		return o.selected(ctx, selected)
	}
	return o.best(ctx)
}

func (o *Options) vk(ctx context.Context, device string) (gpu.Device, error) {
	d, err := vk.Open(ctx, vk.Options{Device: device, Validation: o.Validation, CacheDir: o.CacheDir, NoCache: o.NoCache, Warn: o.Warn, CloseTimeout: o.CloseTimeout})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (o *Options) wgpu(ctx context.Context, device string) (gpu.Device, error) {
	d, err := wgpu.Open(ctx, wgpu.Options{Device: device, Warn: o.Warn, CloseTimeout: o.CloseTimeout})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// selected opens a device of either backend.
func (o *Options) selected(ctx context.Context, selector string) (gpu.Device, error) {
	infos, err := List(ctx, Auto)
	if err != nil {
		return nil, err
	}
	i, err := gpu.Choose(infos, o.Device)
	if err != nil {
		return nil, err
	}
	at := 0 // of the device within its backend
	for j := range i {
		if infos[j].Backend == infos[i].Backend {
			at++
		}
	}
	if infos[i].Backend == "wgpu" {
		return o.wgpu(ctx, strconv.Itoa(at))
	}
	return o.vk(ctx, strconv.Itoa(at))
}

// best is Open where the user has no wish. It comes to what Pick says, without
// looking at WebGPU's adapters where they cannot be better.
func (o *Options) best(ctx context.Context) (gpu.Device, error) {
	var said []string
	first := *o
	first.Warn = func(s string) { said = append(said, s) }
	d, err := first.vk(ctx, "")
	if err != nil {
		if !errors.Is(err, gpu.ErrNoDevice) {
			return nil, err
		}
		w, errW := o.wgpu(ctx, "")
		if errW != nil {
			return nil, neither(err, errW)
		}
		return w, nil
	}
	if d.Info().Kind == gpu.CPU && !sameDrivers() {
		if infos, err := wgpu.List(ctx); err == nil && hardware(infos) {
			if w, err := o.wgpu(ctx, ""); err == nil {
				return w, d.Close()
			}
		}
	}
	for _, s := range said {
		o.Warn(s)
	}
	return d, nil
}

// sameDrivers reports whether WebGPU stands on the drivers that vk uses, so
// that it knows no more hardware where Vulkan works at all.
func sameDrivers() bool {
	api := strings.TrimSpace(os.Getenv(wgpu.APIEnv))
	return (runtime.GOOS == "linux" || runtime.GOOS == "android") && (api == "" || api == "vulkan")
}

func hardware(infos []gpu.Info) bool {
	for i := range infos {
		if infos[i].Kind != gpu.CPU {
			return true
		}
	}
	return false
}

// Pick says which backend Open takes where nobody has a wish, "" if none, and a
// line on each backend that says why. The lists are their devices.
func Pick(byVK, byWGPU []gpu.Info) (name string, why []string) {
	type row struct {
		name  string
		infos []gpu.Info
		built bool
	}
	rows := []row{{"vk", byVK, vk.Built}, {"wgpu", byWGPU, wgpu.Built}}
	for _, hw := range []bool{true, false} {
		for _, r := range rows {
			if name == "" && len(r.infos) > 0 && (hardware(r.infos) || !hw) {
				name = r.name
			}
		}
	}
	for _, r := range rows {
		var text string
		switch {
		case !r.built:
			text = "not in this build"
		case len(r.infos) == 0:
			text = "no device"
		case r.name == name && hardware(r.infos):
			text = "taken: it has hardware"
		case r.name == name:
			text = "taken: no backend has hardware, and Vulkan comes first"
			if len(byVK) == 0 {
				text = "taken: Vulkan has no device"
			}
		case hardware(r.infos):
			text = "not taken: it has hardware, and so has Vulkan, which comes first"
		default:
			text = "not taken: no hardware"
		}
		why = append(why, r.name+": "+text)
	}
	return name, why
}

// Same gives for each device the index of the first in the list that is the
// same piece of hardware by another backend, its own index if there is none. It
// goes by vendor and name, and counts where several are alike.
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
