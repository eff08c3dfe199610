// Command bench measures Lathe beside the libraries that Go programs use today
// for images and matrices, in one run on one machine, and prints ratios; and, as "lathe
// bench" does, every operation beside what the device can do at most. It lives in a module of
// its own so that programs that use Lathe never download the others.
//
//	cd tests/peers && go run ./bench            # everything, some minutes
//	go run ./bench -quick -only ops,dispatch    # a first look
//	go run ./bench -md ../../docs/performance-log.md -json out.json
//
// Absolute times depend on the machine; the ratios are what is promised.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lathe-gpu/lathe"
	measure "github.com/lathe-gpu/lathe/internal/bench"
)

// bench is what the sections share.
type bench struct {
	ctx   context.Context
	dev   *lathe.Device
	quick bool
	seed  uint64
	dir   string // temporary files
	match string // rows of filters, matmul, blas and operations must contain this

	report *measure.Report // of all operations, once measured
}

// sections are the parts of the bench in the order they run.
var sections = []struct {
	name string
	run  func(*bench) (*table, error)
}{
	{"ops", (*bench).ops},
	{"sigma", (*bench).sigma},
	{"filters", (*bench).filters},
	{"photos", (*bench).photos},
	{"thumbnails", (*bench).thumbnails},
	{"dispatch", (*bench).dispatch},
	{"startup", (*bench).startup},
	{"matmul", (*bench).matmul},
	{"blas", (*bench).blas},
	{"ceilings", (*bench).ceilings},
	{"operations", (*bench).operations},
}

// results is what -json writes.
type results struct {
	Device  string   `json:"device"`
	Driver  string   `json:"driver"`
	CPU     string   `json:"cpu"`
	CPUs    int      `json:"cpus"`
	Go      string   `json:"go"`
	When    string   `json:"when"`
	Commit  string   `json:"commit"` // of the repository, "unknown" outside of one
	Quick   bool     `json:"quick"`
	Seconds float64  `json:"seconds"`
	Tables  []*table `json:"tables"`
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		if err := child(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", os.Args[2]+":", err)
			os.Exit(1)
		}
		return
	}
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	only := flag.String("only", "", "comma-separated sections: "+strings.Join(names, ", "))
	quick := flag.Bool("quick", false, "fewer repeats and smaller sets")
	match := flag.String("match", "", "only rows of filters, matmul, blas and operations that contain this `text`")
	jsonFile := flag.String("json", "", "write the results to this JSON `file`")
	mdFile := flag.String("md", "", "write the tables to this Markdown `file`")
	device := flag.String("device", "", "device index, name or uuid (default $LATHE_DEVICE, else the best)")
	seed := flag.Uint64("seed", 1, "seed of the generated pictures")
	flag.Parse()
	b := &bench{quick: *quick, seed: *seed, match: *match}
	if err := b.runAll(*only, names, *jsonFile, *mdFile, *device); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) runAll(only string, names []string, jsonFile, mdFile, device string) error {
	chosen := names
	if only != "" {
		chosen = strings.Split(only, ",")
		for _, c := range chosen {
			if !slices.Contains(names, c) {
				return fmt.Errorf("no section %q (have %s)", c, strings.Join(names, ", "))
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "lathe-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if device != "" {
		os.Setenv("LATHE_DEVICE", device) // children read it too
	}
	dev, err := lathe.Open(ctx)
	if err != nil {
		return err
	}
	defer dev.Close()
	b.ctx, b.dev, b.dir = ctx, dev, dir
	info := dev.Info()
	start := time.Now()
	r := &results{Device: info.Name, Driver: info.Driver, CPU: measure.CPUName(), CPUs: runtime.GOMAXPROCS(0), Go: runtime.Version(),
		When: start.UTC().Format("2006-01-02"), Commit: commit(), Quick: b.quick}
	fmt.Print(r.heading())
	var failed []error // sections and rows; the others are measured and written
	for _, s := range sections {
		if !slices.Contains(chosen, s.name) {
			continue
		}
		t, err := s.run(b)
		if ended := ctx.Err(); ended != nil {
			return fmt.Errorf("%s: %w", s.name, ended)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", s.name, err)
			failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			continue
		}
		for _, f := range t.Failed {
			failed = append(failed, fmt.Errorf("%s: %s", s.name, f))
		}
		t.Section = s.name
		t.note("Measured on %s at commit %s with %s%s.", r.When, r.Commit, r.Go, map[bool]string{true: ", in a quick run"}[r.Quick])
		t.writeMarkdown(os.Stdout)
		r.Tables = append(r.Tables, t)
	}
	r.Seconds = time.Since(start).Seconds()
	if jsonFile != "" {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(jsonFile, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if mdFile != "" {
		if err := writeSection(mdFile, r); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// commit is the commit that is measured.
func commit() string {
	text, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func (r *results) heading() string {
	return fmt.Sprintf("Device: %s (%s). Host: %s, %d processors.\n\n", r.Device, r.Driver, r.CPU, r.CPUs)
}
