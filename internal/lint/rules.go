// Package lint holds the project's own rules as data and checks the source
// tree against them: who may import whom, how large a file may be, what must be
// documented, what must not be written. Its test is the linter. Each finding
// says why the rule is there and what to do instead.
package lint

const module = "github.com/lathe-gpu/lathe"

// layer says what the packages of a folder may import of this module. Test
// files may import more: a test stands outside its layer.
type layer struct {
	path string // folder; with a trailing /... also all below it
	may  string // folders, by single spaces, an empty one for the root package; "*" for any
	why  string // the reason, and what to do instead
}

// layers is the import graph. The first row whose path fits counts.
var layers = []layer{
	{"internal/errs", "", "the sentinels sit below everything; put what needs another package where it is used"},
	{"internal/child", "", "a child process does the jobs of its parent, whatever they are"},
	{"internal/pixels", "", "pixel conversions serve images of the standard library only; put what needs a device into the root package"},
	{"internal/bmp", "internal/errs", "a decoder turns a file into rows of pixels and knows nothing of who wants them"},
	{"internal/gif", "", "a codec is given rows of pixels or makes them, and knows nothing of where they come from or who wants them"},
	{"internal/jpeg", "", "an encoder is given rows of pixels and knows nothing of where they come from"},
	{"internal/icc", "internal/errs", "a colour profile is bytes, whatever file has it and whatever uses its numbers"},
	{"internal/exif", "", "EXIF data are bytes, whatever file has them"},
	{"internal/tiff", "internal/errs internal/exif", "a decoder turns a file into rows of pixels and knows nothing of who wants them"},
	{"internal/webp", "internal/errs internal/pixels", "a codec is given rows of pixels or makes them, and knows nothing of where they come from or who wants them"},
	{"internal/units", "", "numbers for people are text, wherever they come from"},
	{"internal/testimg", "", "test pictures are made from nothing, so that any test can use them"},
	{"internal/testlevel", "", "the levels are for tests of any package, so they know none"},
	{"internal/testkit", "internal/errs", "what tests share is used by the tests of any package, so it knows no device and no operation; let the test pass what it opened"},
	{"internal/testspv/...", "", "random modules and the interpreter are a second opinion on what SPIR-V means, so they share no code with what reads and compiles it"},
	{"internal/testgpu", "gpu internal/extra internal/spv internal/testkit", "tests of any device launch the suite's kernels with it, so it knows no backend and no operation"},
	{"internal/testgpu/committed", "internal/extra internal/spv spirv", "it lists kernels for tests, whatever runs them"},
	{"internal/launch", "cpu gpu internal/child internal/drivers internal/drivers/standard internal/testkit", "tests launch foreign modules in child processes with it, whatever the modules compute"},
	{"internal/lint", "", "the linter reads the tree as text; what it must know of it comes from its test"},

	{"handles", "internal/errs", "handles name values of any type; what a value is belongs to the package that has the table"},
	{"tensor", "internal/errs", "tensors are described without any device; put what needs one into exec or the root package"},
	{"value", "handles internal/errs", "a Value is computed with on the host; what a handle stands for belongs to the package that has the table"},
	{"internal/spv/ir", "", "a shader taken apart is data: what reads SPIR-V and what compiles it are elsewhere"},
	{"internal/spv", "internal/errs internal/spv/ir", "SPIR-V is read and rewritten as data: no device and no operation; let the caller pass what it knows"},
	{"internal/abi", "internal/spv", "the canonical text is made of declarations given as data; let the caller pass what it knows"},
	{"internal/wasm", "", "WebAssembly is written as data, whatever it computes"},
	{"internal/pack", "", "a packed file holds modules by name, whatever they compute"},
	{"spirv", "internal/abi internal/errs internal/pack internal/spv", "spirv hands out compiled kernels and knows neither operations nor devices"},
	{"internal/extra", "internal/errs internal/spv", "kernels of no operation, for suites and the bench; a package that a user's program has must not import it"},

	{"gpu", "handles internal/errs internal/spv", "the contract with devices knows no operation; work reaches it as Dispatches, from exec"},
	{"gpu/gputest", "gpu handles internal/errs internal/extra internal/spv", "the device suite brings its own kernels, shaders/test/gputest_*; it knows no operation"},
	{"gpu/guard", "gpu handles internal/errs internal/spv", "devices that wrap one know gpu.Device and nothing of what runs on it"},
	{"internal/gpu/...", "gpu handles internal/errs internal/spv", "devices that wrap or fake one know gpu.Device and nothing of what runs on it"},
	{"internal/record", "gpu internal/errs", "what records submissions knows gpu.Device and nothing of what runs on it"},
	{"internal/device", "gpu handles internal/errs internal/spv", "what backends share calls no driver and knows no operation; what is one driver's own belongs to its package"},
	{"wgpu", "gpu internal/device internal/drivers internal/errs internal/spv", "a backend knows no operation: it runs Dispatches. Plan in the operation, launch in exec"},
	{"cpu/internal/compile", "cpu/internal/vecmath internal/errs internal/spv internal/spv/ir internal/wasm", "the compiler turns a module into another one: it knows no device and no operation"},
	{"cpu", "cpu/internal/compile gpu internal/device internal/drivers internal/errs internal/spv internal/wasm", "a backend knows no operation: it runs Dispatches. Plan in the operation, launch in exec"},
	{"internal/drivers", "gpu internal/device", "drivers chooses among the backends that register themselves: it imports none of them, and knows nothing of what runs on them"},
	{"internal/drivers/standard", "cpu vk", "the backends of every program; a program that wants wgpu imports it, because its library is large"},
	{"vk", "gpu internal/device internal/drivers internal/errs internal/spv", "a backend knows no operation: it runs Dispatches. Plan in the operation, launch in exec"},
	{"cpu/internal/vecmath", "internal/wasm", "elementary functions are written for any module; it knows neither SPIR-V nor who calls them"},

	{"spec", "internal/abi internal/errs internal/spv tensor", "an operation is described without a device; what a plan must know of one is spec.Target"},
	{"internal/planner", "internal/errs internal/spv spec spirv tensor", "the kit of plans knows no operation and no device; put what belongs to one family there"},
	{"internal/families/...", "internal/errs internal/families/... internal/planner internal/spv spec spirv tensor", "families of operations are data over spec.Target: they never see gpu or vk; let exec bind them"},
	{"imageops", "internal/errs internal/families/... internal/icc internal/planner spec spirv tensor", "operations are data over spec.Target: they never see gpu or vk; let exec bind them"},
	{"ops", "internal/errs internal/families/... internal/planner spec spirv tensor", "operations are data over spec.Target: they never see gpu or vk; let exec bind them"},
	{"internal/calls", "imageops ops spec", "it lists the operations and declares none"},
	{"ops/all", "internal/calls spec", "it registers the operations for those who find them by name, and does nothing else"},
	{"internal/exec/tune", "gpu internal/errs", "tune remembers choices by name; what can be chosen is the operation's to say, and measuring is exec's"},
	{"internal/exec", "internal/exec/tune gpu handles internal/errs internal/families/movement internal/planner internal/spv spec spirv tensor", "exec joins spec to gpu, for any device and any operation: it names neither"},

	{"graph/mir", "internal/errs spec tensor", "the graph of operations is data: it knows no device, and any operation by its declaration"},
	{"graph/lir", "graph/mir internal/errs spec tensor", "a schedule is data: what compiles its calls is given by the caller"},
	{"graph", "graph/lir graph/mir internal/errs internal/families/fusion internal/number internal/units internal/view ops spec spirv tensor", "a graph is built and compiled without a device; internal/session gives the result memory"},

	{"graph/hir", "graph internal/errs ops tensor", "a block is calls of a graph and nothing else"},

	{"", "gpu graph graph/lir handles imageops internal/drivers internal/errs internal/exec internal/gpu/chrome internal/number internal/pixels internal/session internal/view ops spec spirv tensor", "the front door stands on everything below, and on no command or suite"},
	{"internal/number", "internal/errs spec tensor", "a number as an operand has no memory; what needs a device belongs to the surface"},
	{"internal/view", "internal/errs tensor", "a view is sizes and strides; whose memory it is a view of belongs to the surface"},
	{"internal/session", "gpu graph/lir handles internal/drivers internal/drivers/standard internal/errs internal/exec internal/exec/tune internal/gpu/chrome internal/record internal/spv spec spirv tensor", "the core under every surface knows any operation by its declaration and any device by its interface; the form of tensors belongs to the surface"},
	{"backend", "gpu handles imageops internal/drivers internal/errs internal/session ops ops/all spec spirv tensor value", "operations by handle are a thin layer over internal/session: what an operation does belongs into ops, what a device does into gpu"},
	{"rawptr", "gpu internal/drivers internal/errs internal/exec internal/families/gemm internal/gpu/null internal/session ops spec tensor", "operations by address are a thin layer over internal/session: what an operation does belongs into ops, what a device does into gpu"},
	{"gonumblas", "rawptr", "the BLAS of gonum is functions of rawptr between copies: what a function does belongs into rawptr"},
	{"internal/bench", "gpu internal/errs internal/exec internal/extra ops/all spec spirv tensor", "the bench measures any operation of the table on any device: it names neither"},
	{"internal/networks", " graph ops spec tensor", "networks are written as a user's program writes them: public packages only"},
	{"internal/planview", "graph graph/lir graph/mir internal/errs internal/units spec", "a plan is drawn as data: it knows no device"},
	{"conformance", "gpu gpu/guard internal/errs internal/exec internal/gpu/null ops/all spec tensor", "the suite checks any operation of the table on any device: it names neither"},
	{"internal/avif", "internal/errs", "a codec is given rows of pixels or makes them, and knows nothing of where they come from or who wants them"},
	{"imageio/avif", "internal/avif internal/errs", "the codec of AVIF is large, so a program has it only if it imports this; what reads the files belongs to internal/avif"},
	{"imageio", "internal/avif internal/bmp internal/errs internal/exif internal/gif internal/jpeg internal/pixels internal/tiff internal/webp", "files of pictures are read and written without a device, so that a program may import this alone"},
	{"internal/batch", "imageio internal/avif internal/errs internal/pixels spec", "the batch engine is given what turns one picture into another; let the command pass it"},

	{"cmd/...", "*", "a command may use anything"},
	{"tools/...", "*", "a tool may use anything; nothing may use a tool"},
	{"tests/...", "*", "a suite may use anything"},
	{"examples/...", " backend gpu graph graph/hir handles imageio imageops ops ops/all rawptr spec spirv tensor value wgpu", "an example shows what a user's program can do: public packages only"},
}

