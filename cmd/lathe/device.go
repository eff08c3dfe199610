package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/internal/session"
)

// open opens the device that the flags select.
func (a *app) open(more ...lathe.Option) (*lathe.Device, error) {
	opts := append(more, lathe.WithBackend(a.cli.Backend), lathe.WithDevice(a.cli.Device), lathe.WithLogger(slog.New(warnings(a.warn))))
	if a.cli.Validation {
		opts = append(opts, lathe.WithValidation())
	}
	if a.cli.NoCache {
		opts = append(opts, lathe.WithoutCache())
	}
	if a.trace != nil {
		a.trace.use()
		opts = append(opts, lathe.WithTrace(a.trace))
	}
	dev, err := lathe.Open(a.ctx, opts...)
	return dev, misused(err)
}

// misused sets the exit code of an error in what a flag or an environment variable says.
func misused(err error) error {
	if errors.Is(err, errs.ErrInvalidArgument) {
		return coded{exitUsage, err}
	}
	return err
}

// openSession opens the same device for commands that measure or check what runs on it.
// mode is the tuning mode. Empty means the mode of LATHE_TUNE.
func (a *app) openSession(mode string) (*session.Session, error) {
	o := session.Options{Surface: "lathe", Drivers: a.drivers(), Tune: mode}
	if a.trace != nil {
		o.Trace = a.trace.start()
	}
	ses, err := session.Open(a.ctx, o)
	return ses, misused(err)
}

// drivers returns the options that the flags select.
func (a *app) drivers() drivers.Options {
	return drivers.Options{Backend: a.cli.Backend, Device: a.cli.Device, Validation: a.cli.Validation, NoCache: a.cli.NoCache, Warn: a.warn}
}

// tuningFile is the file in which choices are remembered, or "" if they are not kept.
func (a *app) tuningFile() string {
	if a.cli.NoCache {
		return ""
	}
	return tune.Path("")
}

// warnings is a slog.Handler that hands the text of each warning to a function.
type warnings func(text string)

func (warnings) Enabled(context.Context, slog.Level) bool { return true }

func (w warnings) Handle(_ context.Context, r slog.Record) error {
	w(r.Message)
	return nil
}

func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }
func (w warnings) WithGroup(string) slog.Handler      { return w }

func (a *app) warn(text string) {
	a.note("%s %s", a.colour.stderr(yellow, "lathe:"), strings.TrimPrefix(text, "lathe: "))
}

// deviceJSON is a device in JSON output.
type deviceJSON struct {
	// Index is the place in the list of "lathe devices". It is null if the device cpu was named,
	// because then no driver is loaded to list its devices.
	Index   *int   `json:"index"`
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Backend string `json:"backend"`
	Driver  string `json:"driver"`
	Memory  int64  `json:"memory_bytes"`
	UUID    string `json:"uuid"`
	// Same is the index of the first device listed that is the same hardware. It is null if
	// Index is.
	Same *int `json:"same_as"`
}

func describe(info *gpu.Info) deviceJSON {
	return deviceJSON{Name: info.Name, Kind: info.Kind.String(), Backend: info.Backend,
		Driver: info.Driver, Memory: info.Memory, UUID: info.UUID.String()}
}

// describeIn describes infos[i].
func describeIn(infos []gpu.Info, i int) deviceJSON {
	d, same := describe(&infos[i]), drivers.Same(infos)[i]
	d.Index, d.Same = &i, &same
	return d
}

// inUse describes the device that the flags have opened.
func (a *app) inUse(info *gpu.Info) deviceJSON {
	if selector, _ := gpu.Selector(a.cli.Device); strings.EqualFold(selector, drivers.CPU) {
		return describe(info)
	}
	infos, err := drivers.List(context.WithoutCancel(a.ctx), a.cli.Backend) // an interrupted command reports too
	if err != nil {
		return describe(info)
	}
	for i := range infos {
		if infos[i].Backend == info.Backend && infos[i].UUID == info.UUID && infos[i].Name == info.Name {
			return describeIn(infos, i)
		}
	}
	return describe(info)
}

type devicesCmd struct{}

// Help is the long help.
func (devicesCmd) Help() string {
	return `The index, a part of the name, or the UUID selects a device with --device or LATHE_DEVICE. Digits alone are an index. A program without WebGPU counts fewer devices, and a name means the same there. "cpu" selects the processor, and loads no driver. Without a selection Lathe prefers a discrete GPU to an integrated one. It uses the processor if there is no GPU. CPU drivers such as lavapipe and SwiftShader are used if they are selected.

A device is listed once for each backend that reaches it: vk is Vulkan, wgpu is WebGPU, cpu is the processor without a driver. SAME AS is the index of an earlier row with the same hardware. With --backend or LATHE_BACKEND only the devices of that backend are listed and counted.`
}

// Run does it.
func (c *devicesCmd) Run(a *app) error {
	infos, err := drivers.List(a.ctx, a.cli.Backend)
	if err != nil {
		return misused(err)
	}
	if a.cli.JSON {
		list := []deviceJSON{}
		for i := range infos {
			list = append(list, describeIn(infos, i))
		}
		return a.writeJSON(list)
	}
	same := drivers.Same(infos)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INDEX\tNAME\tKIND\tBACKEND\tSAME AS\tDRIVER\tMEMORY\tUUID")
	for i := range infos {
		d := &infos[i]
		twin := "-"
		if same[i] != i {
			twin = strconv.Itoa(same[i])
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", i, d.Name, d.Kind, d.Backend, twin, d.Driver, mebibytes(d.Memory), d.UUID)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\nThis program has the backends %s.\n", strings.Join(drivers.Built(), ", "))
	return nil
}

func mebibytes(n int64) string {
	if n == 0 {
		return "unknown"
	}
	if n < 10<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d GiB", n>>30)
}
