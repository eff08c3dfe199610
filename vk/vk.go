// Package vk is gpu.Device over Vulkan 1.1 or later.
//
// The Vulkan loader is opened at run time, so a program that imports this
// package starts, and says what is missing, on a machine without Vulkan. Built
// with the tag novk, or without cgo, the package has no Vulkan in it and Open
// says so.
//
// # Memory
//
// Buffers are ranges of large blocks, 64 MiB at first. A block that has become
// empty is kept for reuse as long as no more than 256 MiB lie idle, because
// the first touch of fresh pages costs more than a copy. The total of all
// blocks stays within the size of the heap they come from, as the driver
// reports it, whether or not the driver enforces that: beyond it Alloc returns
// ErrOutOfMemory. A single buffer past Limits.MaxBuffer is a *gpu.LimitError.
//
// Memory that the host can map is written and read in place, the rest by way of
// staging memory; the environment variable LATHE_VK_STAGING=1 makes all of it
// take the second way, which is for tests.
//
// # Batches
//
// Submit records into a batch, which goes to the device when it is worth a
// submission, when a Read, Sync or Close needs it, or when it is full. Barriers
// are recorded only between dispatches that touch the same bytes of a buffer
// and write at least once.
package vk

import (
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// Options are what Open may be told. The zero value is the usual choice.
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
	// CloseTimeout is how long Close waits for work, which a shader without end
	// keeps it from for ever; 0 means gpu.DefaultCloseTimeout, less than 0 no bound.
	CloseTimeout time.Duration
	// Warn receives messages meant for the user, such as that only a CPU driver
	// was found; nil writes them to standard error. It must not call the device.
	Warn func(string)
}

// Report is what Probe found out about Vulkan on this machine.
type Report struct {
	Built           bool              // false where the program was built without Vulkan
	LoaderPath      string            // library that was opened, "" if none
	LoaderError     string            // why each library could not be opened
	InstanceVersion string            // of the loader, such as "1.3.239"
	ICDFolders      []string          // folders searched for drivers
	ICDFiles        []string          // driver manifests found
	Env             map[string]string // environment variables in force that steer the loader
	Layers          []string          // layers the loader knows
	Devices         []gpu.Info        // usable devices, as List gives them
	Unusable        []string          // devices that cannot be used, with the reason
	Error           error             // what List would return; nil if there is a device
}
