// Command lathe runs compute shaders on GPUs, by Vulkan or WebGPU, and on the processor. It
// filters photographs, runs any SPIR-V file, and finds out why a GPU cannot be used.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/lathe-gpu/lathe/internal/batch"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Exit codes; the help text lists them.
const (
	exitOK          = 0
	exitFailed      = 1 // some files, or the command itself, failed
	exitUsage       = 2
	exitNoDevice    = 3
	exitNothing     = 4 // no input matched
	exitVerify      = 5
	exitSlower      = 6
	exitInterrupted = 130
)

const description = `Lathe runs compute shaders on a GPU, by Vulkan or WebGPU. Without a GPU it runs them on the processor, and needs no driver.

Exit codes:
  0  done
  1  some files failed, or the command did; lathe compare: pictures differ by more than the limits
  2  the command line is wrong; lathe compare: or pictures could not be compared
  3  the device or the backend that was asked for is not here: run "lathe doctor"
  4  nothing to do: no input matched
  5  lathe verify found wrong results
  6  lathe bench --compare found calls that have become slower
  130  interrupted`

// cli is the command line. The tag uses lists the flags of all commands that a command
// obeys; without it, these are all.
type cli struct {
	Device     string `group:"device" short:"d" placeholder:"SEL" help:"Device to use: cpu for the processor, or index, part of the name, or UUID, as \"lathe devices\" lists them. The environment variable LATHE_DEVICE does the same. Default: the best GPU, or else the processor."`
	Backend    string `group:"device" placeholder:"NAME" complete:"vk,wgpu,cpu,auto" help:"Backend: vk (Vulkan), wgpu (WebGPU), cpu (the processor, without a driver) or auto. The environment variable LATHE_BACKEND does the same. Default: auto, which takes a GPU by vk, or else one by wgpu, or else cpu."`
	Validation bool   `group:"device" help:"Turn on the Vulkan validation layers (they must be installed)."`
	NoCache    bool   `group:"device" help:"Do not keep compiled pipelines or the choices of lathe tune on disk."`
	Trace      string `group:"device" placeholder:"FILE" complete:"@files" help:"Write a trace of the device's work, for chrome://tracing or ui.perfetto.dev. It replaces an earlier trace, but no other file."`

	JSON        bool        `group:"common" name:"json" help:"Print the result as JSON on standard output."`
	Quiet       bool        `group:"common" help:"Print no messages but errors. The environment variable LATHE_QUIET=1 does the same."`
	Color       string      `group:"common" placeholder:"WHEN" enum:"auto,always,never" default:"auto" help:"Colour: always, never, or auto, which means on a terminal, unless the environment variable NO_COLOR is set. Default: auto."`
	ShowVersion versionFlag `group:"common" name:"version" help:"Print the version, as \"lathe version\" does."`

	Image      imageCmd      `cmd:"" help:"Apply operations to pictures."`
	Compare    compareCmd    `cmd:"" help:"Measure how far pictures are apart."`
	Sheet      sheetCmd      `cmd:"" aliases:"montage" help:"Make contact sheets: thumbnails in a grid."`
	Ops        opsCmd        `cmd:"" uses:"json" help:"List the operations."`
	Devices    devicesCmd    `cmd:"" uses:"backend,json" help:"List the devices."`
	Doctor     doctorCmd     `cmd:"" help:"Find out which devices work here, and how to repair what does not."`
	Verify     verifyCmd     `cmd:"" help:"Check every operation on this machine against its reference."`
	Bench      benchCmd      `cmd:"" help:"Measure how near every operation comes to the limits of the device."`
	Tune       tuneCmd       `cmd:"" help:"Measure which strategy of each operation is best on this device, and remember it."`
	Dispatch   dispatchCmd   `cmd:"" help:"Run a SPIR-V compute shader."`
	Graph      graphCmd      `cmd:"" uses:"device,backend,validation,no-cache,json" help:"Show what graphs of operations become."`
	ABI        abiCmd        `cmd:"" uses:"json" name:"abi" help:"Print the ABI text, which lists all operations and kernels, and its fingerprint."`
	Completion completionCmd `cmd:"" uses:"none" help:"Print the script with which a shell completes commands, flags and operations."`
	Man        manCmd        `cmd:"" uses:"none" help:"Print the manual page."`
	Version    versionCmd    `cmd:"" uses:"json" help:"Print the version."`
	Help       helpCmd       `cmd:"" uses:"none" help:"Print the help of a command."`
}

