package gputest_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/gputest"
)

func TestPaddingNull(t *testing.T) {
	gputest.Padding(t, func(t testing.TB) gpu.Device { return open(t, small()) })
}
