package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/drivers"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

type opsCmd struct {
	Group string `placeholder:"NAME" complete:"@groups" help:"Only this group, such as image."`
}

// Help is the long help.
func (opsCmd) Help() string {
	return `Operations of the group image work with "lathe image --op". Operations on tensors are called from Go. "lathe verify --op" checks any of them. Attributes are written name=value. Names may be left out where the list says "in short": "blur sigma=3", "blur 3".`
}

// opJSON is an operation in JSON output.
type opJSON struct {
	Name    string     `json:"name"`
	Group   string     `json:"group"`
	Aliases []string   `json:"aliases"`
	Doc     string     `json:"doc"`
	DTypes  []string   `json:"dtypes"` // element types
	Short   []string   `json:"short"`  // calls without names of attributes, such as "blur SIGMA"
	Attrs   []attrJSON `json:"attributes"`
}

type attrJSON struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
	ONNX    string `json:"onnx,omitempty"`
}

// Run does it.
func (c *opsCmd) Run(a *app) error {
	groups, byGroup := offered()
	if c.Group != "" {
		if byGroup[c.Group] == nil {
			return usage("no group is named %q; there are %s", c.Group, strings.Join(groups, ", "))
		}
		groups = []string{c.Group}
	}
	if a.cli.JSON {
		list := []opJSON{}
		for _, g := range groups {
			for _, op := range byGroup[g] {
				row := opJSON{Name: op.Name, Group: g, Aliases: append([]string{}, op.Aliases...), Short: append([]string{}, op.Short()...), Doc: op.Doc, Attrs: []attrJSON{}}
				for _, d := range op.Cases.DTypes {
					row.DTypes = append(row.DTypes, d.String())
				}
				for _, t := range op.Attrs() {
					row.Attrs = append(row.Attrs, attrJSON(t))
				}
				list = append(list, row)
			}
		}
		return a.writeJSON(list)
	}
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "%s:\n", g)
		w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		for _, op := range byGroup[g] {
			name := op.Name
			if len(op.Aliases) > 0 {
				name += " (" + strings.Join(op.Aliases, ", ") + ")"
			}
			fmt.Fprintf(w, "%s\t%s\n", name, summary(op.Doc))
			if short := op.Short(); len(short) > 0 {
				fmt.Fprintf(w, "    in short\t%s\n", strings.Join(short, ", "))
			}
			for _, t := range op.Attrs() {
				fmt.Fprintf(w, "    %s=%s\t%s\n", t.Name, cmp.Or(t.Default, "(must be given)"), t.Doc)
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// offered lists the operations that have a name, by group.
func offered() (groups []string, byGroup map[string][]*spec.Op) {
	byGroup = map[string][]*spec.Op{}
	for _, op := range spec.All() {
		if op.Offered() {
			byGroup[op.Group] = append(byGroup[op.Group], op)
		}
	}
	return slices.Sorted(maps.Keys(byGroup)), byGroup
}

// summary is the first sentence.
func summary(doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	if i := strings.Index(doc, ". "); i >= 0 {
		doc = doc[:i+1]
	}
	return doc
}

type abiCmd struct {
	Fingerprint bool `help:"Print the fingerprint only."`
}

// Help is the long help.
func (abiCmd) Help() string {
	return `The text lists every element type, every operation, and every kernel with its bindings, its parameters and the hash of its shader. The fingerprint of the text is kept with the shaders. Lathe compares it when it opens a device.`
}

// Run does it.
func (c *abiCmd) Run(a *app) error {
	t, err := spec.Table(spec.All(), spirv.Names(), spirv.Module)
	if err != nil {
		return err
	}
	text := t.Text()
	print := abi.Fingerprint(text)
	switch {
	case a.cli.JSON:
		return a.writeJSON(struct {
			Fingerprint string `json:"fingerprint"`
			Built       string `json:"built"` // the fingerprint that was built with the shaders
			Text        string `json:"text"`
		}{fmt.Sprintf("%016x", print), fmt.Sprintf("%016x", spirv.Fingerprint()), text})
	case c.Fingerprint:
		fmt.Fprintf(a.out, "%016x\n", print)
	default:
		fmt.Fprintf(a.out, "%sfingerprint %016x\n", text, print)
	}
	return nil
}

type versionCmd struct{}

// Run does it.
func (c *versionCmd) Run(a *app) error {
	v := struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		System  string `json:"system"`
		ABI     string `json:"abi"`
		// Backends are those built in.
		Backends []string `json:"backends"`
	}{programVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, fmt.Sprintf("%016x", spirv.Fingerprint()), drivers.Built()}
	if a.cli.JSON {
		return a.writeJSON(v)
	}
	fmt.Fprintf(a.out, "lathe %s %s %s abi %s backends %s\n", v.Version, v.Go, v.System, v.ABI, cmp.Or(strings.Join(v.Backends, ","), "none"))
	return nil
}

// version is set by make release: -ldflags "-X main.version=v1.2.3".
var version string

// programVersion is the version of a release, or else the one that the go command knows.
func programVersion() string {
	if version != "" {
		return version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "unknown"
}
