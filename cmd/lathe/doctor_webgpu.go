package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
)

// devices are those of the selected backend, or of all, in the order of lathe devices.
func (s *system) devices() []gpu.Info {
	switch s.backend {
	case "vk":
		return s.report.Devices
	case "wgpu":
		return s.webgpu.Devices
	case drivers.CPU:
		return s.cpu
	}
	return slices.Concat(s.report.Devices, s.webgpu.Devices, s.cpu)
}

// checkChoice checks that the selected device exists.
func (s *system) checkChoice() []check {
	if s.choose == "" || len(s.devices()) == 0 || s.chooses(s.choose) == nil {
		return nil
	}
	return []check{{"device", bad, fmt.Sprintf("--device or LATHE_DEVICE is %q, and no device fits", s.choose), "unset LATHE_DEVICE, or use an index, name or UUID that lathe devices lists"}}
}

// checkWebGPU looks at the adapters of WebGPU.
func (s *system) checkWebGPU() []check {
	r := &s.webgpu
	switch {
	case !r.Built:
		return []check{{"webgpu", odd, "this program was built without WebGPU", "to have it, build with cgo and a C compiler, without the tag nowgpu"}}
	case errors.Is(r.Error, gpu.ErrInvalidArgument):
		return []check{{"webgpu", bad, firstLine(r.Error.Error()), "unset LATHE_WGPU_API"}}
	case len(r.Devices) == 0:
		return []check{{Name: "webgpu", State: odd, Detail: "wgpu-native (webgpu " + r.Version + ") finds no adapter"}}
	}
	var names []string
	for i := range r.Devices {
		names = append(names, fmt.Sprintf("%s (%s, %v)", r.Devices[i].Name, r.Devices[i].Driver, r.Devices[i].Kind))
	}
	return []check{{Name: "webgpu", State: good, Detail: strings.Join(names, "; ")}}
}

// checkBackend says which backend is chosen, and why.
func (s *system) checkBackend() []check {
	if _, err := drivers.Name(s.backend); err != nil {
		return []check{{"backend", bad, firstLine(err.Error()), "unset LATHE_BACKEND, or set it to vk, wgpu, cpu or auto"}}
	}
	if s.backend != drivers.Auto {
		if len(s.devices()) == 0 {
			return []check{{"backend", bad, s.backend + ": --backend or LATHE_BACKEND chose it, but it has no device", "unset LATHE_BACKEND, or leave --backend out, to let Lathe choose"}}
		}
		return []check{{Name: "backend", State: good, Detail: s.backend + ": --backend or LATHE_BACKEND chose it"}}
	}
	if s.onlyCPU {
		return []check{{Name: "backend", State: good, Detail: "cpu: --device or LATHE_DEVICE chose its device"}}
	}
	var built []string
	var lists [][]gpu.Info
	for _, b := range []struct {
		name    string
		built   bool
		devices []gpu.Info
	}{{"vk", s.report.Built, s.report.Devices}, {"wgpu", s.webgpu.Built, s.webgpu.Devices}, {drivers.CPU, len(s.cpu) > 0, s.cpu}} {
		if b.built {
			built, lists = append(built, b.name), append(lists, b.devices)
		}
	}
	if len(built) == 0 {
		return []check{{"backend", bad, "this program was built without any backend", "build it without the tag nocpu"}}
	}
	name, why := drivers.Explain(built, lists)
	state := good
	if name == "" {
		state = bad
	}
	return []check{{Name: "backend", State: state, Detail: strings.Join(why, "; ")}}
}
