package wgpu

import (
	"context"
	"os"
	"runtime"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
)

// A program that imports the package may choose its devices.
func init() {
	drivers.Register(drivers.Backend{Name: "wgpu", Built: Built, Find: find, Skip: sameDrivers})
}

func find(ctx context.Context, o drivers.Options) (*drivers.Found, error) {
	e, err := Enumerate(ctx, Options{Warn: o.Warn, CloseTimeout: o.CloseTimeout})
	if err != nil {
		return nil, err
	}
	return drivers.FoundBy(e, nil), nil
}

// sameDrivers says why WebGPU has no other hardware than the devices found: it uses the same
// drivers as Vulkan.
func sameDrivers(found []gpu.Info) string {
	for i := range found {
		api := strings.TrimSpace(os.Getenv(APIEnv))
		if found[i].Backend == "vk" && (runtime.GOOS == "linux" || runtime.GOOS == "android") && (api == "" || api == "vulkan") {
			return "it runs on the drivers that vk has listed"
		}
	}
	return ""
}
