// Package launch runs foreign compute shaders in child processes, for tests. If a shader
// crashes its process, the test fails and names the shader. If a shader does not end, it
// is stopped.
//
// A test package that uses this package calls Main first in its TestMain, because the
// child process is the test program itself. So it imports package wgpu, unless its children
// run on lavapipe only.
package launch

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/child"
	"github.com/lathe-gpu/lathe/internal/drivers"
	_ "github.com/lathe-gpu/lathe/internal/drivers/standard" // vk
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// name is that of the function in Serve's map.
const name = "lathe launch"

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

// Validation is the environment variable by which a Driver has Vulkan's validation layer
// watch: 1 makes its messages errors of the launch.
const Validation = "LATHE_VALIDATION"

// DeviceEnv is the environment variable by which a Driver has its children open the device of
// package cpu, if it is "cpu". Otherwise they open a driver.
const DeviceEnv = "LATHE_LAUNCH_DEVICE"

// CPU is the name of the Driver that is the device of package cpu.
const CPU = "cpu"

// Main does jobs and ends the process if it is a child's. It does nothing in a
// parent. more are other functions that children serve, by their names; it may be nil.
func Main(more map[string]func([]byte) []byte) {
	all := maps.Clone(more)
	if all == nil {
		all = map[string]func([]byte) []byte{}
	}
	all[name] = do
	child.Serve(all)
}

// device is opened by the first job: a Worker needs a child's first word before.
var device = sync.OnceValues(func() (gpu.Device, error) {
	if os.Getenv(DeviceEnv) == CPU {
		return cpu.Open(cpu.Options{NoCache: true})
	}
	return drivers.Open(context.Background(), drivers.Options{NoCache: true, Validation: os.Getenv(Validation) == "1", Warn: func(string) {}})
})

func do(job []byte) []byte {
	var j Job
	var r Result
	dev, err := device()
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(job)).Decode(&j)
	}
	if err != nil {
		r.Err, r.Kind = err.Error(), noDevice
	} else {
		r = launch(context.Background(), dev, &j)
	}
	var reply bytes.Buffer
	if err := gob.NewEncoder(&reply).Encode(&r); err != nil {
		panic(err) // a Result is plain data
	}
	return reply.Bytes()
}

// noDevice is the kind of error where a child has no device.
const noDevice = "no device"

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
	bind := hs
	if m, err := gpu.ParseModule("", j.Code); err == nil { // Modules made at random use some of the buffers.
		bind = hs[:min(len(hs), m.Slots())]
	}
	if err := gpu.DispatchCompute(ctx, dev, j.Code, bind, j.Push, groups); err != nil {
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
	Name string // lavapipe, swiftshader, webgpu or cpu
	Env  []string
}

// Drivers are those there are on this machine, in the order lavapipe, SwiftShader, WebGPU,
// and the device of package cpu. Those that are missing are logged with the reason. The
// device of package cpu is everywhere. Where LATHE_REQUIRE_DEVICE is set, a missing lavapipe
// or WebGPU is an error.
func Drivers(t testing.TB) []Driver {
	t.Helper()
	found.Do(findDrivers)
	for _, why := range missing {
		t.Log(why)
	}
	if broken != nil {
		t.Errorf("the device of package cpu cannot be opened: %v", broken)
	}
	if len(present) == 0 || required && testkit.DeviceRequired() {
		testkit.NoDevice(t, "needs lavapipe and WebGPU to try shaders on; tools/setup/vulkan.sh installs lavapipe: %s", strings.Join(missing, "; "))
	}
	return present
}

var (
	found    sync.Once
	present  []Driver
	missing  []string
	required bool  // one is missing that must not be
	broken   error // why the device of package cpu is missing, which never may
)

var lavapipe = Driver{"lavapipe", []string{drivers.Env + "=vk", gpu.SelectorEnv + "=llvmpipe"}}

// Lavapipe is the first of Drivers. A test that lacks it ends as testkit.NoDevice does.
func Lavapipe(t testing.TB) Driver {
	t.Helper()
	if err := try(lavapipe); err != nil {
		testkit.NoDevice(t, "needs lavapipe to try shaders on; tools/setup/vulkan.sh installs it: %v", err)
	}
	return lavapipe
}

// try reports why there is no such driver.
func try(d Driver) error {
	w := &Worker{child.Worker{Name: name, Env: d.Env}}
	defer w.w.Close()
	r, err := w.Run(context.Background(), Job{}, 60*time.Second) // no module: refused, by a device
	if err == nil && r.Kind == noDevice {
		err = errors.New(r.Err)
	}
	return err
}

func findDrivers() {
	swift, whySwift := swiftShader()
	for _, d := range []Driver{
		lavapipe,
		{"swiftshader", []string{drivers.Env + "=vk", gpu.SelectorEnv + "=SwiftShader", "VK_DRIVER_FILES=" + swift, "VK_ICD_FILENAMES=" + swift}},
		{"webgpu", []string{drivers.Env + "=wgpu"}},
		{CPU, []string{DeviceEnv + "=" + CPU}},
	} {
		if d.Name == "swiftshader" && swift == "" {
			missing = append(missing, "swiftshader: "+whySwift)
			continue
		}
		err := try(d)
		if err != nil && d.Name == CPU {
			broken = err
			continue
		}
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
	script := filepath.Join(filepath.Dir(file), "..", "..", "tools", "setup", "swiftshader.sh")
	cmd := exec.Command("sh", script)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Sprintf("%v: %s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), ""
}

// Worker launches shaders in a child process, which it starts anew after one
// that crashed or hung. It is for one goroutine.
type Worker struct{ w child.Worker }

// New returns a worker on a driver, which ends with the test.
func New(t testing.TB, d Driver) *Worker {
	w := &Worker{child.Worker{Name: name, Env: d.Env}}
	t.Cleanup(w.w.Close)
	return w
}

// Close ends the worker's process; the next Run starts another.
func (w *Worker) Close() { w.w.Close() }

// Run launches. An error says that the shader was neither refused nor run: it is
// a *child.Crash or *child.Hang, or why there is no child.
func (w *Worker) Run(ctx context.Context, j Job, limit time.Duration) (Result, error) {
	w.w.Limit = limit
	var job bytes.Buffer
	if err := gob.NewEncoder(&job).Encode(&j); err != nil {
		return Result{}, err
	}
	reply, err := w.w.Do(ctx, job.Bytes())
	if err != nil {
		return Result{}, err
	}
	var r Result
	err = gob.NewDecoder(bytes.NewReader(reply)).Decode(&r)
	return r, err
}
