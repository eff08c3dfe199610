package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

type benchCmd struct {
	Op      []string `name:"op" placeholder:"NAME" complete:"@ops" help:"Only this operation, of those \"lathe ops\" lists. For several, repeat the flag or separate them with commas."`
	DType   []string `name:"dtype" placeholder:"TYPE" complete:"@dtypes" help:"Element type of the inputs, such as f32 or f16. For several, repeat the flag or separate them with commas. Default: for each operation the type that is used most, and on a GPU that multiplies matrices of f16 also f16 for products."`
	Quick   bool     `help:"Measure fewer times: a first look, in about a third of the time."`
	Compare string   `placeholder:"OLD.json" complete:"@files" help:"Compare with the JSON of an earlier run. Exit code 6 if a call has become slower."`
	HTML    string   `name:"html" placeholder:"FILE" complete:"@files" help:"Also write a page with the roofline plot. It needs no network."`
	Beside  string   `placeholder:"BACKEND" complete:"vk,wgpu,cpu" help:"Also make the same calls by this backend, vk, wgpu or cpu, in turns. It runs on the same hardware, or, if one of the two backends is cpu, on the best device of the other one."`
	Seed    uint64   `placeholder:"N" help:"Seed of the random inputs."`
}

// Help is the long help.
func (benchCmd) Help() string {
	return `The bench first measures the limits of the device: copies, multiply-adds, transfers, launches. Then every operation runs at several sizes, in turns with a copy and with multiply-adds, so that other work on the machine slows all of them alike. A discrete GPU is slowed by little, and its limits are measured once. On GPUs there are larger sizes too, and products in f16 if the GPU multiplies matrices of f16. "Of the roofline" says how near an operation comes to these limits; 1 is as fast as the device can be.

Without --op and --dtype it also runs small networks as compiled graphs, in turns with the same calls one by one. Of a small decoder it says how many tokens it draws in a second, each read before the next: call by call, as a graph, and with the calls of a step recorded and replayed.

Plans are those of a program: they use the choices of "lathe tune", unless LATHE_TUNE is off.

Save a run with --json > old.json, and compare a later one with --compare old.json.`
}

// Run does it.
func (c *benchCmd) Run(a *app) error {
	opts := bench.Options{Quick: c.Quick, Seed: c.Seed}
	err := checkBackend("beside", c.Beside)
	if err != nil {
		return err
	}
	if opts.Ops, err = offeredOps(c.Op); err != nil {
		return err
	}
	for _, s := range c.DType {
		d, ok := tensor.ParseDType(strings.ToLower(s))
		if !ok {
			return usage("no element type is named %q; there are %s", s, names(tensor.DTypes()))
		}
		opts.DTypes = append(opts.DTypes, d)
	}
	if len(opts.BenchCases(&gpu.Info{Kind: gpu.CPU})) == 0 {
		return usage("none of these operations takes %s", names(opts.DTypes))
	}
	// Files that cannot be read or written are reported before minutes of work.
	var before *bench.Report
	if c.Compare != "" {
		data, err := os.ReadFile(c.Compare)
		if err != nil {
			return usage("cannot read %s: %v", c.Compare, reason(err))
		}
		if before, err = bench.Parse(data); err != nil {
			return usage("cannot compare with %s: %s", c.Compare, strings.TrimPrefix(err.Error(), "bench: parse: "))
		}
	}
	if c.HTML != "" {
		if err := writable(c.HTML); err != nil {
			return usage("cannot write %s: %v", c.HTML, reason(err))
		}
	}
	ses, err := a.openSession("")
	if err != nil {
		return err
	}
	defer ses.Close()
	dev := ses.GPU()
	opts.Plan = []exec.Option{exec.WithTuning(ses.Tuning())}
	if c.Beside != "" {
		if c.Beside == dev.Info().Backend {
			return usage("the device is reached by %s already; --beside takes another backend", c.Beside)
		}
		other, err := a.beside(c.Beside, dev.Info())
		if err != nil {
			return err
		}
		defer other.Close()
		opts.Beside = other
	}
	step, stop := func() {}, func() {}
	opts.Progress = func(done, total int, _ string) {
		if done == 0 {
			step, stop = a.progressBar(total)
			return
		}
		step()
	}
	rep, err := bench.Run(a.ctx, dev, opts)
	if err == nil && len(c.Op) == 0 && len(c.DType) == 0 {
		if rep.Graphs, err = benchGraphs(a.ctx, dev, &opts); err == nil {
			rep.Decoders, err = benchDecoders(a.ctx, dev, &opts)
		}
	}
	stop()
	if rep == nil || len(rep.Rows) == 0 {
		return err
	}
	shown := c.print(a, rep, before) // what was done before the error
	return cmp.Or(err, shown)
}

// beside opens the device of another backend that is measured beside info: the same
// hardware, or the best device if one of the two backends is cpu.
func (a *app) beside(backend string, info *gpu.Info) (gpu.Device, error) {
	selector := info.Name
	switch {
	case backend == drivers.CPU:
		selector = drivers.CPU
	case info.Backend == drivers.CPU:
		infos, err := drivers.List(a.ctx, backend)
		if err != nil {
			return nil, err
		}
		best, err := gpu.Rank(infos, "")
		if err != nil {
			return nil, err
		}
		selector = infos[best[0]].UUID.String()
	}
	return drivers.Open(a.ctx, drivers.Options{Backend: backend, Device: selector, NoCache: a.cli.NoCache, Warn: func(string) {}})
}

// offeredOps looks up operations by name or alias.
func offeredOps(names []string) ([]*spec.Op, error) {
	var ops []*spec.Op
	for _, name := range names {
		op, err := spec.ParseOp(name)
		if err != nil {
			return nil, coded{exitUsage, err}
		}
		if !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	return ops, nil
}

func (c *benchCmd) print(a *app, rep, before *bench.Report) error {
	if c.HTML != "" {
		f, err := os.Create(c.HTML)
		if err == nil {
			err = rep.WriteHTML(f)
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", c.HTML, reason(err))
		}
	}
	if a.cli.JSON {
		data, err := rep.JSON()
		if err != nil {
			return err
		}
		a.out.Write(append(data, '\n'))
	} else if err := rep.WriteText(a.out); err != nil {
		return err
	}
	if before == nil {
		return nil
	}
	// With --json, standard output stays one JSON document.
	w := a.stderr
	if !a.cli.JSON {
		w = a.out
		fmt.Fprintln(w)
	}
	changes := bench.Compare(before, rep)
	if len(changes) == 0 {
		return fmt.Errorf("%w: %s has no call in common with this run", errs.ErrInvalidArgument, c.Compare)
	}
	n, err := bench.WriteChanges(w, before, rep, changes)
	if err == nil && n > 0 {
		err = coded{exitSlower, nil}
	}
	return err
}

// names lists element types.
func names(ds []tensor.DType) string {
	var s []string
	for _, d := range ds {
		s = append(s, d.String())
	}
	return strings.Join(s, ", ")
}

// writable returns an error if a file cannot be created. It does not change a file that
// exists.
func writable(name string) error {
	_, err := os.Stat(name)
	existed := err == nil
	f, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	f.Close()
	if !existed {
		return os.Remove(name)
	}
	return nil
}
