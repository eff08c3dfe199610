package exec

import (
	"errors"
	"hash/maphash"
	"runtime"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
)

const (
	// leastRepeated is how many launches a list has for which a submission of its own, as a prepared list is, costs less than to record it again
	// into what the device submits together.
	leastRepeated = 32
	// mostRepeated is how many prepared lists a Sequence keeps, each for other buffers. Runs that feed outputs back alternate between two.
	mostRepeated = 4
)

// repeats are lists of a Sequence that the device has prepared, because the same launches were submitted with the same buffers before.
type repeats struct {
	seed maphash.Seed
	seen [2 * mostRepeated]uint64 // hashes of the buffers of the last submissions that were not prepared
	next int                      // where the next one goes
	kept []*repeat                // the one that was used last comes first
	off  bool                     // a list could not be prepared: there is no memory
}

// repeat is a prepared list, and the buffers that it has.
type repeat struct {
	at      []address
	list    gpu.Prepared
	cleanup runtime.Cleanup
}

// address is where a slot begins.
type address struct {
	h      gpu.Handle
	offset int64
}

// repeated returns a prepared list of the launches with the buffers that the slots are now, or nil if it has to be submitted anew.
func (s *Sequence) repeated() gpu.Prepared {
	dev, ok := s.r.dev.(gpu.Preparer)
	if !ok || s.repeats.off || len(s.list) < leastRepeated || len(s.checks) > 0 || s.r.trace != nil { // words of checks and tags differ from run to run
		return nil
	}
	r := &s.repeats
	for i, k := range r.kept {
		if s.lies(k.at) {
			copy(r.kept[1:], r.kept[:i])
			r.kept[0] = k
			return k.list
		}
	}
	h := s.hash()
	i := slices.Index(r.seen[:], h)
	if i < 0 {
		r.seen[r.next] = h
		r.next = (r.next + 1) % len(r.seen)
		return nil
	}
	r.seen[i] = 0
	list, err := dev.Prepare(s.list)
	if err != nil { // Submit says what else is wrong
		r.off = errors.Is(err, gpu.ErrOutOfMemory)
		return nil
	}
	k := &repeat{list: list}
	for j := range s.slots {
		k.at = append(k.at, address{s.slots[j].h, s.slots[j].offset})
	}
	k.cleanup = runtime.AddCleanup(s, func(p gpu.Prepared) { _ = p.Free() }, list) // fails on a closed device only
	if len(r.kept) == mostRepeated {
		r.kept[mostRepeated-1].free()
		r.kept = r.kept[:mostRepeated-1]
	}
	r.kept = slices.Insert(r.kept, 0, k)
	return list
}

// lies reports whether the slots are at these addresses.
func (s *Sequence) lies(at []address) bool {
	for i := range s.slots {
		if s.slots[i].h != at[i].h || s.slots[i].offset != at[i].offset {
			return false
		}
	}
	return true
}

// hash is a number of the addresses of the slots, never 0.
func (s *Sequence) hash() uint64 {
	if s.repeats.seed == (maphash.Seed{}) {
		s.repeats.seed = maphash.MakeSeed()
	}
	var sum maphash.Hash
	sum.SetSeed(s.repeats.seed)
	for i := range s.slots {
		maphash.WriteComparable(&sum, address{s.slots[i].h, s.slots[i].offset})
	}
	return max(sum.Sum64(), 1)
}

func (k *repeat) free() {
	k.cleanup.Stop()
	_ = k.list.Free() // fails on a device that is closed or lost, which every later call says
}

// Close releases what the device keeps of the Sequence. Work that was submitted still finishes. A Sequence that nothing refers to any more is closed by the
// garbage collector.
func (s *Sequence) Close() {
	if s == nil {
		return
	}
	for _, k := range s.repeats.kept {
		k.free()
	}
	s.repeats.kept, s.repeats.off = nil, true
}
