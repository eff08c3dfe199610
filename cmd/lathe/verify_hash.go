package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
)

// published is the argument of --compare for the list that the program has with it.
const published = "published"

// hash prints the hashes of results, and compares them with a list.
func (c *verifyCmd) hash(a *app, opts conformance.HashOptions) error {
	var want conformance.Hashes
	if c.Compare != "" {
		var err error
		if want, err = readHashes(c.Compare); err != nil {
			return err
		}
	}
	dev, closeDevice, err := a.openForHashes()
	if err != nil {
		return err
	}
	defer closeDevice()
	step, stop := func() {}, func() {}
	opts.Progress = func(done, total int, _ string) {
		if done == 1 {
			step, stop = a.progressBar(total)
		}
		step()
	}
	got, err := conformance.HashResults(a.ctx, dev, opts)
	stop()
	if err != nil {
		return err
	}
	if a.cli.JSON {
		if err := a.writeJSON(got); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "# Results on the device %s, by lathe verify --hash.\n", dev.Info().Backend)
		io.WriteString(a.out, got.String())
	}
	if c.Compare == "" {
		return nil
	}
	list := got.Differences(want)
	for _, line := range list {
		a.say("%s", line)
	}
	if len(list) > 0 {
		return coded{exitVerify, fmt.Errorf("results that differ from the list %s: %d", c.Compare, len(list))}
	}
	a.note("lathe: the same results as in the list %s", c.Compare)
	return nil
}

// readHashes reads the list to compare with.
func readHashes(file string) (conformance.Hashes, error) {
	if file == published {
		return conformance.PublishedHashes()
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("--compare %s: %v", file, reason(err))
	}
	list, err := conformance.ParseHashes(string(text))
	if err != nil {
		return nil, usage("--compare %s: %w", file, err)
	}
	return list, nil
}

// openForHashes opens the device whose results are the same everywhere, unless the user
// has selected one.
func (a *app) openForHashes() (dev gpu.Device, closeDevice func() error, err error) {
	if cmp.Or(a.cli.Device, a.cli.Backend, os.Getenv("LATHE_DEVICE"), os.Getenv("LATHE_BACKEND")) == "" {
		if dev, err = drivers.Open(a.ctx, drivers.Options{Backend: drivers.CPU, NoCache: a.cli.NoCache, Warn: a.warn}); err != nil {
			return nil, nil, err
		}
		return dev, dev.Close, nil
	}
	ses, err := a.openSession(tune.Off.String())
	if err != nil {
		return nil, nil, err
	}
	return ses.GPU(), ses.Close, nil
}
