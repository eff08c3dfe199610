// Command genspirv compiles shaders/*/*.comp to the SPIR-V modules that the
// package spirv embeds, and writes their sums and the ABI text.
//
//	go run ./tools/genspirv           compile what changed
//	go run ./tools/genspirv -check    prove that nothing is stale
//	go run ./tools/genspirv -check -part 2/4
//	                                  the same, but recompile only this part
//
// A kernel goes through glslc, spirv-opt, spirv-val and Lathe's own spv.Parse.
// A shader file declares the kernels made of it in comment lines at its top:
//
//	//lathe:variant u8.texel DTYPE_U8 TEXEL ROWS=4
//
// is the kernel "group/file.u8.texel" with these macros defined. A file with
// no such line is the one kernel "group/file". Files in shaders/lib are for
// inclusion only.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
)

func main() {
	check := flag.Bool("check", false, "write nothing; fail if anything committed is stale")
	jobs := flag.Int("j", runtime.NumCPU(), "compile this many kernels at a time")
	part := flag.String("part", "1/1", "recompile only part `I/N` of the kernels in a check; the hashes of all are compared")
	root := flag.String("C", ".", "root of the repository")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: genspirv [-check [-part I/N]] [-j N] [-C root] [shaders/group/file.comp ...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	g := &generator{root: *root, jobs: max(*jobs, 1), out: os.Stdout}
	if n, err := fmt.Sscanf(*part, "%d/%d", &g.part, &g.parts); n != 2 || err != nil || g.part < 1 || g.part > g.parts {
		fmt.Fprintf(os.Stderr, "genspirv: -part %s (want I/N, from 1/N to N/N)\n", *part)
		os.Exit(2)
	}
	run := g.build
	if *check {
		run = func(ctx context.Context, _ []string) error { return g.check(ctx) }
	}
	if err := run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
