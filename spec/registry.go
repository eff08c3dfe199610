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

// Register adds an operation to the registry and returns it. Programs can then find it by
// name. It panics if the name or an alias is taken, because that is a mistake in the
// source of the program. A nil operation is not registered. The operations of Lathe are
// registered in programs that import package ops/all.
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

// All returns every registered operation, sorted by name. Those of Lathe are among them if the
// program imports package ops/all.
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

// Lookup returns the registered operation with a name or alias, or nil if there is none. Those
// of Lathe are registered if the program imports package ops/all.
func Lookup(name string) *Op {
	registry.Lock()
	defer registry.Unlock()
	return registry.byName[name]
}