// public are the packages that a program of a user may import, by folder, each with the user
// who needs it. docs/architecture.md has the same list. Everything in it is a promise, so
// all other packages are internal.
var public = []struct{ dir, user string }{
	{"", "programs that run operations on pictures and tensors"},
	{"imageops", "the same: the calls of operations on pictures"},
	{"imageio", "the same, and any other: files of pictures, upright and within limits"},
	{"imageio/avif", "the same: for imageio, the codec of AVIF pictures"},
	{"ops", "the same: the calls of operations on tensors"},
	{"ops/all", "programs that find operations by name"},
	{"tensor", "the same: element types, shapes and host tensors"},
	{"backend", "runtimes of languages: operations and tensors by handle and by name"},
	{"rawptr", "numerical code: operations on device addresses with leading dimensions and strides"},
	{"graph", "programs that run the same operations again and again: graphs of calls, compiled once"},
	{"graph/hir", "the same: blocks of networks, such as those of Llama"},
	{"graph/mir", "the same: to read what a graph became, node by node"},
	{"graph/lir", "the same: to read where its values lie, and programs that compile for a device of their own"},
	{"gonumblas", "programs that use gonum; a module of its own, because Lathe does not require gonum"},
	{"value", "runtimes of languages: the values that scripts have"},
	{"spec", "programs that declare operations of their own, or read calls from text"},
	{"conformance", "programs that declare operations of their own, and tests of a device: the suite of the operations"},
	{"gpu", "programs that launch shaders of their own, or have a device of their own"},
	{"gpu/gputest", "programs that have a device of their own: the suite that it must pass"},
	{"gpu/guard", "programs that launch shaders of their own: a device that finds what they write outside of buffers"},
	{"handles", "programs that have a device of their own: its table of buffers"},
	{"spirv", "programs that launch single kernels of Lathe"},
	{"vk", "programs that open a device of Vulkan by themselves"},
	{"wgpu", "programs that want WebGPU, by an import or by opening a device themselves"},
	{"cpu", "programs that open the device on the CPU by themselves"},
}

