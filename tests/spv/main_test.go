//go:build cgo

// Package spv_test runs modules that package internal/spv rewrites on every driver, and wants
// the results that SPIR-V gives. The tests are here, and not beside what they test, because
// they use WebGPU: "go mod tidy" of a user's program looks at the tests of the packages that
// the program imports, and would fetch WebGPU for them.
package spv_test

import (
	"os"
	"testing"

	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/spv"
)

func TestMain(m *testing.M) {
	launch.Main(nil)
	os.Exit(m.Run())
}

// assemble makes a module of SPIR-V 1.3 of lines such as "%x = OpFAdd %f32 %a 3".
func assemble(t testing.TB, text string) []byte {
	t.Helper()
	code, err := spv.Assemble(0x10300, text)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
