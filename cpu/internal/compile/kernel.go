// Package compile makes WebAssembly modules of compute shaders. Four invocations that follow
// each other in a workgroup are one vector. Values that are the same for the four are
// scalars. Source: M. Pharr and W. Mark, "ispc: A SPMD compiler for high-performance CPU
// programming", 2012, for the masks.
package compile

// Kernel is a compiled shader: a WebAssembly module.
type Kernel struct {
	// Wasm is the module. It imports the memory "lathe" "memory" (shared, 0 to 65536
	// pages) and exports the function "run" with the signature (frame i32, first i32,
	// count i32). run executes the workgroups first to first+count-1 of the dispatch,
	// which are numbered with x fastest.
	Wasm []byte
	// FrameBytes is the size of the frame that each worker needs for it, with the header.
	// It is a multiple of 64.
	FrameBytes uint32
	// Loops says that the shader has loops, so that nothing bounds the time of a workgroup.
	Loops bool
}

// The header of a frame. All numbers are u32, little-endian. Frames are aligned to 64 bytes.
const (
	FrameGroups   = 0   // the numbers of workgroups in x, y, z (12 bytes)
	FrameStop     = 12  // the address of a word; if it is not 0, the kernel ends by a trap
	FramePush     = 16  // 128 bytes of push constants
	FrameBindings = 144 // for each binding slot: address and size in bytes (8 bytes each)
)

// lanes is the number of invocations in a vector.
const lanes = 4
