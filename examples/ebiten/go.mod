module github.com/lathe-gpu/lathe/examples/ebiten

go 1.26.0

replace github.com/lathe-gpu/lathe => ../..

require (
	github.com/hajimehoshi/ebiten/v2 v2.9.4
	github.com/lathe-gpu/lathe v0.0.0
)

require (
	github.com/ebitengine/gomobile v0.0.0-20250923094054-ea854a63cce1 // indirect
	github.com/ebitengine/hideconsole v1.0.0 // indirect
	github.com/ebitengine/purego v0.9.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jezek/xgb v1.1.1 // indirect
	github.com/tetratelabs/wazero v1.11.0 // indirect
	github.com/vulkan-go/vulkan v0.0.0-20221209234627-c0a353ae26c8 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
