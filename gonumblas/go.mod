module github.com/lathe-gpu/lathe/gonumblas

go 1.26.0

replace github.com/lathe-gpu/lathe => ../

require (
	github.com/lathe-gpu/lathe v0.0.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/tetratelabs/wazero v1.11.0 // indirect
	github.com/vulkan-go/vulkan v0.0.0-20221209234627-c0a353ae26c8 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
