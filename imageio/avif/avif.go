// Package avif gives package imageio the codec of AVIF pictures. A program imports it for that only:
//
//	import _ "github.com/lathe-gpu/lathe/imageio/avif"
//
// Then imageio reads AVIF files, and writes them. Without the import it says of them that the program
// has no codec. The codec is libavif with libaom, compiled to WebAssembly, which makes a program about
// 1.5 MB larger. It runs in a sandbox, and takes a bounded amount of memory. When the context ends, calls
// return at once, and the codec finishes its picture behind them.
// On processors other than amd64 and arm64 it is interpreted, which is many times slower.
//
// The module that has it, github.com/gen2brain/avif, loads a libavif of the machine when a program starts,
// if there is one. Lathe never uses that one, so pictures do not depend on what is installed. The build tag
// nodynamic leaves the loading out, and programs should be built with it:
//
//	go build -tags nodynamic ./...
//
// Without the tag, the codec is there on Linux with cgo only, for amd64 and arm64. Everywhere else
// the module would load whatever a folder has under that name, or the program would no longer be
// static. There imageio says that the program was built without the tag. Programs for GOOS=js have no codec.
package avif
