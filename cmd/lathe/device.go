package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/vk"
)

// open opens the device the flags ask for.
func (a *app) open() (*lathe.Device, error) {
	opts := []lathe.Option{lathe.WithDevice(a.cli.Device), lathe.WithWarnings(a.warn)}
	if a.cli.Validation {
		opts = append(opts, lathe.WithValidation())
	}
	if a.cli.NoCache {
		opts = append(opts, lathe.WithoutCache())
	}
	return lathe.Open(a.ctx, opts...)
}

// openVK opens the same device without the front door around it.
func (a *app) openVK() (*vk.Device, error) {
	return vk.Open(a.ctx, vk.Options{Device: a.cli.Device, Validation: a.cli.Validation, NoCache: a.cli.NoCache, Warn: a.warn})
}

func (a *app) warn(text string) {
	if !a.quiet {
		a.say("lathe: %s", strings.TrimPrefix(text, "lathe: "))
	}
}

// deviceJSON is a device in JSON output.
type deviceJSON struct {
	Index   int    `json:"index"`
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Backend string `json:"backend"`
	Driver  string `json:"driver"`
	Memory  int64  `json:"memory_bytes"`
	UUID    string `json:"uuid"`
}

func describe(info *gpu.Info) deviceJSON {
	return deviceJSON{Name: info.Name, Kind: info.Kind.String(), Backend: info.Backend,
		Driver: info.Driver, Memory: info.Memory, UUID: info.UUID.String()}
}

type devicesCmd struct{}

// Help is the long help.
func (devicesCmd) Help() string {
	return `The index, a part of the name, or the UUID selects a device with --device or LATHE_DEVICE. Without either, Lathe takes a discrete GPU before an integrated one, and a CPU driver only when there is nothing else.`
}

// Run does it.
func (c *devicesCmd) Run(a *app) error {
	infos, err := lathe.Devices(a.ctx)
	if err != nil {
		return err
	}
	if a.cli.JSON {
		list := []deviceJSON{}
		for i := range infos {
			d := describe(&infos[i])
			d.Index = i
			list = append(list, d)
		}
		return a.writeJSON(list)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INDEX\tNAME\tKIND\tBACKEND\tDRIVER\tMEMORY\tUUID")
	for i := range infos {
		d := &infos[i]
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", i, d.Name, d.Kind, d.Backend, d.Driver, mebibytes(d.Memory), d.UUID)
	}
	return w.Flush()
}

func mebibytes(n int64) string {
	if n < 10<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d GiB", n>>30)
}
