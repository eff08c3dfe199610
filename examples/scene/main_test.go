package main

import (
	"bytes"
	"testing"

	"github.com/lathe-gpu/lathe/internal/extra"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

// The program embeds the module that the build makes of shaders/demo/scene.comp.
func TestModule(t *testing.T) {
	m, err := extra.Module("demo/scene.u8")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sceneCode, m.Code) {
		t.Error("scene.spv is not the module of the shader: run go generate ./examples/scene")
	}
}
