package fusion

import (
	"strings"
	"sync"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// usesOf says how a kernel loads or stores what a launch binds. It is asked once for a kernel.
func usesOf(m *spv.Module, slot int, loads bool, form spv.Form) (spv.Uses, error) {
	key := usage{m.Hash, slot, loads, form}
	v, ok := usages.Load(key)
	if !ok {
		var u spv.Uses
		var err error
		if loads {
			u, err = spv.LoadsOf(m, uint32(slot))
		} else {
			u, err = spv.StoresOf(m, uint32(slot), form)
		}
		if v = u; err != nil {
			v = planner.Unsupported("%v", err)
		}
		if !m.Foreign && !strings.Contains(m.Name, "+") { // Programs and graphs may make any number.
			usages.Store(key, v)
		}
	}
	if err, ok := v.(error); ok {
		return spv.Uses{}, err
	}
	return v.(spv.Uses), nil
}

// usages remembers how kernels load and store.
var usages sync.Map // usage → spv.Uses or error

type usage struct {
	hash  [32]byte
	slot  int
	loads bool
	form  spv.Form
}

// formOf is the form in which kernels store elements of d.
func formOf(d tensor.DType) spv.Form {
	if d.Size() == 2 {
		return spv.Pairs
	}
	return spv.Words
}

// storedOnce returns an error unless each element of the result d is stored by one launch, which does not read it: what it reads would have gone
// through the epilogue.
func storedOnce(p *spec.Plan, d tensor.Desc) error {
	form, bytes := formOf(d.DType), d.Bytes()
	var windows [][2]int64
	for _, s := range p.Steps {
		for i, b := range s.Bind {
			if b.Buf != spec.Out(0) {
				continue
			}
			how, err := usesOf(s.Module, i, false, form)
			if err != nil {
				return err
			}
			if how.Reads {
				params, err := spec.Encode(s.Params)
				if err != nil {
					return err
				}
				if reads, err := spv.ReadsStored(s.Module, uint32(i), form, params); err != nil || reads {
					return planner.Unsupported("%s reads what it has stored", s.Module.Name)
				}
			}
			w := [2]int64{b.Offset, b.Offset + b.Size}
			if b.Size == 0 {
				w[1] = bytes
			}
			for _, other := range windows {
				if w[0] < other[1] && other[0] < w[1] {
					return planner.Unsupported("several launches store the same elements, such as %s", s.Module.Name)
				}
			}
			windows = append(windows, w)
		}
	}
	return nil
}
