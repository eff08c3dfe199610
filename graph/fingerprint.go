package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"reflect"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// device is what a plan was compiled for.
type device struct {
	Target           spec.Target
	Align, MaxBuffer int64
}

// Fingerprint returns a SHA-256 sum of what the plan was made of: the graph after all passes with its names, calls, attributes, dtypes, shapes and
// the bytes of its constants; the options; what the compiler knows of the device; and the ABI of the kernels. Equal graphs have equal
// fingerprints, in other processes and on other machines too, and the smallest change makes another one. Labels do not count, and
// neither do strategies that were tuned. It is zero for a Plan that Compile did not make.
func (p *Plan) Fingerprint() [sha256.Size]byte {
	if p == nil || p.Graph == nil {
		return [sha256.Size]byte{}
	}
	s := summer{sha256.New()}
	s.number(spirv.Fingerprint())
	s.value(reflect.ValueOf(p.device), mostNested)
	o := p.options
	o.Without, o.Supported = sortedSet(o.Without), sortedSet(o.Supported)
	s.value(reflect.ValueOf(o), mostNested)
	s.graph(p.Graph)
	return [sha256.Size]byte(s.h.Sum(nil))
}

// sortedSet are the names of a list whose order means nothing. It is nil for nil only.
func sortedSet(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// mostNested is how deep attributes may lie in each other. It ends the sum of a call that contains itself.
const mostNested = 64

// summer adds to a hash. What it adds says where it ends, so that other values give other bytes.
type summer struct{ h hash.Hash }

func (s summer) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	s.h.Write(b[:])
}

func (s summer) text(t string) {
	s.number(uint64(len(t)))
	s.h.Write([]byte(t))
}

func (s summer) desc(d tensor.Desc) {
	s.number(uint64(d.DType))
	s.value(reflect.ValueOf(d.Shape), mostNested)
	s.value(reflect.ValueOf(d.ElementStrides()), mostNested)
}

// graph adds a graph. After its nodes comes what no node begins with.
func (s summer) graph(g *mir.Graph) {
	for i := range g.Nodes() {
		s.node(g, &g.Nodes()[i])
	}
	s.number(math.MaxUint64)
	for _, out := range g.Outputs() {
		s.text(out.Name)
		s.number(uint64(out.Value))
	}
}

// node adds a node. Its number says which values it makes.
func (s summer) node(g *mir.Graph, n *mir.Node) {
	s.number(uint64(n.Kind))
	switch n.Kind {
	case mir.Input, mir.Param:
		s.text(n.Name)
		s.value(reflect.ValueOf(n.Weight), 1)
	case mir.Constant:
		s.number(uint64(len(n.Data)))
		s.h.Write(n.Data)
	case mir.View:
		s.number(uint64(n.Offset))
	case mir.If, mir.While:
		s.number(uint64(n.Most))
		for _, b := range n.Bodies {
			s.graph(b)
		}
	case mir.Op:
		s.value(reflect.ValueOf(&n.Call).Elem(), mostNested)
	}
	s.number(uint64(len(n.In)))
	for _, v := range n.In {
		s.number(uint64(v))
	}
	s.number(uint64(len(n.Out)))
	for _, v := range n.Out {
		s.desc(g.Desc(v))
	}
}

// value adds a value of any type. Functions and channels have nothing that a sum could have, and count as set or not.
func (s summer) value(v reflect.Value, depth int) {
	s.number(uint64(v.Kind()))
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			s.number(1)
		} else {
			s.number(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		s.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		s.number(math.Float64bits(v.Float()))
	case reflect.Complex64, reflect.Complex128:
		s.number(math.Float64bits(real(v.Complex())))
		s.number(math.Float64bits(imag(v.Complex())))
	case reflect.String:
		s.text(v.String())
	case reflect.Slice, reflect.Array:
		s.list(v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			s.value(v.Field(i), depth-1)
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			s.number(0)
			return
		}
		if v.Kind() == reflect.Interface {
			s.text(v.Elem().Type().PkgPath() + " " + v.Elem().Type().String())
		}
		s.value(v.Elem(), depth-1)
	case reflect.Map:
		s.table(v, depth)
	default:
		if v.IsNil() {
			s.number(0)
		}
	}
}

// list adds a slice or an array. A slice that is nil is another one than one without elements: options may say different things by them.
func (s summer) list(v reflect.Value, depth int) {
	if v.Kind() == reflect.Slice && v.IsNil() {
		s.number(math.MaxUint64)
		return
	}
	s.number(uint64(v.Len()))
	for i := range v.Len() {
		s.value(v.Index(i), depth-1)
	}
}

// table adds a map, in the order of the sums of its entries.
func (s summer) table(v reflect.Value, depth int) {
	var sums [][]byte
	for it := v.MapRange(); it.Next(); {
		entry := summer{sha256.New()}
		entry.value(it.Key(), depth-1)
		entry.value(it.Value(), depth-1)
		sums = append(sums, entry.h.Sum(nil))
	}
	slices.SortFunc(sums, bytes.Compare)
	s.number(uint64(len(sums)))
	for _, sum := range sums {
		s.h.Write(sum)
	}
}
