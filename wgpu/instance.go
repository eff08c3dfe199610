//go:build !nowgpu && cgo

package wgpu

/*
#cgo CFLAGS: -std=gnu11
#include "bridge.h"
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu" // and links the native library

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// shared is the one instance of the native library that all devices use.
var shared struct {
	sync.Mutex
	inst unsafe.Pointer
	apis C.uint32_t // the APIs that inst was made for, as bits
	refs int
}

var logLevels = map[string]wgpu.LogLevel{
	"": wgpu.LogLevelOff, "error": wgpu.LogLevelError, "warn": wgpu.LogLevelWarn, "info": wgpu.LogLevelInfo,
	"debug": wgpu.LogLevelDebug, "trace": wgpu.LogLevelTrace,
}

// The APIs that APIEnv names.
var apis = map[string]C.uint32_t{"vulkan": C.LWG_VULKAN, "metal": C.LWG_METAL, "dx12": C.LWG_DX12, "gl": C.LWG_GL}

// wanted returns the sets of APIs to try, one after the other. OpenGL comes last and
// alone, because on Linux its libraries write to standard error while they look for a
// display.
func wanted() ([]C.uint32_t, error) {
	text := strings.TrimSpace(os.Getenv(APIEnv))
	if text == "" {
		return []C.uint32_t{apis["vulkan"] | apis["metal"] | apis["dx12"], apis["gl"]}, nil
	}
	var set C.uint32_t
	for name := range strings.SplitSeq(text, ",") {
		api, ok := apis[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			return nil, fmt.Errorf("wgpu: %w: %s=%s (known: vulkan, metal, dx12, gl)", gpu.ErrInvalidArgument, APIEnv, text)
		}
		set |= api
	}
	return []C.uint32_t{set}, nil
}

// adapter is an adapter and what is known of it.
type adapter struct {
	handle unsafe.Pointer
	info   gpu.Info
	limits C.wg_limits
	align  int64 // the offset of a uniform binding is a multiple of this many bytes
}

func (a *adapter) release() {
	if a.handle != nil {
		C.wgpuAdapterRelease(a.handle)
		a.handle = nil
	}
}

// acquire returns the adapters of this machine and counts one more user of the
// instance, which ends with leave. The caller releases the adapters.
func acquire() ([]adapter, error) {
	level, ok := logLevels[strings.ToLower(strings.TrimSpace(os.Getenv(LogEnv)))]
	if !ok {
		level = wgpu.LogLevelWarn
	}
	sets, err := wanted()
	if err != nil {
		return nil, err
	}
	shared.Lock()
	defer shared.Unlock()
	wgpu.SetLogLevel(level)
	for _, set := range sets {
		if shared.refs > 0 && shared.apis != set {
			// Other devices are open. A second instance of the library would cost
			// more than it is worth.
			continue
		}
		if found := enumerate(set); len(found) > 0 {
			shared.refs++
			return found, nil
		}
	}
	return nil, fmt.Errorf("wgpu: %w: no adapter%s", gpu.ErrNoDevice, lookedFor())
}

// enumerate lists the adapters of some APIs. The caller holds shared.
func enumerate(set C.uint32_t) []adapter {
	if shared.refs == 0 {
		if shared.inst = C.lwg_instance(set); shared.inst == nil {
			return nil
		}
		shared.apis = set
	}
	var out []adapter
	if n := C.lwg_adapters(shared.inst, set, nil, 0); n > 0 {
		handles := make([]unsafe.Pointer, n)
		C.lwg_adapters(shared.inst, set, &handles[0], n)
		for _, h := range handles {
			a := adapter{handle: h}
			if a.load() {
				out = append(out, a)
			} else {
				a.release()
			}
		}
	}
	if len(out) == 0 && shared.refs == 0 {
		C.wgpuInstanceRelease(shared.inst)
		shared.inst = nil
	}
	return out
}

// leave ends one use of the instance. The last one releases the instance.
func leave() {
	shared.Lock()
	defer shared.Unlock()
	if shared.refs--; shared.refs == 0 {
		C.wgpuInstanceRelease(shared.inst)
		shared.inst = nil
	}
}

func lookedFor() string {
	switch runtime.GOOS {
	case "darwin", "ios":
		return "; looked for Metal"
	case "windows":
		return "; looked for Direct3D 12, Vulkan and OpenGL: update the graphics driver"
	}
	return "; looked for Vulkan and OpenGL: install a driver, or the CPU driver lavapipe (Debian, Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1)"
}

// Enumeration is a list of the adapters of a machine. Open opens one of them. Make an
// Enumeration with Enumerate.
type Enumeration struct {
	opts     Options
	adapters []adapter
	isOpen   bool // until Close
}

// Enumerate finds the adapters of this machine. opts are the Options of Open; it does
// not use opts.Device.
// Errors: ErrNoDevice, saying what was looked for; ErrInvalidArgument
// (LATHE_WGPU_API); ctx.Err().
func Enumerate(ctx context.Context, opts Options) (*Enumeration, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	list, err := acquire()
	if err != nil {
		return nil, err
	}
	return &Enumeration{opts: opts, adapters: list, isOpen: true}, nil
}

// Infos describes the adapters.
func (e *Enumeration) Infos() []gpu.Info {
	if e == nil {
		return nil
	}
	var infos []gpu.Info
	for i := range e.adapters {
		infos = append(infos, e.adapters[i].info)
	}
	return infos
}

// Open opens adapter i of Infos. It looks at ctx only before it starts.
// Errors: ErrInvalidArgument (no such adapter), ErrClosed, ErrNoDevice (the adapter
// gives no device), ErrOutOfMemory, ctx.Err().
func (e *Enumeration) Open(ctx context.Context, i int) (*Device, error) {
	if e == nil || !e.isOpen {
		return nil, fmt.Errorf("wgpu: open: %w: the enumeration", gpu.ErrClosed)
	}
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	if i < 0 || i >= len(e.adapters) {
		return nil, fmt.Errorf("wgpu: open: %w: adapter %d of %d", gpu.ErrInvalidArgument, i, len(e.adapters))
	}
	d, err := open(&e.adapters[i], e.opts)
	if err != nil {
		return nil, err
	}
	shared.Lock()
	defer shared.Unlock()
	shared.refs++ // until the device is closed
	return d, nil
}

// Close releases the adapters and the library. Closing twice is harmless.
func (e *Enumeration) Close() {
	if e == nil || !e.isOpen {
		return
	}
	e.isOpen = false
	for i := range e.adapters {
		e.adapters[i].release()
	}
	leave()
}

// List describes the adapters of this machine, in the order in which Open numbers them.
// Errors: ErrNoDevice, saying what was looked for; ErrInvalidArgument
// (LATHE_WGPU_API); ctx.Err().
func List(ctx context.Context) ([]gpu.Info, error) {
	e, err := Enumerate(ctx, Options{})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.Infos(), nil
}

// Probe reports what WebGPU finds on this machine, for people who look for a mistake.
func Probe(ctx context.Context) Report {
	r := Report{Built: true, Version: version(), Env: map[string]string{}}
	for _, k := range []string{gpu.SelectorEnv, APIEnv, LogEnv} {
		if v, ok := os.LookupEnv(k); ok {
			r.Env[k] = v
		}
	}
	r.Devices, r.Error = List(ctx)
	return r
}

// version is the version of the Go binding, which brings the native library. The
// library itself gives its version as 0.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/cogentcore/webgpu" {
				return m.Version
			}
		}
	}
	return "unknown"
}
