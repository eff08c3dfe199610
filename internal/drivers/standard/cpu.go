//go:build !nocpu

package standard

import _ "github.com/lathe-gpu/lathe/cpu" // registers itself
