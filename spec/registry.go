package spec

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

var registry struct {
	sync.Mutex
	byName map[string]*Op
}

// Register adds an operation to the registry and returns it. From then on its
// functions take calls as Resolve does: pointers to calls too, and no other calls
// than its own. It panics on a second declaration of a name: that is a mistake of
// the program's text. Nil is not registered.
func Register(op *Op) *Op {
	if op == nil {
		return nil
	}
	registry.Lock()
	defer registry.Unlock()
	if registry.byName == nil {
		registry.byName = map[string]*Op{}
	}
	for _, n := range append([]string{op.Name}, op.Aliases...) {
		if registry.byName[n] != nil {
			panic(fmt.Sprintf("spec: operation %q declared twice", n))
		}
		registry.byName[n] = op
	}
	return op
}

// All returns every registered operation by name.
func All() []*Op {
	registry.Lock()
	defer registry.Unlock()
	var ops []*Op
	for n, op := range registry.byName {
		if n == op.Name {
			ops = append(ops, op)
		}
	}
	slices.SortFunc(ops, func(a, b *Op) int { return strings.Compare(a.Name, b.Name) })
	return ops
}

// Lookup returns the operation of a name or alias, or nil.
func Lookup(name string) *Op {
	registry.Lock()
	defer registry.Unlock()
	return registry.byName[name]
}
