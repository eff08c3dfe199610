package main

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// parser makes the parser of the command line.
func (a *app) parser() (*kong.Kong, error) {
	p, err := kong.New(a.cli,
		kong.Name("lathe"), kong.Description(description),
		kong.Writers(a.out, a.stderr),
		kong.Exit(func(int) { panic(quit(0)) }),
		kong.Help(func(o kong.HelpOptions, ctx *kong.Context) error {
			hideUnused(ctx)
			return kong.DefaultHelpPrinter(o, ctx)
		}),
		kong.ConfigureHelp(kong.HelpOptions{NoAppDescFormat: true, FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 90}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "device", Title: "Flags of every command that uses a device:"},
			{Key: "common", Title: "Flags of every command:"},
		}),
		kong.Bind(a),
	)
	if err != nil {
		return nil, err
	}
	p.Model.HelpFlag.Help = "Print this help."
	a.model = p.Model
	return p, nil
}

// common checks the flags of every command, and takes them.
func (a *app) common(ctx *kong.Context) error {
	command := ctx.Selected()
	when := ""
	if c, ok := command.Target.Addr().Interface().(deviceless); ok {
		when = c.deviceless()
	}
	a.given = map[string]bool{}
	for _, p := range ctx.Path {
		if p.Flag == nil {
			continue
		}
		a.given[p.Flag.Name] = true
		if !uses(command, p.Flag) {
			return usage("%s does not use --%s: leave it out", commandName(command), p.Flag.Name)
		}
		if when != "" && p.Flag.Group != nil && p.Flag.Group.Key == "device" {
			return usage("%s %s uses no device: leave --%s out", commandName(command), when, p.Flag.Name)
		}
	}
	if err := checkBackend("backend", a.cli.Backend); err != nil {
		return err
	}
	a.quiet = a.cli.Quiet
	if v := os.Getenv(quietEnv); v != "" {
		quiet, err := strconv.ParseBool(v)
		if err != nil {
			return usage("%s is %q; it must be 1 or 0", quietEnv, v)
		}
		a.quiet = a.quiet || quiet
	}
	a.colour = newColours(a.cli.Color)
	return nil
}

// commandName is a command with those that it belongs to, such as "lathe graph plan".
func commandName(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return commandName(n.Parent) + " " + n.Name
}

// deviceless is a command that uses no device with some of its flags. Its method says with which
// ones, such as "with --list", or "" if it uses a device this time.
type deviceless interface{ deviceless() string }

// quietEnv is the environment variable that does what --quiet does.
const quietEnv = "LATHE_QUIET"

// uses reports whether a command obeys a flag. Flags of its own it does, and those that say
// how to print.
func uses(command *kong.Node, f *kong.Flag) bool {
	list := command.Tag.Get("uses")
	if list == "" || f.Group == nil || f.Name == "quiet" || f.Name == "color" || f.Name == "version" {
		return true
	}
	return slices.Contains(strings.Split(list, ","), f.Name)
}

// hideUnused leaves the flags that a command does not use out of its help.
func hideUnused(ctx *kong.Context) {
	command := ctx.Selected()
	if command == nil {
		return
	}
	for _, f := range ctx.Model.Flags {
		f.Hidden = f.Hidden || !uses(command, f)
	}
}

// checkBackend checks the value of a flag that names a backend.
func checkBackend(flag, name string) error {
	want := "vk, wgpu or cpu"
	if flag == "backend" {
		want = "vk, wgpu, cpu or auto"
	}
	switch {
	case name == "", name == "vk", name == "wgpu", name == "cpu", name == "auto" && flag == "backend":
		return nil
	}
	return usage("--%s is %q; it must be %s", flag, name, want)
}

// versionFlag is --version.
type versionFlag bool

// BeforeReset prints the version in place of the command, which may be missing.
func (versionFlag) BeforeReset(a *app, ctx *kong.Context) error {
	a.cli.JSON = slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "json" })
	if err := (&versionCmd{}).Run(a); err != nil {
		return err
	}
	panic(quit(0))
}

type helpCmd struct {
	Command string `arg:"" optional:"" complete:"@commands" help:"The command. Default: Lathe as a whole."`
}

// Run does it.
func (c *helpCmd) Run(a *app) error {
	args := []string{c.Command, "--help"}
	if c.Command == "" {
		args = args[1:]
	} else if !slices.ContainsFunc(a.model.Children, func(n *kong.Node) bool { return n.Name == c.Command }) {
		args = args[:1] // the error of a command that there is not
	}
	a.cli = &cli{}
	return a.command(args)
}
