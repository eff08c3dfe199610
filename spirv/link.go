package spirv

import (
	"embed"
	"io/fs"
	"slices"
)

// Each variable has the packed kernels of a folder. The linker leaves out of a program those that
// nothing refers to. So only the functions below refer to them.
var (
	//go:embed blas/*.pack
	blasFiles embed.FS
	//go:embed image/*.pack
	imageFiles embed.FS
	//go:embed logic/*.pack
	logicFiles embed.FS
	//go:embed math/*.pack
	mathFiles embed.FS
	//go:embed move/*.pack
	moveFiles embed.FS
	//go:embed nn/*.pack
	nnFiles embed.FS
	//go:embed quant/*.pack
	quantFiles embed.FS
	//go:embed random/*.pack
	randomFiles embed.FS
	//go:embed reduce/*.pack
	reduceFiles embed.FS
)

// link makes the kernels of a folder known.
func link(files *embed.FS) {
	b := own()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.linked, fs.FS(files)) {
		b.linked = append(b.linked, files)
	}
}

// linkAll makes all kernels known, so that a program that calls it has all.
func linkAll() {
	LinkBLAS()
	LinkImage()
	LinkLogic()
	LinkMath()
	LinkMove()
	LinkNN()
	LinkQuant()
	LinkRandom()
	LinkReduce()
}

// LinkBLAS puts the kernels of the folder blas into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkBLAS() { link(&blasFiles) }

// LinkImage puts the kernels of the folder image into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkImage() { link(&imageFiles) }

// LinkLogic puts the kernels of the folder logic into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkLogic() { link(&logicFiles) }

// LinkMath puts the kernels of the folder math into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkMath() { link(&mathFiles) }

// LinkMove puts the kernels of the folder move into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkMove() { link(&moveFiles) }

// LinkNN puts the kernels of the folder nn into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkNN() { link(&nnFiles) }

// LinkQuant puts the kernels of the folder quant into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkQuant() { link(&quantFiles) }

// LinkRandom puts the kernels of the folder random into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkRandom() { link(&randomFiles) }

// LinkReduce puts the kernels of the folder reduce into the program, for Kernel. The declarations of
// operations that launch them call it.
func LinkReduce() { link(&reduceFiles) }
