package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/conformance"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/spec"
)

type verifyCmd struct {
	Full bool     `help:"Also test with very small limits and with the plans for other devices. This takes minutes instead of seconds."`
	Op   []string `name:"op" placeholder:"NAME" complete:"@ops" help:"Only this operation, of those \"lathe ops\" lists. For several, repeat the flag or separate them with commas."`
	Part string   `placeholder:"I/N" help:"Only part I of N parts of about equal length, from 1/N to N/N. Each part has cases of every operation."`
	Seed uint64   `placeholder:"N" help:"Seed of the random inputs."`

	Hash    bool   `help:"Print hashes of the results instead, a line for each operation and element type. On the device \"cpu\", which is then the default, they are the same on every machine."`
	Compare string `placeholder:"FILE" complete:"@files" help:"With --hash: compare with the list in a file, or with the list of this version if FILE is \"published\". Hashes that differ are on standard error, and the exit code is 5."`
}

// Help is the long help.
func (verifyCmd) Help() string {
	return `Each operation runs on the device at awkward sizes, with guard zones around its memory. The results are compared with a float64 reference. A known bug of a driver counts as expected. A failure is a mistake of Lathe or of the driver: please report the output, and that of "lathe doctor".`
}

// Run does it.
func (c *verifyCmd) Run(a *app) error {
	opts := conformance.Options{Quick: !c.Full, Seed: c.Seed}
	for _, name := range c.Op {
		op := spec.Lookup(strings.ToLower(name))
		if op == nil {
			var err error
			if op, err = spec.ParseOp(name); err != nil {
				return coded{exitUsage, err}
			}
		}
		if !slices.Contains(opts.Ops, op) {
			opts.Ops = append(opts.Ops, op)
		}
	}
	var err error
	if opts.Part, opts.Parts, err = partOf(c.Part); err != nil {
		return err
	}
	switch {
	case c.Hash && (c.Full || c.Seed != 0):
		return usage("--hash has fixed inputs: it does not go with --full and --seed")
	case c.Hash:
		return c.hash(a, conformance.HashOptions{Ops: opts.Ops, Part: opts.Part, Parts: opts.Parts})
	case c.Compare != "":
		return usage("--compare needs --hash")
	}
	if opts.Expect, err = conformance.Known(); err != nil {
		return err
	}
	ses, err := a.openSession(tune.Off.String())
	if err != nil {
		return err
	}
	defer ses.Close()
	if a.trace != nil {
		opts.Trace = a.trace.trace.Begin
	}
	step, stop := func() {}, func() {}
	opts.Progress = func(done, total int, _ string) {
		if done == 1 {
			step, stop = a.progressBar(total)
		}
		step()
	}
	rep, err := conformance.Run(a.ctx, ses.GPU(), opts)
	stop()
	if err != nil {
		if rep != nil {
			io.WriteString(a.out, a.colourReport(rep.String())) // what was done before the error
		}
		return err
	}
	rep.Stale = nil // a driver whose bug is gone is no failure here
	if a.cli.JSON {
		data, err := rep.JSON()
		if err != nil {
			return err
		}
		a.out.Write(append(data, '\n'))
	} else {
		io.WriteString(a.out, a.colourReport(rep.String()))
	}
	if !rep.OK() {
		return coded{exitVerify, fmt.Errorf("%d of %d cases failed", rep.Count(conformance.Fail), len(rep.Rows))}
	}
	return nil
}

// colourReport colours the lines of a report that tell of failures, and its last line.
func (a *app) colourReport(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for word, k := range map[string]colour{"FAIL": red, "EXPECTED": yellow} {
			if rest, ok := strings.CutPrefix(line, word+" "); ok {
				line = a.colour.stdout(k, word) + " " + rest
			}
		}
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

// partOf reads I/N. It returns the part, counted from 0, and the number of parts. "" means
// all cases.
func partOf(text string) (part, parts int, err error) {
	if text == "" {
		return 0, 1, nil
	}
	i, n, _ := strings.Cut(text, "/")
	part, err = strconv.Atoi(i)
	if err == nil {
		parts, err = strconv.Atoi(n)
	}
	if err != nil || part < 1 || part > parts {
		return 0, 0, coded{exitUsage, fmt.Errorf("--part %q (want I/N, from 1/N to N/N)", text)}
	}
	return part - 1, parts, nil
}
