// Package avif reads and writes AVIF pictures. It finds its way through the container, ISO/IEC 23008-12,
// and leaves the AV1 in it to a Codec, which a program has only if it asks for it.
//
// A Codec never sees the file. It gets a small one that is made of the parts that count, and that has
// one picture: the colours or the alpha. So alpha does not round colours, and nothing of the
// container of a hostile file gets as far as the codec.
package avif

import (
	"context"
	"fmt"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Codec codes AV1. Its methods may be called from several goroutines. They return when the context ends,
// and may go on with what they were given, so that must not change.
type Codec interface {
	// Decode returns the pixels of an AVIF file that has one picture of the size: R, G, B and A from
	// top left, of 8 bits, or of 16 bits, low byte first, if the picture has more than 8. It takes at
	// most so many bytes of memory.
	Decode(ctx context.Context, file []byte, width, height, depth int, memory int64) ([]byte, error)
	// Encode returns an AVIF file that has the pixels, R, G, B and A of 8 bits. Colours are
	// multiplied by alpha. Sampling is 4:4:4, 4:2:2 or 4:2:0. Quality is 1 to 100.
	Encode(ctx context.Context, pix []byte, width, height, quality int, sampling string) ([]byte, error)
}

var registered struct {
	sync.RWMutex
	codec Codec
	lack  error
}

// Register gives the program a codec.
func Register(c Codec) {
	registered.Lock()
	defer registered.Unlock()
	registered.codec = c
}

// Lack says why the program has no codec although it asks for one.
func Lack(reason string) {
	registered.Lock()
	defer registered.Unlock()
	registered.lack = fmt.Errorf("%w: AVIF: %s", errs.ErrUnsupported, reason)
}

// Available returns nil if the program has a codec. Otherwise the error, ErrUnsupported, says how it gets
// one.
func Available() error {
	_, err := codec()
	return err
}

func codec() (Codec, error) {
	registered.RLock()
	defer registered.RUnlock()
	switch {
	case registered.codec != nil:
		return registered.codec, nil
	case registered.lack != nil:
		return nil, registered.lack
	}
	return nil, fmt.Errorf(`%w: AVIF: this program has no codec for it: import _ "github.com/lathe-gpu/lathe/imageio/avif"`, errs.ErrUnsupported)
}

// IsAVIF reports whether a file that begins with head is an AVIF file. It looks for the brands that head
// has of it.
func IsAVIF(head []byte) bool {
	if len(head) < 12 || string(head[4:8]) != "ftyp" {
		return false
	}
	size := min(int64(be32(head)), int64(len(head)))
	for at := int64(8); at+4 <= size; at += 4 {
		if b := string(head[at : at+4]); (b == "avif" || b == "avis") && at != 12 { // a version is there
			return true
		}
	}
	return false
}
