package session

import (
	"cmp"
	"slices"
	"sort"

	"github.com/lathe-gpu/lathe/graph/lir"
)

// dependences finds which weights each of some calls depends on, by the memory that the calls read and write, in order.
type dependences struct {
	params        [][]int // by call: those that it reads
	reads, writes []region
}

// region is a part of Kept that a call reads or writes.
type region struct {
	call     int
	from, to int64 // bytes
}

// add adds a call, by what it reads and writes of params and Kept.
func (d *dependences) add(in, out []lir.Operand) {
	call := len(d.params)
	d.params = append(d.params, nil)
	touch := func(list *[]region, o lir.Operand) {
		if o.Memory == lir.Kept && o.Desc.Bytes() > 0 {
			*list = append(*list, region{call, o.Offset, o.Offset + o.Desc.Bytes()})
		}
	}
	for _, o := range in {
		if o.Value < 0 { // left out
			continue
		}
		if touch(&d.reads, o); o.Memory == lir.Params {
			d.params[call] = append(d.params[call], o.Buffer)
		}
	}
	for _, o := range out {
		touch(&d.writes, o)
	}
}

// weights are the params that each call depends on, itself or by what it reads. All depend on all if memory is written twice, or after it was read, as a schedule may do
// that a program has made: a part of the calls would find there what the last ones of all have left.
func (d *dependences) weights() [][]int {
	slices.SortFunc(d.writes, func(a, b region) int { return cmp.Compare(a.from, b.from) })
	again := false
	for i := range d.writes {
		again = again || i > 0 && d.writes[i-1].to > d.writes[i].from
	}
	list := make([][]int, len(d.params))
	at := 0
	for call, params := range d.params {
		all := slices.Clone(params)
		for ; at < len(d.reads) && d.reads[at].call == call; at++ {
			r := d.reads[at]
			first := sort.Search(len(d.writes), func(i int) bool { return d.writes[i].to > r.from })
			for _, w := range d.writes[first:] {
				if w.from >= r.to {
					break
				}
				if w.call >= call {
					again = true
					break
				}
				all = append(all, list[w.call]...)
			}
		}
		slices.Sort(all)
		list[call] = slices.Compact(all)
	}
	if !again {
		return list
	}
	every := slices.Concat(d.params...)
	slices.Sort(every)
	every = slices.Compact(every)
	for call := range list {
		list[call] = every
	}
	return list
}

// fixedOnly are those operands of a step that keep their elements from run to run.
func fixedOnly(l *lir.Program, in []lir.Operand) []lir.Operand {
	return slices.DeleteFunc(slices.Clone(in), func(o lir.Operand) bool {
		return o.Memory != lir.Kept && !(o.Memory == lir.Params && l.Params[o.Buffer].Weight)
	})
}
