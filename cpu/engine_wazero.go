//go:build !js

package cpu

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// engineWorkers is the largest number of workers that the engine allows.
const engineWorkers = maxWorkers

// engine compiles kernels to machine code and runs them. This one is wazero.
type engine struct {
	rt     wazero.Runtime
	dir    string                // the folder of the cache, or ""
	owner  wazero.CompiledModule // exports the memory
	memory *memory
}

// program is a module that the engine has compiled.
type program struct{ code wazero.CompiledModule }

// function is the function "run" of an instance of a program.
type function struct{ run api.Function }

// newEngine makes an engine. A kernel may import these functions of the module "host":
//   - "yield", without parameters and results, gives other goroutines a turn, and ends the
//     kernel by a trap if stopped reports true.
//   - "clock", without parameters, returns a time in nanoseconds as i64.
func newEngine(ctx context.Context, dir string, stopped func() bool) (*engine, error) {
	cache, dir := openCache(dir)
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesThreads).
		WithCompilationCache(cache).WithDebugInfoEnabled(false)
	e := &engine{rt: wazero.NewRuntimeWithConfig(ctx, config), dir: dir}
	err := fault.Result("host")
	if err == nil {
		_, err = e.rt.NewHostModuleBuilder("host").NewFunctionBuilder().
			WithGoFunction(api.GoFunc(func(context.Context, []uint64) {
				if stopped() {
					panic(errStopped)
				}
				runtime.Gosched()
			}), nil, nil).Export("yield").NewFunctionBuilder().
			WithGoFunction(api.GoFunc(func(_ context.Context, stack []uint64) {
				stack[0] = uint64(time.Since(engineStart))
			}), nil, []api.ValueType{api.ValueTypeI64}).Export("clock").Instantiate(ctx)
	}
	if err != nil {
		_ = e.rt.Close(ctx) // it runs nothing
		return nil, err
	}
	return e, nil
}

// engineStart is where the clock of kernels begins.
var engineStart = time.Now()

// close releases what the engine has. Nothing runs any more.
func (e *engine) close(ctx context.Context) error {
	err := e.rt.Close(ctx)
	if e.owner != nil {
		err = errors.Join(err, e.owner.Close(ctx))
	}
	return err
}

// errStopped is the trap of kernels that are stopped.
var errStopped = errors.New("stopped")

// program compiles a module.
func (e *engine) program(code []byte) (*program, error) {
	c, err := e.compile(context.Background(), code)
	if err != nil {
		return nil, err
	}
	return &program{c}, nil
}

// close releases a program and its instances. Nothing runs any more.
func (p *program) close() error { return p.code.Close(context.Background()) }

// instantiate makes an instance of a program.
func (e *engine) instantiate(p *program) (function, error) {
	e.memory.growing.Lock()
	defer e.memory.growing.Unlock()
	m, err := e.rt.InstantiateModule(context.Background(), p.code, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return function{}, err
	}
	run := m.ExportedFunction("run")
	if run == nil || len(run.Definition().ParamTypes()) != 3 || len(run.Definition().ResultTypes()) != 0 {
		return function{}, errors.New("the compiled module has no function run(frame, first, count)")
	}
	return function{run}, nil
}

// call calls the function with three numbers of 32 bits.
func (f function) call(stack *[3]uint64) error {
	return f.run.CallWithStack(context.Background(), stack[:])
}

// giveWay lets other goroutines run.
func giveWay() { runtime.Gosched() }

// compile makes machine code of a module. A file of the cache that is damaged or cannot be
// written does not fail it.
func (e *engine) compile(ctx context.Context, code []byte) (wazero.CompiledModule, error) {
	if err := fault.Result("compile"); err != nil {
		return nil, err
	}
	c, err := e.rt.CompileModule(ctx, code)
	if err == nil || e.dir == "" {
		return c, err
	}
	// If the file could not be written, the code is in memory now.
	if c, again := e.rt.CompileModule(ctx, code); again == nil {
		return c, nil
	}
	if file := (*fs.PathError)(nil); !errors.As(err, &file) && !strings.HasPrefix(err.Error(), "compilationcache:") {
		return nil, err
	}
	// The file cannot be read. Its name is not known, so all of them go.
	for _, folder := range cacheFolders(e.dir) {
		files, _ := os.ReadDir(folder)
		for _, f := range files {
			os.Remove(filepath.Join(folder, f.Name()))
		}
	}
	return e.rt.CompileModule(ctx, code)
}

// engineVersion is the version of the engine that go.mod requires. A program of another
// version says so in its build information, which programs of go test lack.
const engineVersion = "v1.11.0"

// driverName is the name and version of the engine.
var driverName = sync.OnceValue(func() string {
	version := engineVersion
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/tetratelabs/wazero" {
				version = m.Version
			}
		}
	}
	if !compiles() {
		return fmt.Sprintf("wazero %s, interpreter", version)
	}
	return fmt.Sprintf("wazero %s", version)
})

// compiles reports whether the engine makes machine code for this kind of system. It
// interprets kernels elsewhere, a hundred times slower.
func compiles() bool {
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "windows":
		return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
	case "dragonfly", "solaris", "illumos":
		return runtime.GOARCH == "amd64"
	}
	return false
}
