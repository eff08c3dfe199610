package main

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// groups is the number of workgroups: that of --groups, or else as many as the largest buffer
// wants. What was chosen is said in a note, unless there is no choice.
func (c *dispatchCmd) groups(a *app, code []byte, bufs []buffer) ([3]uint32, error) {
	if c.Groups != "" {
		return parseGroups(c.Groups)
	}
	m, err := spv.Parse("", code)
	if err != nil {
		return [3]uint32{1, 1, 1}, nil // the device says what is wrong with the shader
	}
	groups, why := groupsFor(m, bufs)
	if why != "" {
		a.warn("note: " + why + "; --groups chooses another number")
	}
	return groups, nil
}

// groupsFor is the number of workgroups that has an invocation for each element of the largest
// buffer, as the shader sees it. A workgroup with rows says nothing of the shape of its data, so
// there is one of them. why is what the user should know.
func groupsFor(m *spv.Module, bufs []buffer) (groups [3]uint32, why string) {
	groups = [3]uint32{1, 1, 1}
	local := m.LocalSize
	if local[1] > 1 || local[2] > 1 {
		return groups, fmt.Sprintf("one workgroup of %d×%d×%d invocations runs, because buffers do not say how many rows there are", local[0], local[1], local[2])
	}
	var elements int64
	for i := range m.Bindings {
		b := &m.Bindings[i]
		if b.ArrayStride == 0 || uint64(b.Slot) >= uint64(len(bufs)) {
			continue
		}
		bytes := bufs[b.Slot].desc.Bytes() - int64(b.ArrayOffset)
		elements = max(elements, (bytes+int64(b.ArrayStride)-1)/int64(b.ArrayStride))
	}
	if elements == 0 {
		return groups, fmt.Sprintf("one workgroup of %d invocations runs, because the shader has no array whose length says how many are needed", local[0])
	}
	size := max(int64(local[0]), 1)
	many := (elements + size - 1) / size
	groups[0] = uint32(min(many, math.MaxUint32))
	if many > 1 {
		why = fmt.Sprintf("%d workgroups of %d invocations run, for %d elements", many, local[0], elements)
	}
	return groups, why
}
