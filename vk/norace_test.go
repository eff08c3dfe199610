//go:build !race && !novk && cgo

package vk

const raceEnabled = false
