package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/disintegration/imaging"
)

// child is the part of the bench that runs in a process of its own.
func child(what string, args []string) error {
	need := map[string]int{"imaging": 2, "vips": 3, "startup": 1, "dispatch": 2}
	if n, ok := need[what]; !ok || len(args) != n {
		return fmt.Errorf("unknown child, or wrong arguments %q", args)
	}
	switch what {
	case "imaging":
		return imagingChild(args[0], args[1])
	case "vips":
		return vipsChild(args[0], args[1], args[2])
	case "startup":
		return startupChild(args[0])
	default:
		return dispatchChild(args[0], args[1])
	}
}

// imagingChild is the program a Go programmer would write today: a worker for
// every processor decodes, blurs and encodes with imaging.
func imagingChild(in, out string) error {
	files, err := filepath.Glob(filepath.Join(in, "*.jpg"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work := make(chan string)
	errs := make(chan error, len(files))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for file := range work {
				img, err := imaging.Open(file, imaging.AutoOrientation(true))
				if err == nil {
					err = imaging.Save(imaging.Blur(img, 3), filepath.Join(out, filepath.Base(file)), imaging.JPEGQuality(jpegQuality))
				}
				if err != nil {
					errs <- fmt.Errorf("%s: %w", file, err)
				}
			}
		})
	}
	for _, f := range files {
		work <- f
	}
	close(work)
	wg.Wait()
	close(errs)
	return <-errs
}
