package vk

// Hazards. Between two barriers the device may run dispatches in any order or at the
// same time. So every buffer remembers which of its ranges were read and written since
// the last barrier. A new access needs a barrier if its range overlaps an earlier one and
// at least one of the two accesses writes.
//
// The time between two barriers is an epoch. Marks of an older epoch are ignored, so a
// barrier only increases the number of the epoch.

// maxMarks is how many ranges a buffer remembers. More of them are merged into one, which
// may cost a barrier that was not needed.
const maxMarks = 64

// marks are the accesses to a buffer in the current epoch.
type marks struct {
	epoch         uint64
	reads, writes []span
}

// conflicts reports whether an access to s must wait for an earlier one.
func (m *marks) conflicts(epoch uint64, s span, write bool) bool {
	if m.epoch != epoch {
		return false
	}
	return meets(m.writes, s) || write && meets(m.reads, s)
}

// add remembers an access to s.
func (m *marks) add(epoch uint64, s span, write bool) {
	if m.epoch != epoch {
		m.epoch, m.reads, m.writes = epoch, m.reads[:0], m.writes[:0]
	}
	if write {
		m.writes = mark(m.writes, s)
	} else {
		m.reads = mark(m.reads, s)
	}
}

func meets(list []span, s span) bool {
	for i := range list {
		if list[i].off < s.end() && s.off < list[i].end() {
			return true
		}
	}
	return false
}

// mark adds s to list, joining it to a range it touches.
func mark(list []span, s span) []span {
	for i := range list {
		if list[i].off <= s.end() && s.off <= list[i].end() {
			list[i] = hull(list[i], s)
			return list
		}
	}
	if len(list) < maxMarks {
		return append(list, s)
	}
	for _, other := range list {
		s = hull(s, other)
	}
	return append(list[:0], s)
}

func hull(a, b span) span {
	off := min(a.off, b.off)
	return span{off, max(a.end(), b.end()) - off}
}
