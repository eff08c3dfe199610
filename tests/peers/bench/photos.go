package main

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/disintegration/imaging"

	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

const jpegQuality = 90

// photos compares `lathe image` with a Go program that uses imaging on all
// processors, and with libvips where it is installed, on a folder of photographs,
// each in a process of its own so that its peak memory is its own.
func (b *bench) photos() (*table, error) {
	w, h, few, many, repeats := 4000, 3000, 8, 24, 3
	if b.quick {
		w, h, few, many, repeats = 2000, 1500, 4, 8, 1
	}
	all, some := filepath.Join(b.dir, "all"), filepath.Join(b.dir, "some")
	bytesIn, err := b.makePhotos(all, some, w, h, many, few)
	if err != nil {
		return nil, err
	}
	lathe, err := b.buildCLI()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// run measures a program that writes out from in, and checks that it did.
	run := func(p program, in string) (usage, error) {
		out := filepath.Join(b.dir, "out")
		defer os.RemoveAll(out)
		name, args := p.command(in, out)
		u, err := b.measure(nil, name, args...)
		if err != nil {
			return u, err
		}
		if p.ownPeak { // its children hold the memory
			if _, err := fmt.Sscan(u.output, &u.peak); err != nil {
				return u, fmt.Errorf("reading %q: %w", u.output, err)
			}
		}
		return u, countJPEG(out, in)
	}
	programs := []program{
		{name: "lathe image", command: func(in, out string) (string, []string) {
			return lathe, []string{"image", "--op", "blur sigma=3", "--quality", fmt.Sprint(jpegQuality), "--out", out, in}
		}},
		{name: "imaging, a worker a processor", key: "imaging", command: func(in, out string) (string, []string) {
			return self, []string{"child", "imaging", in, out}
		}},
	}
	vips := vipsVersion()
	if vips != "" {
		for _, v := range [][3]string{
			{"libvips, two processes", "libvips", vipsTaps},
			{"libvips, two processes, 11 taps", "libvips_short", vipsFewTaps},
		} {
			programs = append(programs, program{name: v[0], key: v[1], ownPeak: true, command: func(in, out string) (string, []string) {
				return self, []string{"child", "vips", in, out, v[2]}
			}})
		}
	}
	if err := b.sameResult(lathe, self, some, vips != ""); err != nil {
		return nil, err
	}
	took := make([][]usage, len(programs))
	for range repeats { // in turns, for what else the machine does
		for i, p := range programs {
			u, err := run(p, all)
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], u)
		}
	}
	t := &table{
		Title:  fmt.Sprintf("%d JPEG photographs of %.0f megapixels, blur σ=3, to JPEG of quality %d", many, float64(w*h)/1e6, jpegQuality),
		Header: []string{"program", "wall time", "processor time", "megapixels a second", fmt.Sprintf("peak memory, %d files", many), fmt.Sprintf("peak memory, %d files", few), "wall time / lathe's", "processor time / lathe's"},
	}
	mp := float64(w) * float64(h) * float64(many) / 1e6
	ourWall, ourCPU, _ := summary(took[0])
	for i, p := range programs {
		wall, cpu, peak := summary(took[i])
		u, err := run(p, some)
		if err != nil {
			return nil, err
		}
		ratios := [2]string{}
		if i > 0 {
			ratios = [2]string{fmt.Sprintf("**%.2f**", ratio(wall, ourWall)), fmt.Sprintf("%.2f", ratio(cpu, ourCPU))}
			t.value(p.key+"/wall_ratio", ratio(wall, ourWall))
			t.value(p.key+"/cpu_ratio", ratio(cpu, ourCPU))
		} else {
			t.value("peak_bytes", float64(peak))
			t.value("peak_bytes_few", float64(u.peak))
		}
		t.row(p.name, wall, measure.Format(cpu.Median()), mp/wall.Median().Seconds(), mib(peak), mib(u.peak), ratios[0], ratios[1])
	}
	t.note("%s of generated photographs; start of the process, opening of the device and compilation of shaders included. A ratio above 1 means Lathe is faster. "+
		"Peak memory is the resident set's high-water mark, the driver's memory included where the device is the processor.", mib(bytesIn))
	if vips == "" {
		t.note("libvips is not in the table: no command `vips` was found on this machine.")
	} else {
		t.note("libvips %s by its command `vips gaussblur`, one photograph after the other in each of two processes of one thread, chroma at half the resolution as Go's encoder has it. "+
			"By itself it takes 11 taps of the kernel; with 19 it takes those that Lathe takes. The aim is at most twice libvips's time, a ratio of 0.5: with all taps %s.", vips, met(t.Values["libvips/wall_ratio"] >= 0.5))
	}
	return t, nil
}

// program is one that blurs a folder of photographs.
type program struct {
	name, key string
	command   func(in, out string) (name string, args []string)
	ownPeak   bool // it prints the bytes of its peak
}

func met(yes bool) string {
	if yes {
		return "met"
	}
	return "missed"
}

