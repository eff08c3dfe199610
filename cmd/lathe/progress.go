package main

import (
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// progressBar shows a bar of n steps if standard error is a terminal, and
// nothing elsewhere or with --quiet. stop removes the bar.
func (a *app) progressBar(n int) (step, stop func()) {
	if a.quiet || !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}, func() {}
	}
	p := mpb.New(mpb.WithOutput(os.Stderr), mpb.WithWidth(60))
	bar := p.New(int64(n), mpb.BarStyle(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d ")),
		mpb.AppendDecorators(decor.Percentage(), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO)))
	return bar.Increment, func() {
		bar.Abort(true) // harmless when complete
		p.Wait()
	}
}