// mayWebGPU are the folders whose code and tests may import package wgpu. No program of a user
// imports a package of theirs, unless it imports wgpu too.
var mayWebGPU = []string{"wgpu", "cmd/...", "tools/...", "tests/...", "examples/..."}

// library says which folders may import a module that is not ours.
type library struct {
	path string // import path; also everything below it
	may  string // folders as in layer.path, by spaces
	why  string
}

// libraries are the modules the project stands on. One without a row may be
// imported nowhere.
var libraries = []library{
	{"github.com/vulkan-go/vulkan", "vk", "Vulkan stays behind gpu.Device"},
	{"github.com/cogentcore/webgpu", "wgpu", "WebGPU stays behind gpu.Device"},
	{"github.com/tetratelabs/wazero", "cpu imageio/avif", "WebAssembly stays behind gpu.Device, and runs the codec of AVIF"},
	{"github.com/gen2brain/avif", "imageio/avif", "a program has it only if it asks for AVIF"},
	{"github.com/google/uuid", "cpu gpu/... handles internal/gpu/... vk wgpu", "identity of devices and tables"},
	{"github.com/alecthomas/kong", "cmd/...", "only a command has a command line"},
	{"github.com/vbauerster/mpb/v8", "cmd/...", "only a command draws on a terminal"},
	{"golang.org/x/term", "cmd/...", "only a command draws on a terminal"},
	{"github.com/bmatcuk/doublestar/v4", "internal/batch cmd/...", "globs are the batch engine's"},
	{"golang.org/x/image", "imageio internal/testimg internal/tiff internal/webp cmd/... tools/... tests/... examples/...", "the library takes image.Image: imageio decodes and encodes"},
	{"golang.org/x/sync", "internal/batch cmd/... internal/exec vk", "semaphores and groups of goroutines"},
	{"golang.org/x/sys", "cmd/... cpu vk internal/batch", "the system below"},
}

// Size budgets in lines. A file that outgrows its budget usually holds two
// ideas: part them. A file that truly holds one gets a row in oversize.
const (
	maxGoLines     = 500
	maxTestLines   = 800
	maxShaderLines = 150
	maxMethods     = 10 // of an interface
)

// oversize are the files allowed more lines than their kind, and why.
var oversize = map[string]struct {
	lines int
	why   string
}{}

// marks and words must not be in code that ships: they mean that something was
// left out. Marks count in capitals only, words in any case. They are put
// together here so that the linter does not find itself.
var (
	marks = []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
	words = []string{"not imple" + "mented", "unimple" + "mented", "stu" + "b", "stu" + "bs", "for n" + "ow"}
)

// machinePaths begin paths that exist on one developer's machine only.
var machinePaths = []string{"/ho" + "me/", "/ro" + "ot/", "/wo" + "rk/", "/Us" + "ers/", `C:\Us` + "ers", "/tm" + "p/"}
