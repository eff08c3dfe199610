package lint

import (
	"go/ast"
	"path"
	"strings"
)

// skips are the functions whose tests may call Skip themselves, as "file function", or
// all functions of a folder. Every other test is skipped by internal/testlevel or
// internal/testkit: their reasons say how to run it, and it fails where a device or a tool
// is required.
var skips = map[string]string{ // the reason
	"internal/testkit":   "skips for others",
	"internal/testlevel": "skips for others",
	"gpu/gputest":        "the suite runs on devices of others too; each reason says what the device lacks",

	"tests/conformance/devices_test.go TestBackendsAgree":          "the validation layer watches one backend",
	"tests/conformance/one_test.go TestOps":                        "LATHE_OPS chooses what it tries; TestDevices tries everything",
	"tests/foreign/file_test.go TestFile":                          "LATHE_FUZZ_FILE chooses what it tries",
	"examples/browser/browser_test.go TestPage":                    "make browser installs Chromium and requires it",
	"internal/spv/cooperative_test.go TestCooperativeValidates":    "the spirv-val of Debian 12 is too old; make newest-mesa runs it",
	"imageops/plan_test.go TestPlansKeepLimits":                    "rapid draws another case",
	"internal/families/reduction/plan_test.go TestChunksCoverRows": "rapid draws another case",
	"tensor/desc_test.go TestDescSizesAgainstBig":                  "rapid draws another case",
}

// skipping reports the calls of Skip, Skipf and SkipNow in the functions of f, which uses
// the package testing, that have no row in skips.
func (l *linter) skipping(name string, f *ast.File) {
	if skips[path.Dir(name)] != "" || !strings.HasSuffix(name, "_test.go") && !importing(f, "testing") {
		return
	}
	for _, d := range f.Decls {
		in := name
		if fn, ok := d.(*ast.FuncDecl); ok {
			in += " " + fn.Name.Name
		}
		if skips[in] != "" {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if ok && (sel.Sel.Name == "Skip" || sel.Sel.Name == "Skipf" || sel.Sel.Name == "SkipNow") {
				l.report(l.at(call), "a test skips itself: it may never run, and nobody sees that. Call internal/testlevel or internal/testkit instead: their reasons say how to run it, and it fails where a device or a tool is required. Or give the function a row in internal/lint's skips, with the reason")
			}
			return true
		})
	}
}

// importing reports whether f imports a package.
func importing(f *ast.File, pkg string) bool {
	for _, s := range f.Imports {
		if s.Path.Value == `"`+pkg+`"` {
			return true
		}
	}
	return false
}
