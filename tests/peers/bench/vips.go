package main

import (
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/disintegration/imaging"
)

// Where libvips leaves its kernel: at weights below this part of the middle one. At
// vipsTaps it takes the 19 taps that Lathe takes, out to 3σ; by itself it takes 11.
const (
	vipsTaps    = "0.011"
	vipsFewTaps = "0.2"
)

// vipsWorkers is how many vips commands run at a time, each on one processor.
const vipsWorkers = 2

// vipsBlur is the command that blurs a photograph as `lathe image` does: chroma is stored
// at half the resolution, as Go's encoder has it.
func vipsBlur(in, out, amplitude string) *exec.Cmd {
	cmd := exec.Command("vips", "gaussblur", in, fmt.Sprintf("%s[Q=%d,subsample-mode=on]", out, jpegQuality), "3", "--min-ampl", amplitude)
	cmd.Env = append(os.Environ(), "VIPS_CONCURRENCY=1")
	return cmd
}

// vipsChild blurs a folder by two chains of vips commands, which take the files in turns,
// and prints the sum of the peaks of both, bytes.
func vipsChild(in, out, amplitude string) error {
	files, err := filepath.Glob(filepath.Join(in, "*.jpg"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	errs := make(chan error, len(files))
	var peaks [vipsWorkers]int64
	var wg sync.WaitGroup
	for w := range vipsWorkers {
		wg.Go(func() {
			for i := w; i < len(files); i += vipsWorkers {
				cmd := vipsBlur(files[i], filepath.Join(out, filepath.Base(files[i])), amplitude)
				said, err := cmd.CombinedOutput()
				if err != nil {
					errs <- fmt.Errorf("%s: %w\n%s", cmd, err, said)
					return
				}
				peaks[w] = max(peaks[w], maxRSS(cmd.ProcessState))
			}
		})
	}
	wg.Wait()
	close(errs)
	var sum int64
	for _, p := range peaks {
		sum += p
	}
	fmt.Println(sum)
	return <-errs
}

// vipsVersion is what the vips command says it is; empty without one.
func vipsVersion() string {
	out, err := exec.Command("vips", "--version").Output()
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(out)), "vips-"), " ")
	return version
}

// vipsSame checks that vips writes of the photograph what lathe image wrote.
func (b *bench) vipsSame(lathe image.Image, file string) error {
	out := filepath.Join(b.dir, "same-vips.jpg")
	if said, err := vipsBlur(file, out, vipsTaps).CombinedOutput(); err != nil {
		return fmt.Errorf("vips: %w\n%s", err, said)
	}
	x, err := imaging.Open(out)
	if err != nil {
		return err
	}
	if d := distance(imaging.Clone(x), imaging.Clone(lathe)); d > 1.5 {
		return fmt.Errorf("lathe image and vips differ by %.2f/255 on average", d)
	}
	return nil
}
