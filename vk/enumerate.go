//go:build !novk && cgo

package vk

import (
	"context"
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// usable lists the devices that can be used, and says why the others cannot.
func (in *instance) usable() (infos []gpu.Info, phys []physical, unusable []string, err error) {
	all, err := in.physicals()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w%s", err, lookedFor())
	}
	for _, p := range all {
		if p.unusable != "" {
			unusable = append(unusable, fmt.Sprintf("%s: %s", p.info.Name, p.unusable))
			continue
		}
		infos = append(infos, p.info)
		phys = append(phys, p)
	}
	return infos, phys, unusable, nil
}

func noDevice(unusable []string) error {
	why := "the Vulkan loader works, but no driver offers a device"
	if len(unusable) > 0 {
		why = "no Vulkan device can be used: " + strings.Join(unusable, "; ")
	}
	return fmt.Errorf("vk: %w: %s%s", gpu.ErrNoDevice, why, lookedFor())
}

// List describes the Vulkan devices that can be used, in the loader's order.
// Errors: ErrNoDevice, saying what was looked for and how to get a device.
func List(ctx context.Context) ([]gpu.Info, error) {
	infos, _, err := list(ctx)
	return infos, err
}

func list(ctx context.Context) ([]gpu.Info, []string, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, nil, err
	}
	in, err := acquire(false, nil)
	if err != nil {
		return nil, nil, err
	}
	defer in.release()
	infos, _, unusable, err := in.usable()
	if err == nil && len(infos) == 0 {
		err = noDevice(unusable)
	}
	return infos, unusable, err
}

// Probe reports what there is of Vulkan on this machine, working or not.
func Probe(ctx context.Context) Report {
	r := Report{Built: true, Env: environment()}
	r.ICDFolders, r.ICDFiles = searchDrivers()
	gipa, err := openLoader()
	if err != nil {
		r.LoaderError, r.Error = err.Error(), err
		return r
	}
	loader.Lock()
	r.LoaderPath, r.InstanceVersion = loader.path, versionString(loader.version)
	loader.Unlock()
	r.Layers = layers(gipa)
	r.Devices, r.Unusable, r.Error = list(ctx)
	return r
}
