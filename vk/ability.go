//go:build !novk && cgo

package vk

/*
#include "query.h"
*/
import "C"

import "github.com/lathe-gpu/lathe/internal/spv"

// offered has the feature of Vulkan that stands for each ability.
var offered = map[spv.Ability]struct{ structure, member int }{
	spv.SharedZero:      {C.LVK_ZERO_SHARED, 0},
	spv.SubgroupFlow:    {C.LVK_SUBGROUP_FLOW, 0},
	spv.SubgroupTypes:   {C.LVK_SUBGROUP_TYPES, 0},
	spv.SharedAtomics64: {C.LVK_ATOMICS64, 1},
	spv.BufferF32:       {C.LVK_ATOMIC_FLOAT, 0},
	spv.BufferF32Add:    {C.LVK_ATOMIC_FLOAT, 1},
	spv.BufferF64:       {C.LVK_ATOMIC_FLOAT, 2},
	spv.BufferF64Add:    {C.LVK_ATOMIC_FLOAT, 3},
	spv.SharedF32:       {C.LVK_ATOMIC_FLOAT, 4},
	spv.SharedF32Add:    {C.LVK_ATOMIC_FLOAT, 5},
	spv.SharedF64:       {C.LVK_ATOMIC_FLOAT, 6},
	spv.SharedF64Add:    {C.LVK_ATOMIC_FLOAT, 7},
	spv.BufferF32MinMax: {C.LVK_ATOMIC_FLOAT2, 3},
	spv.BufferF64MinMax: {C.LVK_ATOMIC_FLOAT2, 4},
	spv.SharedF32MinMax: {C.LVK_ATOMIC_FLOAT2, 8},
	spv.SharedF64MinMax: {C.LVK_ATOMIC_FLOAT2, 9},
	spv.SubgroupClock:   {C.LVK_CLOCK, 0},
	spv.DeviceClock:     {C.LVK_CLOCK, 1},
	spv.Uniform16:       {C.LVK_STORAGE16, 1},
	spv.Push16:          {C.LVK_STORAGE16, 2},
	spv.Uniform8:        {C.LVK_STORAGE8, 1},
	spv.Push8:           {C.LVK_STORAGE8, 2},
	spv.BufferPointers:  {C.LVK_POINTERS, 0},
	spv.IntegerDot:      {C.LVK_DOT, 0},
	spv.Assumptions:     {C.LVK_ASSUME, 0},
}

// floatModes are the abilities that the properties of float controls report. They are in
// the order of Vulkan's structure, after its two independences.
var floatModes = [15]spv.Ability{
	spv.Special16, spv.Special32, spv.Special64, spv.Preserve16, spv.Preserve32, spv.Preserve64, spv.Flush16, spv.Flush32, spv.Flush64,
	spv.Nearest16, spv.Nearest32, spv.Nearest64, spv.Truncate16, spv.Truncate32, spv.Truncate64,
}

// abilities are the abilities of the device. Lathe enables all of them.
func (p *physical) abilities() (a spv.Ability) {
	q := &p.query
	for ability, at := range offered {
		if q.features[at.structure][at.member] != 0 {
			a |= ability
		}
	}
	if q.ballot != 0 {
		a |= spv.BallotExtension
	}
	if q.vote != 0 {
		a |= spv.VoteExtension
	}
	if q.floatControls == 0 {
		return a
	}
	a |= spv.FloatControls
	for k, ability := range floatModes {
		if q.floats[2+k] != 0 {
			a |= ability
		}
	}
	for k, free := range [2][2]spv.Ability{{spv.DenormFree32, spv.DenormFree}, {spv.RoundingFree32, spv.RoundingFree}} {
		switch q.floats[k] { // VkShaderFloatControlsIndependence
		case 0:
			a |= free[0]
		case 1:
			a |= free[0] | free[1]
		}
	}
	return a
}
