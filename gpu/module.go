package gpu

import "github.com/lathe-gpu/lathe/internal/spv"

// Module is a compute shader that was validated, and all that a caller must know to
// launch it: its bindings, its push constants, its local size and what it needs of a
// device. [ParseModule] makes one. It is immutable.
type Module = spv.Module

// Unbounded is Module.Iterations of a module for whose loops no bound is known.
const Unbounded = spv.Unbounded

// ParseModule validates a SPIR-V compute shader and reflects it. It refuses what the
// rules of SPIR-V and Vulkan forbid, because drivers crash on such modules instead of
// reporting them, and it keeps no reference to code. The name goes into Module.Name and
// into error texts. It may be empty.
//
// If a module has several compute entry points, ParseModule uses the one called "main".
// If it has one, its name does not matter. [ModuleEntry] chooses another one. Descriptor
// sets are joined to one, as [DispatchCompute] says.
//
// Errors: ErrInvalidShader naming the rule broken; ErrUnsupported naming a construct
// that is valid but that Lathe cannot bind or does not know (sampled images, resource
// arrays, acceleration structures, capabilities of extensions).
func ParseModule(name string, code []byte) (*Module, error) { return spv.Parse(name, code) }

// ModuleEntries lists the names of the compute entry points of a SPIR-V module, in their
// order. It reads only the part of the module that it needs.
//
// Errors: ErrInvalidShader.
func ModuleEntries(code []byte) ([]string, error) { return spv.Entries(code) }

// ModuleEntry returns a SPIR-V module whose only compute entry point is the one called
// name. It is renamed to "main". Code that only other entry points use is removed. A
// module whose only entry point is called "main" is returned unchanged. The result is
// only valid if code is. ParseModule checks it.
//
// Errors: ErrInvalidArgument, which lists the existing names; ErrInvalidShader.
func ModuleEntry(code []byte, name string) ([]byte, error) { return spv.Entry(code, name) }
