package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

const sumHeader = "# Shader sums, written by tools/genspirv: the tools, then each kernel with the SHA-256 of its module and of its sources."

// sums is the content of spirv.sum.
type sums struct {
	tools   tools
	kernels map[string]sum
}

// sum is the hashes of one kernel.
type sum struct{ spv, src [sha256.Size]byte }

// text formats s.
func (s sums) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, sumHeader)
	for _, l := range s.tools.lines() {
		fmt.Fprintln(&b, l)
	}
	names := make([]string, 0, len(s.kernels))
	for n := range s.kernels {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(&b, "%s spv:%x src:%x\n", n, s.kernels[n].spv, s.kernels[n].src)
	}
	return b.String()
}

// parseSums reads what text wrote.
func parseSums(text string) (sums, error) {
	s := sums{kernels: map[string]sum{}}
	header := map[string]*string{
		"glslc": &s.tools.glslc, "glslc-flags": &s.tools.glslcFlags,
		"spirv-opt": &s.tools.opt, "spirv-opt-flags": &s.tools.optFlags,
	}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, rest, _ := strings.Cut(line, " ")
		if p := header[key]; p != nil {
			*p = rest
			continue
		}
		spv, src, ok := strings.Cut(rest, " ")
		a, errA := digest(spv, "spv:")
		b, errB := digest(src, "src:")
		if _, dup := s.kernels[key]; !ok || errA != nil || errB != nil || dup {
			return sums{}, fmt.Errorf("genspirv: spirv/spirv.sum:%d: not a line of sums: %q", i+1, line)
		}
		s.kernels[key] = sum{a, b}
	}
	return s, nil
}

// digest reads prefix and a SHA-256 in hexadecimal.
func digest(word, prefix string) (d [sha256.Size]byte, err error) {
	h, ok := strings.CutPrefix(word, prefix)
	b, err := hex.DecodeString(h)
	if !ok || err != nil || len(b) != len(d) {
		return d, fmt.Errorf("want %s and 64 digits (got %q)", prefix, word)
	}
	copy(d[:], b)
	return d, nil
}
