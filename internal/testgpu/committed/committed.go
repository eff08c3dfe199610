// Package committed lists the committed kernels for tests that go over all of them.
package committed

import (
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spirv"
)

// Kernels lists all kernels of the packages spirv and extra, in the order of their names.
func Kernels(t testing.TB) []*spv.Module {
	t.Helper()
	var all []*spv.Module
	for _, set := range []struct {
		names  []string
		module func(string) (*spv.Module, error)
	}{{spirv.Names(), spirv.Module}, {extra.Names(), extra.Module}} {
		for _, name := range set.names {
			m, err := set.module(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *spv.Module) int { return strings.Compare(a.Name, b.Name) })
	return all
}
