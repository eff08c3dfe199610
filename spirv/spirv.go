// Package spirv holds the compiled kernels: one SPIR-V module a kernel, made
// from shaders/ by tools/genspirv and embedded, so that no user needs a shader
// compiler. Nothing in this folder but its Go files is written by hand.
package spirv

import (
	"embed"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

//go:embed abi.txt spirv.sum */*.spv
var files embed.FS

// entry is a kernel that is parsed when it is first asked for.
type entry struct {
	once   sync.Once
	path   string
	module *spv.Module
	err    error
}

// index finds the kernels among the embedded files.
var index = sync.OnceValue(func() map[string]*entry {
	m := map[string]*entry{}
	groups, _ := files.ReadDir(".")
	for _, g := range groups {
		if !g.IsDir() {
			continue
		}
		kernels, _ := files.ReadDir(g.Name())
		for _, k := range kernels {
			if name, ok := strings.CutSuffix(k.Name(), ".spv"); ok {
				m[g.Name()+"/"+name] = &entry{path: g.Name() + "/" + k.Name()}
			}
		}
	}
	return m
})

// Module returns the kernel of a name such as "image/gaussian_h.u8". It is
// reflected once, at the first call; every caller shares it. It was validated
// when it was built, and its hash is part of the ABI fingerprint.
// Errors: ErrInvalidArgument for an unknown name.
func Module(name string) (*spv.Module, error) {
	e := index()[name]
	if e == nil {
		return nil, fmt.Errorf("spirv: module: %w: no kernel is named %q", errs.ErrInvalidArgument, name)
	}
	e.load(name)
	return e.module, e.err
}

func (e *entry) load(name string) {
	e.once.Do(func() {
		var code []byte
		if code, e.err = files.ReadFile(e.path); e.err == nil {
			e.module, e.err = spv.Reflect(name, code)
		}
	})
}

// Preload reads all kernels at once, on all processors. Opening a device needs
// them all, for the fingerprint.
func Preload() {
	names := make(chan string)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for n := range names {
				index()[n].load(n)
			}
		})
	}
	for n := range index() {
		names <- n
	}
	close(names)
	readers.Wait()
}

// Names returns the names of all kernels, sorted. The caller may keep it.
func Names() []string {
	names := make([]string, 0, len(index()))
	for n := range index() {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Fingerprint is the ABI fingerprint that was computed when the kernels were
// built; 0 if the bundle has none.
func Fingerprint() uint64 {
	text := ABIText()
	line, _, _ := strings.Cut(text, "\n")
	v, err := strconv.ParseUint(strings.TrimPrefix(line, "fingerprint "), 16, 64)
	if err != nil {
		return 0
	}
	return v
}

// ABIText is the canonical ABI text the kernels were built for, with its
// fingerprint in the first line.
func ABIText() string {
	b, err := files.ReadFile("abi.txt")
	if err != nil {
		return ""
	}
	return string(b)
}

// Sums is spirv.sum: the tools and flags the kernels were made with, and the
// hashes of each kernel and of its sources.
func Sums() string {
	b, err := files.ReadFile("spirv.sum")
	if err != nil {
		return ""
	}
	return string(b)
}
