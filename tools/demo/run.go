package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// demo runs the lathe command.
type demo struct {
	lathe  string
	inputs []string
	out    string
}

// report is what the demo reads of `lathe image --json`.
type report struct {
	name   string
	Device device
	Files  []struct{ Input, Output, Status string }
	Totals struct {
		OK, Failed int
		Pixels     int64
		Seconds    float64
	}
}

type device struct{ Name, Kind, Backend, UUID string }

func (d device) String() string { return d.Name + ", " + d.Kind }

// runAll runs the pipelines one after the other, all on one device.
func (d *demo) runAll(list []pipeline) ([]report, error) {
	var runs []report
	for _, p := range list {
		r, err := d.run(p)
		if err != nil {
			return nil, err
		}
		// Naming the device from now on, so that a notice about the choice
		// appears once.
		switch {
		case r.Device.Backend == "cpu":
			os.Setenv("LATHE_DEVICE", "cpu") // loads no driver
		case r.Device.UUID != "":
			os.Setenv("LATHE_DEVICE", r.Device.UUID)
		}
		runs = append(runs, *r)
	}
	return runs, nil
}

// run runs one pipeline over all inputs, showing the command and what it says.
// Pictures that failed are in the report; none at all is an error.
func (d *demo) run(p pipeline) (*report, error) {
	args := []string{"image"}
	shown := []string{d.lathe, "image"}
	for _, op := range p.ops {
		args = append(args, "--op", op)
		shown = append(shown, "--op", quoted(op))
	}
	folder := filepath.Join(d.out, p.name)
	args = append(args, "--out", folder)
	shown = append(shown, "--out", folder)
	if len(d.inputs) == 1 {
		shown = append(shown, d.inputs[0])
	} else {
		shown = append(shown, "...")
	}
	fmt.Printf("\n$ %s\n", strings.Join(shown, " "))

	var stdout bytes.Buffer
	cmd := exec.Command(d.lathe, append(append(args, "--force", "--json"), d.inputs...)...)
	cmd.Stdout, cmd.Stderr = &stdout, os.Stdout
	failed := cmd.Run()
	r := report{name: p.name}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		if failed != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(shown, " "), failed)
		}
		return nil, fmt.Errorf("%s: its report: %w", strings.Join(shown, " "), err)
	}
	if r.Totals.OK == 0 {
		return nil, errors.New("no picture was done")
	}
	return &r, nil
}

// quoted puts quotes around what a shell would split.
func quoted(s string) string {
	if strings.ContainsRune(s, ' ') {
		return `"` + s + `"`
	}
	return s
}
