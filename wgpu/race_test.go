//go:build race

package wgpu

const raceEnabled = true
