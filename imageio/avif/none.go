//go:build js || !(nodynamic || (linux && cgo && (amd64 || arm64)))

package avif

import (
	"runtime"

	"github.com/lathe-gpu/lathe/internal/avif"
)

func init() {
	if runtime.GOOS == "js" {
		avif.Lack("programs for GOOS=js have no codec for it")
		return
	}
	avif.Lack("this program was built without its codec: build it with -tags nodynamic")
}
