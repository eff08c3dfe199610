package cpu

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// moduleCache keeps the WebAssembly of kernels in a folder, a file for each. The engine keeps
// machine code by the WebAssembly, so a program that starts again compiles nothing. A file
// that is damaged or cannot be written costs a compilation and is no error.
type moduleCache struct{ dir string } // "": nothing is kept

// openModules returns the cache below a folder, for what a version of the compiler makes.
func openModules(dir, version string) moduleCache {
	if dir == "" || version == "" {
		return moduleCache{}
	}
	return moduleCache{filepath.Join(dir, "lathe-"+version)}
}

// moduleHead is the first line of a file, as JSON. The WebAssembly follows.
type moduleHead struct {
	FrameBytes uint32
	Loops      bool
	Sum        string // the SHA-256 of the WebAssembly
}

// file is the name of the file for a module.
func (c moduleCache) file(m *spv.Module) string {
	name := hex.EncodeToString(m.Hash[:])
	if m.Foreign { // The compiler guards it.
		name += "-foreign"
	}
	return filepath.Join(c.dir, name)
}

// load returns what was kept of a module, or nil.
func (c moduleCache) load(m *spv.Module) *compile.Kernel {
	if c.dir == "" {
		return nil
	}
	data, err := os.ReadFile(c.file(m))
	line, code, ok := bytes.Cut(data, []byte("\n"))
	var head moduleHead
	if err != nil || !ok || json.Unmarshal(line, &head) != nil || head.Sum != sumOf(code) {
		return nil
	}
	return &compile.Kernel{Wasm: code, FrameBytes: head.FrameBytes, Loops: head.Loops}
}

// store keeps what the compiler made of a module.
func (c moduleCache) store(m *spv.Module, k *compile.Kernel) {
	if c.dir == "" || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	head, err := json.Marshal(moduleHead{k.FrameBytes, k.Loops, sumOf(k.Wasm)})
	if err != nil {
		return
	}
	f, err := os.CreateTemp(c.dir, ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(append(append(head, '\n'), k.Wasm...))
	if also := f.Close(); err == nil {
		err = also
	}
	// Another program may read the file meanwhile, so it appears as a whole.
	if err != nil || os.Rename(f.Name(), c.file(m)) != nil {
		os.Remove(f.Name())
	}
}

func sumOf(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}

// compilerVersion names the source code of the compiler in this program. It is empty if that
// is not known, as in tests and in programs of changed sources.
var compilerVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionOf(info)
})

// versionOf is the version of this module in a program, or "" if it does not tell the source
// code.
func versionOf(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != "github.com/lathe-gpu/lathe" {
			continue
		}
		if m.Replace != nil || !strings.HasPrefix(m.Version, "v") || strings.Contains(m.Version, "+dirty") {
			return ""
		}
		return m.Version
	}
	return ""
}