// app has what every command needs: where to read and write, and the common flags.
type app struct {
	ctx    context.Context
	out    *bytes.Buffer // standard output, written when the command is done
	stderr io.Writer
	cli    *cli
	model  *kong.Application // the tables of the command line
	quiet  bool              // no messages but errors
	given  map[string]bool   // the flags of the command line, by name
	colour colours
	trace  *traceFile
}

// say writes a line to standard error, whether it is wanted or not. Data goes to out.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.stderr, format+"\n", args...) }

// note writes a line that is no error for the user to standard error.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.say(format, args...)
	}
}

// foreign reports whether a file of a folder is in a format that Lathe does not read. It names the
// file to the user.
func (a *app) foreign(f batch.Found) bool {
	if !errors.Is(f.Err, batch.ErrForeign) {
		return false
	}
	a.note("%s: %v, it is left out", f.Path, f.Err)
	return true
}

// fail writes an error to standard error.
func (a *app) fail(format string, args ...any) {
	a.say(a.colour.stderr(red, "lathe:")+" "+format, args...)
}

// coded is an error with its exit code. If the error inside is nil, there is no more to
// print.
type coded struct {
	code int
	err  error
}

func (c coded) Error() string {
	if c.err == nil {
		return ""
	}
	return c.err.Error()
}

func (c coded) Unwrap() error { return c.err }

// usage is the error of a command line that cannot be carried out.
func usage(format string, args ...any) error {
	return coded{exitUsage, fmt.Errorf(format, args...)}
}

// exitCode is the exit code for the error that a command returned.
func exitCode(err error) int {
	var c coded
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &c):
		return c.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errs.ErrNoDevice):
		return exitNoDevice
	}
	return exitFailed
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	// A closed pipe is an error of the write, not the end of the program:
	// there may be half-written files to remove.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		<-signals
		stop()
		<-signals // the next one ends the program at once, even if the shell ignores the signal
		os.Exit(exitInterrupted)
	}()
	a := &app{ctx: ctx, out: new(bytes.Buffer), stderr: os.Stderr, cli: &cli{}, colour: newColours("auto")}
	err := a.command(args)
	code := exitCode(err)
	if _, werr := os.Stdout.Write(a.out.Bytes()); werr != nil && a.out.Len() > 0 && code == exitOK {
		code = exitFailed
		if !closedPipe(werr) { // the reader has closed the pipe itself
			a.fail("cannot write to standard output: %v", reason(werr))
		}
	}
	if err != nil && err.Error() != "" {
		a.fail("%s", plain(err))
	}
	return code
}

// reason drops the file name from an error of package os.
func reason(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// plain is the text of an error for the command line. It leaves out the names of packages.
func plain(err error) string {
	text := err.Error()
	for _, p := range []string{"spec: parse: ", "batch: plan: ", "batch: run: ", "imageio: check size: ", "lathe: "} {
		text = strings.TrimPrefix(text, p)
	}
	text = strings.Replace(text, "gpu: dispatch compute: ", "", 1)
	if errors.Is(err, errs.ErrNoDevice) && !strings.Contains(text, "doctor") {
		text += "\nRun \"lathe doctor\" to find out why."
	}
	return text
}

// quit ends parsing after kong has printed the help.
type quit int

// command parses the command line and runs the command. A panic is a mistake of Lathe. It is
// reported as an internal error, without a stack trace.
func (a *app) command(args []string) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil, quit:
		default:
			err = fmt.Errorf("internal error: %v; please report it at https://github.com/lathe-gpu/lathe/issues with the command line", p)
		}
	}()
	parser, err := a.parser()
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == completer {
		a.complete(args[1:])
		return nil
	}
	if len(args) == 0 {
		args = []string{"--help"}
		defer func() {
			io.Copy(a.stderr, a.out)
			if err == nil {
				err = coded{exitUsage, nil}
			}
		}()
	}
	kctx, err := parser.Parse(args)
	if err != nil {
		hint := "lathe --help"
		var p *kong.ParseError
		if errors.As(err, &p) && p.Context != nil {
			if node := p.Context.Selected(); node != nil {
				hint = commandName(node) + " --help"
			}
		}
		return usage("%w (see %q)", nearer{err}, hint)
	}
	if err := a.common(kctx); err != nil {
		return err
	}
	if a.cli.Trace != "" {
		if a.trace, err = openTrace(a.cli.Trace); err != nil {
			return err
		}
		defer func() { err = a.trace.finish(err) }()
	}
	return kctx.Run(a)
}
