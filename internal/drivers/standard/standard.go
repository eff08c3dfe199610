// Package standard imports the backends that every program has: vk, and cpu unless the build
// tag nocpu leaves it out. A program adds wgpu by an import of its own.
package standard

import _ "github.com/lathe-gpu/lathe/vk" // registers itself
