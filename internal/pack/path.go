package pack

import (
	"path"
	"strings"
)

// Parts is the folder of spirv/ with the parts, which are no kernels: modules of one function, of which
// kernels are linked at run time.
const Parts = "fused"

// IsPart reports whether a name is that of a part: "group/shader.f32.function", with or without a further
// suffix, or one of the group Parts.
func IsPart(name string) bool {
	return strings.HasPrefix(name, Parts+"/") || strings.HasSuffix(name, ".function") || strings.Contains(name, ".function.")
}

// Path returns the path below spirv/ of the packed file that has a module. The modules of a shader file are in one,
// and so are the parts of a group.
func Path(name string) string {
	shader, _, _ := strings.Cut(name, ".")
	if IsPart(name) {
		return Parts + "/" + path.Dir(name) + ".pack"
	}
	return shader + ".pack"
}