// makePhotos paints the folder of all photographs, and links some of them into
// another one. It returns the bytes of all files.
func (b *bench) makePhotos(all, some string, w, h, many, few int) (int64, error) {
	for _, dir := range []string{all, some} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return 0, err
		}
	}
	var total int64
	for i := range many {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		data, err := testimg.JPEG(w, h, b.seed+uint64(i), 92)
		if err != nil {
			return 0, err
		}
		name := fmt.Sprintf("photo%02d.jpg", i)
		if err := os.WriteFile(filepath.Join(all, name), data, 0o644); err != nil {
			return 0, err
		}
		if i < few {
			if err := os.WriteFile(filepath.Join(some, name), data, 0o644); err != nil {
				return 0, err
			}
		}
		total += int64(len(data))
	}
	return total, nil
}

// buildCLI compiles the lathe command of this checkout.
func (b *bench) buildCLI() (string, error) {
	where := exec.CommandContext(b.ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/lathe-gpu/lathe")
	dir, err := where.Output()
	if err != nil {
		return "", fmt.Errorf("finding the module (run from tests/peers): %w", err)
	}
	bin := filepath.Join(b.dir, "lathe")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	cmd := exec.CommandContext(b.ctx, "go", "build", "-C", strings.TrimSpace(string(dir)), "-o", bin, "./cmd/lathe")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building cmd/lathe: %w\n%s", err, out)
	}
	return bin, nil
}

// sameResult checks that the programs write the same pictures.
func (b *bench) sameResult(lathe, self, in string, vips bool) error {
	one := filepath.Join(b.dir, "one")
	if err := os.MkdirAll(one, 0o755); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(in, "photo00.jpg"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(one, "photo00.jpg"), data, 0o644); err != nil {
		return err
	}
	a, c := filepath.Join(b.dir, "same-lathe"), filepath.Join(b.dir, "same-imaging")
	if _, err := b.measure(nil, lathe, "image", "--op", "blur sigma=3", "--quality", fmt.Sprint(jpegQuality), "--out", a, one); err != nil {
		return err
	}
	if _, err := b.measure(nil, self, "child", "imaging", one, c); err != nil {
		return err
	}
	x, err := openOnly(a)
	if err != nil {
		return err
	}
	y, err := openOnly(c)
	if err != nil {
		return err
	}
	if d := distance(imaging.Clone(x), imaging.Clone(y)); d > 1.5 {
		return fmt.Errorf("lathe image and imaging differ by %.2f/255 on average", d)
	}
	if vips {
		return b.vipsSame(x, filepath.Join(one, "photo00.jpg"))
	}
	return nil
}

// openOnly decodes the one file of a folder.
func openOnly(dir string) (image.Image, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%s holds %d files, want 1 (%v)", dir, len(files), err)
	}
	return imaging.Open(files[0])
}

// countJPEG checks that out holds a JPEG for every file of in.
func countJPEG(out, in string) error {
	want, err := os.ReadDir(in)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(out, "*.jp*g"))
	if err != nil {
		return err
	}
	if len(files) != len(want) {
		return fmt.Errorf("wrote %d files for %d photographs", len(files), len(want))
	}
	for _, f := range files {
		head := make([]byte, 2)
		r, err := os.Open(f)
		if err != nil {
			return err
		}
		_, err = r.Read(head)
		r.Close()
		if err != nil || !bytes.Equal(head, []byte{0xFF, 0xD8}) {
			return fmt.Errorf("%s is no JPEG (%v)", f, err)
		}
	}
	return nil
}

func summary(us []usage) (wall, cpu measure.Sample, peak int64) {
	for _, u := range us {
		wall, cpu, peak = append(wall, u.wall), append(cpu, u.cpu), max(peak, u.peak)
	}
	return wall, cpu, peak
}

func mib(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }

// usage is what a process took.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // bytes of the resident set's high-water mark
	output    string
}

// measure runs a program to its end. env is added to this process's own.
func (b *bench) measure(env []string, name string, args ...string) (usage, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	done := make(chan struct{})
	peak := make(chan int64, 1)
	go watch(cmd.Process.Pid, done, peak)
	err := cmd.Wait()
	u := usage{wall: time.Since(start)}
	close(done)
	u.peak = <-peak
	if err != nil {
		return u, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, errs.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if u.peak == 0 {
		u.peak = maxRSS(cmd.ProcessState)
	}
	u.output = out.String()
	return u, nil
}

// watch follows a process's high-water mark in /proc until done. The mark of
// getrusage will not do: on Linux a child inherits its parent's.
func watch(pid int, done <-chan struct{}, peak chan<- int64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var high int64
	for {
		high = max(high, statusBytes(fmt.Sprintf("/proc/%d/status", pid), "VmHWM"))
		select {
		case <-done:
			peak <- high
			return
		case <-tick.C:
		}
	}
}

// statusBytes reads a line of a /proc status file such as "VmHWM: 12 kB"; 0 if
// there is none.
func statusBytes(file, key string) int64 {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			var kb int64
			fmt.Sscan(v, &kb)
			return kb << 10
		}
	}
	return 0
}
