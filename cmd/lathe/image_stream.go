package main

import (
	"cmp"
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/term"

	"github.com/lathe-gpu/lathe/internal/batch"
)

// standard stands for standard input and standard output. A file of that name is ./-.
const standard = "-"

// defaultOut is the output folder, unless --out names another one.
const defaultOut = "out"

// planStream is plan for a picture from standard input.
func (c *imageCmd) planStream(a *app, naming batch.Naming) (folder string, jobs []batch.Job, err error) {
	if len(c.Inputs) > 1 {
		return "", nil, usage("- is one picture from standard input, and there are other inputs beside it: give it alone (a file named - is ./-)")
	}
	job := batch.Job{Input: standard, Output: standard, Format: naming.Format}
	out := standard // nothing else has a name for the output
	if c.Out != nil {
		out = *c.Out
	}
	if out == standard {
		if err := c.checkToOutput(a); err != nil {
			return "", nil, err
		}
		job.To = os.Stdout
	} else {
		if out == "" {
			return "", nil, usage("--out is empty; give a file name, or - for standard output")
		}
		if err := unwritten("--out", out, extension(out)); err != nil {
			return "", nil, err
		}
		format, isFormat := batch.ParseFormat(extension(out))
		if info, err := os.Stat(out); !isFormat || err == nil && info.IsDir() || os.IsPathSeparator(out[len(out)-1]) {
			return "", nil, usage("--out %s: a picture from standard input has no name for a folder: give a file name that ends in .jpg, .jpeg, .png, .tif, .tiff, .gif, .webp or .avif, or - for standard output", out)
		}
		if folder, err = c.named(out, format, &naming); err != nil {
			return "", nil, err
		}
		job.Output, job.Format = naming.Name, format
	}
	if c.Mtime {
		return "", nil, usage("--mtime is about files; standard input has no modification time")
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return "", nil, usage("standard input is a terminal: pipe a picture into the command, or give the name of a file")
	}
	var limit int64
	if c.Memory != nil {
		limit = int64(*c.Memory) << 20
	}
	if job.From, job.Err = batch.ReadStream(a.ctx, os.Stdin, limit, c.page()); a.ctx.Err() != nil {
		return "", nil, coded{exitInterrupted, errors.New("interrupted")}
	}
	return folder, []batch.Job{job}, nil
}

// checkToOutput finds what does not go with a picture on standard output.
func (c *imageCmd) checkToOutput(a *app) error {
	switch {
	case a.cli.JSON:
		return usage("--json and the picture both go to standard output: give a file name with --out")
	case c.Suffix != "":
		return usage("--suffix makes names for an output folder; standard output has none")
	case c.Force || c.SkipExisting:
		return usage("--force and --skip-existing are about files; standard output is none")
	case c.Mtime:
		return usage("--mtime is about files; standard output is none")
	case term.IsTerminal(int(os.Stdout.Fd())):
		return usage("standard output is a terminal, and a picture is not text: redirect it with > or |, or give a file name with --out")
	}
	return nil
}

// title is how messages call an input.
func (c *imageCmd) title(input string) string {
	if input == standard && len(c.Inputs) == 1 && c.Inputs[0] == standard {
		return "standard input"
	}
	return cmp.Or(input, `""`)
}

// closedPipe reports whether err says that nobody reads the pipe any more.
func closedPipe(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // of Windows
	return errors.Is(err, syscall.EPIPE) || runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}
