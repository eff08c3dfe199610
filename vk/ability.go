//go:build !novk && cgo

package vk

/*
#include "query.h"
*/
import "C"

import "github.com/lathe-gpu/lathe/abi"

// offered says which feature stands for an ability.
var offered = map[abi.Ability]struct{ structure, member int }{
	abi.SharedZero:      {C.LVK_ZERO_SHARED, 0},
	abi.SubgroupFlow:    {C.LVK_SUBGROUP_FLOW, 0},
	abi.SubgroupTypes:   {C.LVK_SUBGROUP_TYPES, 0},
	abi.SharedAtomics64: {C.LVK_ATOMICS64, 1},
	abi.BufferF32:       {C.LVK_ATOMIC_FLOAT, 0},
	abi.BufferF32Add:    {C.LVK_ATOMIC_FLOAT, 1},
	abi.BufferF64:       {C.LVK_ATOMIC_FLOAT, 2},
	abi.BufferF64Add:    {C.LVK_ATOMIC_FLOAT, 3},
	abi.SharedF32:       {C.LVK_ATOMIC_FLOAT, 4},
	abi.SharedF32Add:    {C.LVK_ATOMIC_FLOAT, 5},
	abi.SharedF64:       {C.LVK_ATOMIC_FLOAT, 6},
	abi.SharedF64Add:    {C.LVK_ATOMIC_FLOAT, 7},
	abi.BufferF32MinMax: {C.LVK_ATOMIC_FLOAT2, 3},
	abi.BufferF64MinMax: {C.LVK_ATOMIC_FLOAT2, 4},
	abi.SharedF32MinMax: {C.LVK_ATOMIC_FLOAT2, 8},
	abi.SharedF64MinMax: {C.LVK_ATOMIC_FLOAT2, 9},
	abi.SubgroupClock:   {C.LVK_CLOCK, 0},
	abi.DeviceClock:     {C.LVK_CLOCK, 1},
	abi.Uniform16:       {C.LVK_STORAGE16, 1},
	abi.Push16:          {C.LVK_STORAGE16, 2},
	abi.Uniform8:        {C.LVK_STORAGE8, 1},
	abi.Push8:           {C.LVK_STORAGE8, 2},
	abi.BufferPointers:  {C.LVK_POINTERS, 0},
	abi.IntegerDot:      {C.LVK_DOT, 0},
	abi.Assumptions:     {C.LVK_ASSUME, 0},
}

// floatModes are the abilities that the properties of float controls tell, in the
// order that Vulkan has them in after the two independences.
var floatModes = [15]abi.Ability{
	abi.Special16, abi.Special32, abi.Special64, abi.Preserve16, abi.Preserve32, abi.Preserve64, abi.Flush16, abi.Flush32, abi.Flush64,
	abi.Nearest16, abi.Nearest32, abi.Nearest64, abi.Truncate16, abi.Truncate32, abi.Truncate64,
}

// abilities are those the device has, all of which are enabled.
func (p *physical) abilities() (a abi.Ability) {
	q := &p.query
	for ability, at := range offered {
		if q.features[at.structure][at.member] != 0 {
			a |= ability
		}
	}
	if q.ballot != 0 {
		a |= abi.BallotExtension
	}
	if q.vote != 0 {
		a |= abi.VoteExtension
	}
	if q.floatControls == 0 {
		return a
	}
	a |= abi.FloatControls
	for k, ability := range floatModes {
		if q.floats[2+k] != 0 {
			a |= ability
		}
	}
	for k, free := range [2][2]abi.Ability{{abi.DenormFree32, abi.DenormFree}, {abi.RoundingFree32, abi.RoundingFree}} {
		switch q.floats[k] { // VkShaderFloatControlsIndependence
		case 0:
			a |= free[0]
		case 1:
			a |= free[0] | free[1]
		}
	}
	return a
}
