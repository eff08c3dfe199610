package gpu

import "github.com/lathe-gpu/lathe/internal/spv"

// Module is a compute shader that was validated, and all that a caller must know to
// launch it: its bindings, its push constants, its local size and what it needs of a
// device. [ParseModule] makes one. It is immutable.
type Module = spv.Module

// Unbounded is Module.Iterations where no bound on the loops can be proven.
const Unbounded = spv.Unbounded

// ParseModule validates a SPIR-V compute shader and reflects it. It refuses what the
// rules of SPIR-V and Vulkan forbid, because drivers crash on such modules instead of
// reporting them, and it keeps no reference to code. The name goes into Module.Name and
// into error texts. It may be empty.
//
// Of several entry points it takes the one called "main", and the only compute shader
// whatever it is called; [ModuleEntry] chooses another. Descriptor sets become one, as
// [DispatchCompute] says.
//
// Errors: ErrInvalidShader naming the rule broken; ErrUnsupported naming a construct
// that is valid but that Lathe cannot bind or does not know (sampled images, resource
// arrays, acceleration structures, capabilities of extensions).
func ParseModule(name string, code []byte) (*Module, error) { return spv.Parse(name, code) }

// ModuleEntries lists the names of the compute entry points of a SPIR-V module in their
// order. It reads no more of the module than that takes.
//
// Errors: ErrInvalidShader.
func ModuleEntries(code []byte) ([]string, error) { return spv.Entries(code) }

// ModuleEntry gives the SPIR-V module that has the compute entry point name alone, called
// "main". What only the other entry points use is gone from it. A module that has this
// one entry point, called "main", comes back as it is. ParseModule checks the result:
// it is no more valid than code was.
//
// Errors: ErrInvalidArgument listing the names there are; ErrInvalidShader.
func ModuleEntry(code []byte, name string) ([]byte, error) { return spv.Entry(code, name) }
