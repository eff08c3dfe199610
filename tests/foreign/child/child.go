// Package child runs compute shaders of strangers in processes of their own, so that
// one that takes its process along is a failed test which names the shader, and
// one that does not end is stopped.
//
// A test package that uses it calls Main first in its TestMain: the processes
// are the test program itself.
package child

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/drivers"
)

// mark is set in the processes of children.
const mark = "LATHE_TEST_CHILD"

// Job is one launch.
type Job struct {
	Code    []byte
	Buffers [][]byte // what each binding holds before
	Push    []byte
	Groups  [3]uint32 // zeros mean one workgroup
}

// Result is what came of a Job.
type Result struct {
	Err     string // "" if the launch ran; else the text of what refused it
	Kind    string // of Err: the sentinel it wraps, such as "invalid shader", or ""
	Buffers [][]byte
	Took    time.Duration // on the device, compilation included
}

// Refused reports whether the shader was refused before it ran.
func (r *Result) Refused() bool { return r.Err != "" }

// Main runs jobs and ends the process if it is a child's. It does nothing in a
// parent.
func Main() {
	if os.Getenv(mark) == "" {
		return
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve runs the jobs that come in, one after the other.
func serve(in io.Reader, out io.Writer) error {
	ctx := context.Background()
	dev, err := drivers.Open(ctx, drivers.Options{NoCache: true, Warn: func(string) {}})
	if err != nil {
		return err
	}
	dec, enc := gob.NewDecoder(in), gob.NewEncoder(out)
	if err := enc.Encode(dev.Info().Name); err != nil {
		return err
	}
	for {
		var j Job
		if err := dec.Decode(&j); err != nil {
			if errors.Is(err, io.EOF) {
				return dev.Close()
			}
			return err
		}
		r := launch(ctx, dev, &j)
		if err := enc.Encode(&r); err != nil {
			return err
		}
	}
}

// kinds are the sentinels a Result names.
var kinds = []error{gpu.ErrInvalidShader, gpu.ErrUnsupported, gpu.ErrLimit, gpu.ErrInvalidArgument, gpu.ErrOutOfMemory, gpu.ErrDeviceLost}

func launch(ctx context.Context, dev gpu.Device, j *Job) (r Result) {
	start := time.Now()
	fail := func(err error) Result {
		r.Err, r.Took = err.Error(), time.Since(start)
		for _, k := range kinds {
			if errors.Is(err, k) {
				r.Kind = k.Error()
				break
			}
		}
		return r
	}
	groups := j.Groups
	if groups == [3]uint32{} {
		groups = [3]uint32{1, 1, 1}
	}
	var hs []gpu.Handle
	defer func() {
		for _, h := range hs {
			_ = dev.Free(h) // made here
		}
	}()
	for _, data := range j.Buffers {
		h, err := dev.Alloc(int64(len(data)))
		if err != nil {
			return fail(err)
		}
		hs = append(hs, h)
		if err := dev.Write(ctx, h, 0, data); err != nil {
			return fail(err)
		}
	}
	if err := gpu.DispatchCompute(ctx, dev, j.Code, hs, j.Push, groups); err != nil {
		return fail(err)
	}
	if err := dev.Sync(ctx); err != nil {
		return fail(err)
	}
	r.Took = time.Since(start)
	for i, data := range j.Buffers {
		got := make([]byte, len(data))
		if err := dev.Read(ctx, hs[i], 0, got); err != nil {
			return fail(err)
		}
		r.Buffers = append(r.Buffers, got)
	}
	return r
}

// Driver is a way to a device that children are tried on.
type Driver struct {
	Name string // lavapipe, swiftshader or webgpu
	Env  []string
}

// Drivers are those there are on this machine, in the order lavapipe,
// SwiftShader, WebGPU. Those that are missing are logged with the reason;
// where LATHE_REQUIRE_DEVICE is set, a missing lavapipe or WebGPU is an error.
func Drivers(t testing.TB) []Driver {
	t.Helper()
	found.Do(findDrivers)
	for _, why := range missing {
		t.Log(why)
	}
	if len(present) == 0 || os.Getenv("LATHE_REQUIRE_DEVICE") != "" && required {
		if os.Getenv("LATHE_REQUIRE_DEVICE") != "" {
			t.Fatal("a driver is missing")
		}
		t.Skip("no driver to try shaders on")
	}
	return present
}

var (
	found    sync.Once
	present  []Driver
	missing  []string
	required bool // one is missing that must not be
)

func findDrivers() {
	swift, whySwift := swiftShader()
	for _, d := range []Driver{
		{"lavapipe", []string{drivers.Env + "=vk", gpu.SelectorEnv + "=llvmpipe"}},
		{"swiftshader", []string{drivers.Env + "=vk", gpu.SelectorEnv + "=SwiftShader", "VK_DRIVER_FILES=" + swift, "VK_ICD_FILENAMES=" + swift}},
		{"webgpu", []string{drivers.Env + "=wgpu"}},
	} {
		if d.Name == "swiftshader" && swift == "" {
			missing = append(missing, "swiftshader: "+whySwift)
			continue
		}
		c := &Child{driver: d}
		err := c.start()
		c.Close()
		if err != nil {
			missing = append(missing, d.Name+": "+err.Error())
			required = required || d.Name != "swiftshader"
			continue
		}
		present = append(present, d)
	}
}

// swiftShader is the manifest of SwiftShader, fetched the first time.
func swiftShader() (manifest, why string) {
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "..", "..", "..", "tools", "setup", "swiftshader.sh")
	cmd := exec.Command("sh", script)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Sprintf("%v: %s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), ""
}

// ErrHung is the error of a job without an answer.
var ErrHung = errors.New("no answer")

// Child is a process that runs jobs. It is started by the first one, and anew
// after one has ended it. It is not for several goroutines at once.
type Child struct {
	driver Driver
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Closer
	enc    *gob.Encoder
	dec    *gob.Decoder
	stderr *bytes.Buffer
}

// New returns a child on a driver, which ends with the test.
func New(t testing.TB, d Driver) *Child {
	c := &Child{driver: d}
	t.Cleanup(c.Close)
	return c
}

func (c *Child) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.cmd = exec.Command(self)
	c.cmd.Env = append(append(os.Environ(), mark+"=1"), c.driver.Env...)
	c.stderr = new(bytes.Buffer)
	c.cmd.Stderr = c.stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.in, c.out, c.enc, c.dec = in, out, gob.NewEncoder(in), gob.NewDecoder(out)
	var name string
	if err := c.dec.Decode(&name); err != nil {
		return c.died(err)
	}
	return nil
}

// Run runs a job. The error says that the process did not survive it, or did
// not answer within the limit (ErrHung): the shader was not refused and did not run.
func (c *Child) Run(j Job, limit time.Duration) (Result, error) {
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return Result{}, err
		}
	}
	type answer struct {
		r   Result
		err error
	}
	ch := make(chan answer, 1)
	go func() {
		var a answer
		if a.err = c.enc.Encode(&j); a.err == nil {
			a.err = c.dec.Decode(&a.r)
		}
		ch <- a
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case a := <-ch:
		if a.err != nil {
			return a.r, c.died(a.err)
		}
		return a.r, nil
	case <-timer.C:
		_ = c.cmd.Process.Kill() // ends the goroutine as well
		<-ch
		_ = c.cmd.Wait() // killed
		c.cmd = nil
		return Result{}, fmt.Errorf("%w within %v", ErrHung, limit)
	}
}

// died is the error of a process that has ended.
func (c *Child) died(cause error) error {
	_ = c.in.Close()
	err := c.cmd.Wait()
	text := strings.TrimSpace(c.stderr.String())
	if len(text) > 600 {
		text = text[:600]
	}
	c.cmd = nil
	if err == nil {
		err = cause
	}
	return fmt.Errorf("the process ended: %v: %s", err, text)
}

// Close ends the process.
func (c *Child) Close() {
	if c.cmd == nil {
		return
	}
	_ = c.in.Close() // the child leaves when there are no more jobs
	done := make(chan struct{})
	cmd := c.cmd
	go func() { _ = cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		_ = cmd.Process.Kill()
		<-done
	}
	c.cmd = nil
}
