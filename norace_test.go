//go:build !race

package lathe_test

const raced = false
