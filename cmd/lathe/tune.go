package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

type tuneCmd struct {
	Op    []string `name:"op" placeholder:"NAME" complete:"@ops" help:"Only this operation, of those \"lathe ops\" lists. For several, repeat the flag or separate them with commas."`
	DType []string `name:"dtype" placeholder:"TYPE" complete:"@dtypes" help:"Element type of the inputs, such as f32 or f16. For several, repeat the flag or separate them with commas. Default: all types of each operation."`
	Out   string   `short:"o" placeholder:"FILE" complete:"@files" help:"Also write the choices to a file, for lathe.WithTuning."`
	Show  bool     `help:"Measure nothing. Print the choices that are remembered on this machine, for all devices."`
}

// Help is the long help.
func (tuneCmd) Help() string {
	return `Some operations have several strategies. Which one is best depends on the device and on the sizes. This command measures them at everyday sizes and remembers the best one for every program on this machine. It measures all of them, also those that are remembered already.

The environment variable LATHE_TUNE says how programs use the choices: off ignores them, cached (the default) uses them, and full also measures calls that have no choice yet.`
}

func (c *tuneCmd) deviceless() string {
	if c.Show {
		return "with --show"
	}
	return ""
}

// tuneJSON is a measurement in JSON output.
type tuneJSON struct {
	Call       string     `json:"call"`
	Strategy   string     `json:"strategy"`
	Gain       float64    `json:"gain"` // time of the plan's own strategy divided by that of the best one
	Strategies []timeJSON `json:"strategies"`
}

type timeJSON struct {
	Strategy string  `json:"strategy"`
	Seconds  float64 `json:"seconds"`
}

// Run does it.
func (c *tuneCmd) Run(a *app) error {
	if c.Show {
		if len(c.Op) > 0 || len(c.DType) > 0 || c.Out != "" {
			return usage("--show measures nothing, and cannot be combined with other flags of tune")
		}
		return showChoices(a, a.tuningFile())
	}
	ops, err := offeredOps(c.Op)
	if err != nil {
		return err
	}
	cases, err := c.benchCases(ops)
	if err != nil {
		return err
	}
	if c.Out != "" { // report it before minutes of work
		if err := writable(c.Out); err != nil {
			return usage("cannot write %s: %v", c.Out, reason(err))
		}
	}
	ses, err := a.openSession(tune.Full.String())
	if err != nil {
		return err
	}
	defer ses.Close()
	found, single, err := measureAll(a, ses, cases)
	if err != nil {
		return err
	}
	if len(single) > 0 && (len(ops) > 0 || len(found) == 0) {
		a.note("lathe: nothing to measure: on %s there is only one strategy of %s", ses.Info().Name, strings.Join(single, ", "))
	}
	if c.Out != "" {
		if err := os.WriteFile(c.Out, tune.Format(ses.Tuning().Choices()), 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %w", c.Out, reason(err))
		}
	}
	if a.cli.JSON {
		return a.writeJSON(found)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tBEST\tGAIN\tTIMES")
	for _, f := range found {
		var times []string
		for _, timing := range f.Strategies {
			times = append(times, fmt.Sprintf("%s %v", timing.Strategy, time.Duration(timing.Seconds*1e9).Round(100*time.Nanosecond)))
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\n", f.Call, f.Strategy, f.Gain, strings.Join(times, ", "))
	}
	return w.Flush()
}

// benchCases are the calls to measure: those of the bench, of all dtypes.
func (c *tuneCmd) benchCases(ops []*spec.Op) ([]spec.BenchCase, error) {
	var only []tensor.DType
	for _, s := range c.DType {
		d, ok := tensor.ParseDType(strings.ToLower(s))
		if !ok {
			return nil, usage("no element type is named %q; there are %s", s, names(tensor.DTypes()))
		}
		only = append(only, d)
	}
	named := ops != nil
	if !named {
		ops = spec.All()
	}
	var cases []spec.BenchCase
	for _, op := range ops {
		if op.Strategies == nil || op.Cases.Bench == nil {
			if named {
				return nil, usage("%s has one strategy only", op.Name)
			}
			continue
		}
		for _, d := range op.Cases.DTypes {
			if only == nil || slices.Contains(only, d) {
				cases = append(cases, op.Cases.Bench(d)...)
			}
		}
	}
	if len(cases) == 0 {
		return nil, usage("none of these operations takes %s", names(only))
	}
	return cases, nil
}

// measureAll measures bench cases on a device, each class once. single has the names of
// operations that have one strategy only on this device.
func measureAll(a *app, ses *session.Session, cases []spec.BenchCase) (found []tuneJSON, single []string, err error) {
	if ses.Info().Kind == gpu.CPU {
		cases = slices.DeleteFunc(cases, func(w spec.BenchCase) bool { return w.GPU })
	}
	step, stop := a.progressBar(len(cases))
	defer stop()
	seen, measured := map[string]bool{}, map[string]bool{}
	found = []tuneJSON{}
	for _, w := range cases {
		name := w.Call.Spec().Name
		key := string(spec.AppendClass([]byte(name+" "), w.Call, w.In))
		if !seen[key] {
			seen[key] = true
			t, err := ses.Tune(a.ctx, w.Call, w.In)
			switch {
			case errors.Is(err, errs.ErrUnsupported) || errors.Is(err, errs.ErrLimit) || w.GPU && errors.Is(err, errs.ErrOutOfMemory):
			case err != nil:
				return nil, nil, err
			case t == nil:
				if !slices.Contains(single, name) {
					single = append(single, name)
				}
			default:
				measured[name] = true
				row := tuneJSON{Call: t.Call, Strategy: t.Strategy, Gain: t.Gain()}
				for _, timing := range t.Timings {
					row.Strategies = append(row.Strategies, timeJSON{timing.Strategy, timing.Time.Seconds()})
				}
				found = append(found, row)
			}
		}
		step()
	}
	single = slices.DeleteFunc(single, func(name string) bool { return measured[name] })
	return found, single, nil
}

// showChoices prints the choices that are remembered.
func showChoices(a *app, path string) error {
	list := tune.Stored(path)
	if a.cli.JSON {
		if list == nil {
			list = []tune.Choice{}
		}
		return a.writeJSON(list)
	}
	if len(list) == 0 {
		a.note("lathe: nothing is remembered yet; \"lathe tune\" measures")
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CALL\tBEST\tGAIN\tBACKEND\tDEVICE\tDRIVER\tABI")
	for _, c := range list {
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\t%s\t%s\t%s\n", c.Call, c.Strategy, c.Gain, c.Backend, c.Name, c.Driver, c.ABI)
	}
	return w.Flush()
}
