// Package spirv holds the compiled kernels of the operations. Each kernel is one SPIR-V
// module. tools/genspirv makes them from shaders/. They are embedded, so that no user
// needs a shader compiler. Only the Go files in this folder are written by hand.
//
// What is embedded are packed files: the ABI text, and one for each shader file. A program has
// those of the folders that it links. A kernel is unpacked when it is first used. The kernels that belong to no operation are in
// package extra, and not in a user's program.
package spirv

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pack"
	"github.com/lathe-gpu/lathe/internal/spv"
)

//go:embed abi.pack
var index embed.FS

// bundle is a set of kernels.
type bundle struct {
	// text is the ABI text, which describes the kernels. Its first line has the
	// fingerprint.
	text string
	// table is what the text says.
	table   abi.Table
	kernels map[string]*kernel
	// names are the names of the kernels, sorted.
	names []string

	mu sync.RWMutex
	// linked have the packed files of the groups that are linked.
	linked []fs.FS
}

// kernel is a kernel of a bundle. It is unpacked when it is first needed.
type kernel struct {
	declared spv.Module
	from     *shader
	once     sync.Once
	module   *spv.Module
	err      error
}

// shader is a packed file. It has the kernels that one shader file was compiled to.
type shader struct {
	path string
	once sync.Once
	// code is the SPIR-V of each kernel by name.
	code map[string][]byte
	err  error
}

var own = sync.OnceValue(func() *bundle { return open(index) })

// open parses the index of a bundle, the file abi.pack. If the ABI text is damaged, or is not the one of its
// fingerprint, the bundle has no kernels.
func open(files fs.FS) *bundle {
	b := &bundle{kernels: map[string]*kernel{}, linked: []fs.FS{files}}
	data, err := fs.ReadFile(files, "abi.pack")
	if err != nil {
		return b
	}
	text, err := pack.DecodeText(data)
	if err != nil {
		return b
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	if first != fmt.Sprintf("fingerprint %016x", abi.Fingerprint(rest)) {
		return b
	}
	t, err := abi.Parse(rest)
	if err != nil {
		return b
	}
	b.text, b.table = string(text), t
	shaders := map[string]*shader{}
	for i := range t.Kernels {
		k := &t.Kernels[i]
		path, _, _ := strings.Cut(k.Name, ".")
		from := shaders[path]
		if from == nil {
			from = &shader{path: path + ".pack"}
			shaders[path] = from
		}
		b.kernels[k.Name] = &kernel{from: from, declared: spv.Module{
			Name: k.Name, Hash: k.Hash, Bindings: k.Bindings, Params: k.Params, Specs: k.Specs, LocalSize: k.LocalSize,
		}}
		b.names = append(b.names, k.Name)
	}
	slices.Sort(b.names)
	return b
}

// find returns a kernel. op is the name of the function in the error.
func (b *bundle) find(op, name string) (*kernel, error) {
	k := b.kernels[name]
	if k == nil {
		return nil, fmt.Errorf("spirv: %s: %w: no kernel is named %q", op, errs.ErrInvalidArgument, name)
	}
	return k, nil
}

// load returns the module of a kernel.
func (b *bundle) load(name string) (*spv.Module, error) {
	k, err := b.find("module", name)
	if err != nil {
		return nil, err
	}
	files := b.files(k.from.path)
	if files == nil {
		return nil, fmt.Errorf("spirv: module: %w: %s, of kernel %q, is not linked; install a matching release", errs.ErrABIMismatch, k.from.path, name)
	}
	k.once.Do(func() {
		var code []byte
		if code, k.err = k.from.find(files, name); k.err == nil {
			k.module, k.err = spv.Reflect(name, code)
		}
		if k.err == nil && k.module.Hash != k.declared.Hash {
			k.module, k.err = nil, fmt.Errorf("spirv: module: %w: kernel %q is not the one of the ABI text; install a matching release", errs.ErrABIMismatch, name)
		}
	})
	return k.module, k.err
}

// files returns the linked files that have a path, or nil.
func (b *bundle) files(path string) fs.FS {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, files := range b.linked {
		if _, err := fs.Stat(files, path); err == nil {
			return files
		}
	}
	return nil
}

// find returns the SPIR-V of a kernel. The first call unpacks the file.
func (s *shader) find(files fs.FS, name string) ([]byte, error) {
	s.once.Do(func() {
		data, err := fs.ReadFile(files, s.path)
		if err != nil {
			s.err = err
			return
		}
		list, err := pack.Decode(data)
		if err != nil {
			s.err = err
			return
		}
		s.code = make(map[string][]byte, len(list))
		for _, m := range list {
			s.code[m.Name] = m.Code
		}
	})
	if s.err != nil {
		return nil, fmt.Errorf("spirv: module: %w: %s: %w", errs.ErrABIMismatch, s.path, s.err)
	}
	code := s.code[name]
	if code == nil {
		return nil, fmt.Errorf("spirv: module: %w: %s has no kernel %q; install a matching release", errs.ErrABIMismatch, s.path, name)
	}
	return code, nil
}

// Module returns the kernel with a name such as "image/gaussian_blur.u8.first". The first
// call unpacks and reflects it, and all callers share it. The kernels of one shader file
// are unpacked together and stay in memory. A kernel was validated when it was built, and
// its hash is part of the ABI text.
// Errors: ErrInvalidArgument for an unknown name, ErrABIMismatch for a kernel that is
// not the one of the ABI text.
func Module(name string) (*spv.Module, error) {
	linkAll()
	return own().load(name)
}

// Declared returns what the ABI text says about a kernel, without its code: name, hash,
// bindings, params, constants and local size. It is cheap, and no device can run the
// result.
// Errors: ErrInvalidArgument for an unknown name.
func Declared(name string) (*spv.Module, error) {
	k, err := own().find("declared", name)
	if err != nil {
		return nil, err
	}
	return &k.declared, nil
}

// Names returns the names of all kernels, sorted. The caller may keep it.
func Names() []string { return slices.Clone(own().names) }

// Fingerprint returns the ABI fingerprint that was computed when the kernels were built.
// It is 0 if the bundle has none.
func Fingerprint() uint64 {
	line, _, _ := strings.Cut(own().text, "\n")
	v, err := strconv.ParseUint(strings.TrimPrefix(line, "fingerprint "), 16, 64)
	if err != nil {
		return 0
	}
	return v
}

// Verify returns ErrABIMismatch if the bundle is damaged: if its ABI text is missing, or is not
// the one that the fingerprint was computed of.
func Verify() error { return own().verify() }

func (b *bundle) verify() error {
	if b.text == "" {
		return fmt.Errorf("spirv: verify: %w: the ABI text of the kernels is damaged; run \"make shaders\" and rebuild, or install a matching release", errs.ErrABIMismatch)
	}
	return nil
}

// Operation returns the part of the ABI text that describes an operation: the element types,
// its arguments and its kernels. It is "" if the kernels were built without that operation.
func Operation(name string) string {
	b := own()
	i := slices.IndexFunc(b.table.Ops, func(op abi.TableOp) bool { return op.Name == name })
	if i < 0 {
		return ""
	}
	op := b.table.Ops[i]
	part := abi.Table{DTypes: b.table.DTypes, Ops: []abi.TableOp{op}}
	for _, k := range b.table.Kernels {
		if slices.Contains(op.Kernels, k.Name) {
			part.Kernels = append(part.Kernels, k)
		}
	}
	return part.Text()
}

// ABIText returns the canonical ABI text that the kernels were built for. Its first line
// has the fingerprint.
func ABIText() string { return own().text }
