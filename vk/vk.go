// Package vk is gpu.Device over Vulkan 1.1 or later.
//
// The package opens the Vulkan loader at run time. So a program that imports it starts on
// a machine without Vulkan too, and Open says what is missing. If the program is built
// with the tag novk, or without cgo, the package has no Vulkan in it, and Open says so.
//
// # Memory
//
// Buffers are ranges of large blocks, of 64 MiB at first. Empty blocks of up to 256 MiB
// together are kept for reuse, because the first access to new pages costs more than a
// copy. All blocks together stay within the size of their heap, as the driver reports it.
// Beyond that Alloc returns ErrOutOfMemory, whether or not the driver would. A single
// buffer larger than Limits.MaxBuffer is a *gpu.LimitError.
//
// Memory that the host can map is written and read in place. Other memory is copied by
// way of staging memory. The environment variable LATHE_VK_STAGING=1 makes all copies use
// staging memory. It is for tests.
//
// # Batches
//
// Submit records into a batch. The batch goes to the device when it is worth a
// submission, when a Read, Sync or Close needs it, or when it is full. There is a barrier
// only between dispatches that use the same bytes of a buffer, if one of them writes.
package vk

import (
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// Options are the options of Open. The zero value is the usual choice.
type Options struct {
	// Device selects a device as gpu.Choose does: index, part of the name, or
	// UUID. Empty means the environment variable LATHE_DEVICE, else the best.
	Device string
	// Validation turns on the Khronos validation layer. What it finds becomes
	// the error of the next Sync, Read or Close, and goes to Warn as well.
	Validation bool
	// CacheDir holds compiled pipelines between runs; empty means the folder
	// lathe/pipelines in the user's cache folder.
	CacheDir string
	// NoCache keeps pipelines in memory only.
	NoCache bool
	// CloseTimeout is how long Close waits for work. Without a bound it would wait for
	// ever if a shader does not end. 0 means gpu.DefaultCloseTimeout, less than
	// 0 means no bound.
	CloseTimeout time.Duration
	// Warn receives messages meant for the user, such as that only a CPU driver
	// was found. It must not call the device. nil writes them to slog.Default, each once in a process.
	Warn func(string)
}

// Report is what Probe found out about Vulkan on this machine.
type Report struct {
	Built           bool              // whether the program was built with Vulkan
	LoaderPath      string            // the library that was opened, or ""
	LoaderError     string            // why each library could not be opened
	InstanceVersion string            // the version of the loader, such as "1.3.239"
	ICDFolders      []string          // the folders that were searched for drivers
	ICDFiles        []string          // the driver manifests that were found
	Env             map[string]string // the environment variables that are set and control the loader
	Layers          []string          // the layers that the loader knows
	Devices         []gpu.Info        // the usable devices, as List returns them
	Unusable        []string          // the devices that cannot be used, with the reason
	Error           error             // the error of List; nil if there is a device
}
