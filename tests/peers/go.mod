module github.com/lathe-gpu/lathe/tests/peers

go 1.26.0

replace github.com/lathe-gpu/lathe => ../..

require (
	github.com/anthonynsimon/bild v0.14.0
	github.com/disintegration/gift v1.2.1
	github.com/disintegration/imaging v1.6.2
	github.com/lathe-gpu/lathe v0.0.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/cogentcore/webgpu v0.23.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/tetratelabs/wazero v1.11.0 // indirect
	github.com/vulkan-go/vulkan v0.0.0-20221209234627-c0a353ae26c8 // indirect
	golang.org/x/image v0.47.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
