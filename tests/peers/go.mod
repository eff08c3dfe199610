module github.com/lathe-gpu/lathe/tests/peers

go 1.26.0

replace github.com/lathe-gpu/lathe => ../..

require (
	github.com/anthonynsimon/bild v0.14.0 // indirect
	github.com/disintegration/gift v1.2.1 // indirect
	github.com/disintegration/imaging v1.6.2 // indirect
	github.com/inconshreveable/mousetrap v1.0.0 // indirect
	github.com/spf13/cobra v0.0.5 // indirect
	github.com/spf13/pflag v1.0.3 // indirect
	golang.org/x/image v0.18.0 // indirect
)
