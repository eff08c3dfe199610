package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/vk"
	"github.com/lathe-gpu/lathe/wgpu"
)

type doctorCmd struct{}

// Help is the long help.
func (doctorCmd) Help() string {
	return `The doctor checks the processor, the Vulkan loader, the drivers, permissions, containers and WebGPU's adapters. It says which backend is chosen and why, and runs one kernel. For each problem it prints the command that repairs it on this system. With --device cpu or --backend cpu it loads no driver. Exit code 3 means that the chosen device does not work.`
}

// state is the result of a check.
type state string

const (
	good state = "ok"
	odd  state = "warn" // Lathe works, but not as well as it could
	bad  state = "fail"
)

// check is a row of the report.
type check struct {
	Name   string `json:"name"`
	State  state  `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // a command, or what to do
}

// system is everything that the checks look at, so that tests can replace it.
type system struct {
	goos    string
	root    fs.FS // of the file system, names without the leading slash
	env     func(string) string
	uid     int
	usable  func(path string) error  // opens a device node for reading and writing
	group   func(path string) string // name or number of the group that owns it
	is64    bool                     // whether this program is a 64-bit one
	built   []string                 // the backends of this program
	report  vk.Report
	webgpu  wgpu.Report
	cpu     []gpu.Info                        // the device of package cpu, none if it was left out
	onlyCPU bool                              // it was asked for, so no driver was loaded
	backend string                            // what the user asked for, "auto" if nothing
	kernel  func() (device string, err error) // runs a kernel and compares its result
	choose  string                            // the selector in force, from --device or LATHE_DEVICE
	chooses func(selector string) error       // whether it fits a device
	tune    string                            // LATHE_TUNE
	choices int                               // that are remembered
}

// Run does it.
func (c *doctorCmd) Run(a *app) error {
	s := thisSystem(a)
	checks := s.checks()
	works := true
	for _, k := range checks {
		works = works && k.State != bad
	}
	if a.cli.JSON {
		if err := a.writeJSON(struct {
			OK     bool    `json:"ok"`
			Checks []check `json:"checks"`
		}{works, checks}); err != nil {
			return err
		}
	} else {
		for _, k := range checks {
			mark := map[state]colour{good: green, odd: yellow, bad: red}[k.State]
			fmt.Fprintf(a.out, "%s  %-12s  %s\n", a.colour.stdout(mark, fmt.Sprintf("%-4s", k.State)), k.Name, k.Detail)
			for line := range strings.Lines(k.Fix) {
				fmt.Fprintf(a.out, "%22s%s\n", "→ ", strings.TrimRight(line, "\n"))
			}
		}
	}
	if !works {
		return coded{exitNoDevice, errors.New("the device that is chosen does not work; the lines marked fail say what to do")}
	}
	return nil
}

func thisSystem(a *app) *system {
	s := &system{
		goos: runtime.GOOS, root: os.DirFS("/"), env: os.Getenv, uid: os.Getuid(),
		usable: func(path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			return f.Close()
		},
		group: groupOf, is64: ^uint(0)>>63 == 1,
		built:  drivers.Built(),
		choose: a.cli.Device, tune: os.Getenv(tune.Env),
	}
	s.choices = len(tune.Stored(a.tuningFile()))
	s.backend, _ = drivers.Name(a.cli.Backend) // checkBackend reports an unknown name
	if s.backend == "" {
		s.backend = cmp.Or(a.cli.Backend, os.Getenv(drivers.Env))
	}
	if s.choose == "" {
		s.choose = strings.TrimSpace(os.Getenv("LATHE_DEVICE"))
	}
	if drivers.Has(drivers.CPU) {
		s.cpu, _ = drivers.List(a.ctx, drivers.CPU) // checkKernel reports why it cannot be opened
	}
	s.onlyCPU = s.backend == drivers.CPU || s.backend == drivers.Auto && strings.EqualFold(s.choose, drivers.CPU)
	if !s.onlyCPU {
		s.report, s.webgpu = vk.Probe(a.ctx), wgpu.Probe(a.ctx)
	}
	s.chooses = func(selector string) error { return fits(s.devices(), selector) }
	s.kernel = func() (string, error) { return tryKernel(a) }
	return s
}

// tryKernel inverts a small picture on the device and compares every pixel.
func tryKernel(a *app) (device string, err error) {
	a.quiet = true // the report has a row for each warning of Open
	dev, err := a.open()
	if err != nil {
		return "", err
	}
	defer func() {
		if e := dev.Close(); err == nil {
			err = e
		}
	}()
	call, err := spec.ParseCall("invert_colors")
	if err != nil {
		return "", err
	}
	in := image.NewNRGBA(image.Rect(0, 0, 13, 7))
	for i := range in.Pix {
		in.Pix[i] = byte(i * 37)
	}
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	out, err := dev.Apply(ctx, in, call)
	if err != nil {
		return dev.Info().Name, err
	}
	for i, v := range in.Pix {
		want := 255 - v
		if i%4 == 3 {
			want = v
		}
		if out.Pix[i] != want {
			return dev.Info().Name, fmt.Errorf("wrong result: byte %d is %d and should be %d; the driver computes wrongly", i, out.Pix[i], want)
		}
	}
	return dev.Info().Name, nil
}
