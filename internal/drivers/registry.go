package drivers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
)

// Backend is what a backend tells of itself when it is registered.
type Backend struct {
	Name string // vk, wgpu or cpu
	// Built reports whether the program can use it. Build tags leave a backend out of a
	// program that imports it. Then Find returns an error that names the tag.
	Built bool
	// Find looks for the devices of the backend. It does not use Options.Backend and
	// Options.Device.
	// Errors: ErrNoDevice, saying what was looked for; ctx.Err(); and those of the backend.
	Find func(ctx context.Context, o Options) (*Found, error)
	// Skip is Source.Skip. It may be nil.
	Skip func(found []gpu.Info) string
}

// Found is what a backend has found: its devices, ready to be opened.
type Found struct {
	Infos    []gpu.Info
	Unusable error // says which other devices cannot be used; nil if there are none
	Open     func(ctx context.Context, i int) (gpu.Device, error)
	Close    func()
}

// enumeration is the type Enumeration of a backend, whose devices are of type D.
type enumeration[D gpu.Device] interface {
	Infos() []gpu.Info
	Open(ctx context.Context, i int) (D, error)
	Close()
}

// FoundBy returns what an Enumeration of a backend has found. unusable is Found.Unusable.
func FoundBy[D gpu.Device](e enumeration[D], unusable error) *Found {
	return &Found{Infos: e.Infos(), Unusable: unusable, Close: e.Close,
		Open: func(ctx context.Context, i int) (gpu.Device, error) {
			d, err := e.Open(ctx, i)
			if err != nil {
				return nil, err // and no device of type D, which would not be nil
			}
			return d, nil
		}}
}

// known are the names of the backends, the preferred one first. A backend that is not in the
// list cannot be registered: Lathe knows the names of all, so that it can say of each how a
// program gets it.
var known = []string{"vk", "wgpu", CPU}

// present are the backends that were registered, by name. Only init functions change it, so
// it needs no lock.
var present = map[string]*Backend{}

// Register adds a backend to the program. The package of the backend calls it in an init
// function. Register panics if the name is not known or was registered before, because that
// is a mistake in this module.
func Register(b Backend) {
	if !Known(b.Name) || present[b.Name] != nil {
		panic(fmt.Sprintf("drivers: cannot register %q: unknown, or registered before", b.Name))
	}
	present[b.Name] = &b
}

// Known reports whether a backend of Lathe has the name, be it in this program or not.
func Known(name string) bool { return slices.Contains(known, name) }

// Built lists the backends that this program has, the preferred one first.
func Built() []string {
	var names []string
	for _, name := range known {
		if Has(name) {
			names = append(names, name)
		}
	}
	return names
}

// Has reports whether this program has the backend.
func Has(name string) bool {
	b := present[name]
	return b != nil && b.Built
}

// find looks for the devices of the backend with a known name.
func find(ctx context.Context, name string, o Options) (*Found, error) {
	if err := Missing(name); err != nil {
		return nil, err
	}
	return present[name].Find(ctx, o)
}

// Missing returns an error if no backend of the name is registered. It says how a program
// gets the backend.
// Errors: ErrNoDevice.
func Missing(name string) error {
	switch {
	case present[name] != nil:
		return nil // a backend says by itself that a build tag leaves it out
	case name == CPU:
		return fmt.Errorf("cpu: open: %w: this program was built without it (tag nocpu); build it without the tag", gpu.ErrNoDevice)
	case name == "wgpu":
		return fmt.Errorf("wgpu: open: %w: this program was built without WebGPU; add %s to it and build it with cgo", gpu.ErrNoDevice, importWebGPU)
	}
	return fmt.Errorf("%s: open: %w: this program does not import the backend; add import _ %q to it", name, gpu.ErrNoDevice, "github.com/lathe-gpu/lathe/"+name)
}

// importWebGPU is the declaration that adds WebGPU to a program.
const importWebGPU = `import _ "github.com/lathe-gpu/lathe/wgpu"`

// goos is the operating system. Tests replace it.
var goos = runtime.GOOS

// hint says that a program gets WebGPU by an import, if WebGPU might have a better device
// than those found. Otherwise it returns "". backend is what the user asked for.
func hint(backend string, found []gpu.Info) string {
	if present["wgpu"] != nil || backend != Auto && backend != "vk" ||
		slices.ContainsFunc(found, func(info gpu.Info) bool { return info.Kind != gpu.CPU }) {
		return ""
	}
	const text = "WebGPU may find a GPU: " + importWebGPU + " adds it to a program that is built with cgo"
	switch goos {
	case "darwin", "ios":
		return text + ", and uses Metal"
	case "windows":
		return text + ", and uses Direct3D 12"
	case "linux", "android":
		// Here WebGPU uses the drivers of Vulkan. So only a program that finds no device at
		// all gains by it: WebGPU also looks for OpenGL.
		if backend == Auto && len(found) == 0 {
			return text + ", and uses OpenGL too"
		}
	}
	return "" // WebGPU does not run there
}

// Hinted is the error of Choose for a backend that the user asked for. If the program would
// find other devices by WebGPU, the text says how it gets that.
func (c *Choice) Hinted(err error, backend string) error {
	if c.alone {
		return err
	}
	return hinted(err, backend, c.found)
}

// hinted adds the hint to an error that wraps ErrNoDevice.
func hinted(err error, backend string, found []gpu.Info) error {
	if text := hint(backend, found); text != "" && errors.Is(err, gpu.ErrNoDevice) {
		return fmt.Errorf("%w\n%s", err, text)
	}
	return err
}
