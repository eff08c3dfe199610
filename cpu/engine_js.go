package cpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall/js"
	"time"

	"github.com/lathe-gpu/lathe/internal/wasm"
)

// engineWorkers is the largest number of workers: a program has one thread there.
const engineWorkers = 1

// engine compiles kernels to machine code and runs them. This one is the WebAssembly of the
// browser or of Node.
type engine struct {
	imports js.Value // what instances import
	host    js.Value // the exports of the module "host"
	yield   js.Func
	clock   js.Func
}

// program is a module that the engine has compiled.
type program struct{ code js.Value }

// function is the function "run" of an instance of a program.
type function struct{ run js.Value }

// cacheDir is "": the browser keeps no machine code of modules that come from memory.
func cacheDir(*Options) string { return "" }

// try calls f. If f ends by an exception of JavaScript, try returns that.
func try(f func() js.Value) (v js.Value, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case js.Error:
			err = errors.New(r.Value.Get("message").String())
		default:
			panic(r)
		}
	}()
	return f(), nil
}

// newEngine makes an engine. A kernel may import these functions of the module "host":
//   - "yield", without parameters and results, lets other goroutines run until all of them
//     wait, as Go does whenever JavaScript calls it. It ends the kernel by a trap if
//     stopped reports true.
//   - "clock", without parameters, returns a time in nanoseconds as i64.
func newEngine(_ context.Context, _ string, stopped func() bool) (*engine, error) {
	if err := fault.Result("host"); err != nil {
		return nil, err
	}
	bigInt := js.Global().Get("BigInt")
	e := &engine{
		yield: js.FuncOf(func(js.Value, []js.Value) any {
			runtime.Gosched()
			return stopped()
		}),
		clock: js.FuncOf(func(js.Value, []js.Value) any {
			return bigInt.Invoke(float64(time.Since(engineStart)))
		}),
	}
	p, err := e.program(hostModule())
	if err == nil {
		imports := map[string]any{"go": map[string]any{"yield": e.yield, "clock": e.clock}}
		e.host, err = exportsOf(p, js.ValueOf(imports))
	}
	if err != nil {
		return nil, errors.Join(err, e.close(context.Background()))
	}
	return e, nil
}

// hostModule is the module "host". A function of Go cannot throw an exception of JavaScript.
// So yield asks one whether the kernel shall end, and traps by itself.
func hostModule() []byte {
	var m wasm.Module
	result := wasm.FuncType{Results: []wasm.ValType{wasm.I64}}
	stopped := m.ImportFunc("go", "yield", wasm.FuncType{Results: []wasm.ValType{wasm.I32}})
	now := m.ImportFunc("go", "clock", result)
	yield := m.Func(wasm.FuncType{})
	yield.Call(stopped)
	yield.Open(wasm.If, wasm.Empty)
	yield.Op(wasm.Unreachable)
	yield.End()
	m.Export("yield", yield)
	clock := m.Func(result)
	clock.Call(now)
	m.Export("clock", clock)
	return m.Encode()
}

// exportsOf makes an instance of a program and returns its exports.
func exportsOf(p *program, imports js.Value) (js.Value, error) {
	return try(func() js.Value {
		return js.Global().Get("WebAssembly").Get("Instance").New(p.code, imports).Get("exports")
	})
}

// engineStart is where the clock of kernels begins.
var engineStart = time.Now()

// close releases what the engine has. Nothing runs any more.
func (e *engine) close(context.Context) error {
	e.yield.Release()
	e.clock.Release()
	return nil
}

// program compiles a module.
func (e *engine) program(code []byte) (*program, error) {
	if err := fault.Result("compile"); err != nil {
		return nil, err
	}
	bytes := js.Global().Get("Uint8Array").New(len(code))
	js.CopyBytesToJS(bytes, code)
	m, err := try(func() js.Value { return js.Global().Get("WebAssembly").Get("Module").New(bytes) })
	if err != nil {
		return nil, err
	}
	return &program{m}, nil
}

// close does nothing: the collector of JavaScript releases the code.
func (p *program) close() error { return nil }

// instantiate makes an instance of a program.
func (e *engine) instantiate(p *program) (function, error) {
	exports, err := exportsOf(p, e.imports)
	if err != nil {
		return function{}, err
	}
	run := exports.Get("run")
	if run.Type() != js.TypeFunction || run.Length() != 3 {
		return function{}, errors.New("the compiled module has no function run(frame, first, count)")
	}
	return function{run}, nil
}

// call calls the function with three numbers of 32 bits.
func (f function) call(stack *[3]uint64) error {
	_, err := try(func() js.Value { return f.run.Invoke(uint32(stack[0]), uint32(stack[1]), uint32(stack[2])) })
	return err
}

// turn is how long work may take before the event loop has a turn, so that a page reacts.
const turn = 12 * time.Millisecond

var lastTurn = time.Now()

// giveWay lets other goroutines run. From time to time it lets the event loop run too.
func giveWay() {
	if time.Since(lastTurn) < turn {
		runtime.Gosched()
		return
	}
	time.Sleep(time.Nanosecond) // returns by a timer of the event loop
	lastTurn = time.Now()
}

// driverName is the name and version of the engine.
var driverName = sync.OnceValue(func() string {
	if process := js.Global().Get("process"); process.Type() == js.TypeObject {
		if version := process.Get("version"); version.Type() == js.TypeString {
			return fmt.Sprintf("WebAssembly of Node %s", version)
		}
	}
	if navigator := js.Global().Get("navigator"); navigator.Type() == js.TypeObject {
		if agent := navigator.Get("userAgent"); agent.Type() == js.TypeString {
			return fmt.Sprintf("WebAssembly of %s", agent)
		}
	}
	return "WebAssembly of the browser"
})

// compiles reports whether the engine makes machine code for this kind of system.
func compiles() bool { return true }
