package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/networks"
	"github.com/lathe-gpu/lathe/internal/planview"
)

type graphCmd struct {
	Plan    graphPlanCmd    `cmd:"" uses:"device,backend,validation,no-cache,json" help:"Show what a run of a graph would do: its launches, its memory, and what is fused."`
	Example graphExampleCmd `cmd:"" uses:"none" help:"Print a small network as a graph in JSON, to try the other command with."`
}

// Help is the long help.
func (graphCmd) Help() string {
	return `A graph is operations on tensors that are compiled once and run as one submission. Programs build graphs, and write them as JSON with json.Marshal.

Examples:
  lathe graph example block > block.json
  lathe graph plan block.json
  lathe graph plan block.json --html block.html`
}

type graphPlanCmd struct {
	File    string   `arg:"" complete:"@files" help:"A graph as JSON; or - for one from standard input."`
	HTML    string   `name:"html" placeholder:"FILE" complete:"@files" help:"Also write a page with a picture of the plan and its tables. The page works offline."`
	SVG     string   `name:"svg" placeholder:"FILE" complete:"@files" help:"Also write the picture alone."`
	Without []string `placeholder:"PASS" complete:"@passes" help:"Leave a pass of the compiler out, such as fuse. For several, repeat the flag or separate them with commas."`
	Strict  bool     `help:"Round results of 16 bits inside of a launch as single calls do."`
}

// Help is the long help.
func (graphPlanCmd) Help() string {
	return `The command compiles the graph for the device, and runs nothing. It takes no memory on the device. With --device cpu it needs no driver.

A row of the table is a call: its kernels, the arithmetic and memory traffic that it needs at least, and where its operands lie. The lines at the end sum up: how much memory the arena has, beside the least for this order of the calls, and which calls could share a launch and do not.`
}

// graphPlanJSON is a plan as JSON.
type graphPlanJSON struct {
	Device deviceJSON  `json:"device"`
	Plan   *graph.Plan `json:"plan"`
}

// Run does it.
func (c *graphPlanCmd) Run(a *app) error {
	var passes []string
	for _, p := range graph.Passes() {
		passes = append(passes, p.Name)
	}
	for _, name := range c.Without {
		if !slices.Contains(passes, name) {
			return usage("no pass is named %q; there are %s", name, strings.Join(passes, ", "))
		}
	}
	if c.HTML != "" && c.HTML == c.SVG {
		return usage("--html and --svg have the same file, %s", c.HTML)
	}
	g, err := c.read()
	if err != nil {
		return err
	}
	for _, name := range []string{c.HTML, c.SVG} {
		switch name {
		case "":
			continue
		case standard:
			return usage("a picture is written to a file, not to %s", standard)
		}
		if err := writable(name); err != nil {
			return usage("cannot write %s: %v", name, reason(err))
		}
	}
	dev, err := a.open()
	if err != nil {
		return err
	}
	defer dev.Close()
	p, err := dev.PlanGraph(g, graph.Options{Without: c.Without, Strict: c.Strict})
	if errors.Is(err, errs.ErrInvalidArgument) && !errors.Is(err, errs.ErrGraphRefused) {
		return coded{exitUsage, err}
	}
	if err != nil {
		return err
	}
	info := dev.Info()
	device, title := fmt.Sprintf("%s by %s", info.Name, info.Backend), strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	if c.File == standard {
		title = "graph"
	}
	if c.SVG != "" {
		if err := writeTo(c.SVG, func(w io.Writer) error { return planview.WriteSVG(w, p, title) }); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		if err := writeTo(c.HTML, func(w io.Writer) error { return planview.WriteHTML(w, p, title, device) }); err != nil {
			return err
		}
	}
	if a.cli.JSON {
		return a.writeJSON(graphPlanJSON{a.inUse(info), p})
	}
	fmt.Fprintf(a.out, "device   %s\n%v", device, p)
	return nil
}

// read reads the graph.
func (c *graphPlanCmd) read() (*graph.Graph, error) {
	var data []byte
	var err error
	if c.File == standard {
		data, err = io.ReadAll(os.Stdin)
	} else {
		data, err = os.ReadFile(c.File)
	}
	if err != nil {
		return nil, usage("%s: %w", c.File, reason(err))
	}
	g := graph.New()
	if err := g.UnmarshalJSON(data); err != nil { // by itself, to say at which byte
		return nil, usage("%s is no graph: %s", c.File, strings.TrimPrefix(err.Error(), "mir: "))
	}
	return g, nil
}

// writeTo writes a file.
func writeTo(name string, write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, reason(err))
	}
	return nil
}

type graphExampleCmd struct {
	Name string `arg:"" complete:"chain,mlp,block,cnn" help:"The network: chain (eight elementwise calls), mlp (a perceptron), block (a block of a transformer) or cnn (two convolutions)."`
}

// Run does it.
func (c *graphExampleCmd) Run(a *app) error {
	i := slices.IndexFunc(networks.All, func(n networks.Network) bool { return n.Name == c.Name })
	if i < 0 {
		var names []string
		for _, n := range networks.All {
			names = append(names, n.Name)
		}
		return usage("no example is named %q; there are %s", c.Name, strings.Join(names, ", "))
	}
	data, err := networks.All[i].Build().MarshalJSON()
	if err != nil {
		return err
	}
	a.out.Write(append(data, '\n'))
	return nil
}
