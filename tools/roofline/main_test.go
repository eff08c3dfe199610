package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The picture of the docs is that of their tables.
func TestFresh(t *testing.T) {
	text, err := os.ReadFile("../../docs/performance-log.md")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../docs/img/roofline.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, plot(string(text))) {
		t.Error("docs/img/roofline.svg is not that of docs/performance-log.md: run make pictures")
	}
}

func TestPlot(t *testing.T) {
	const text = "| ceiling | by | time | GB/s | GFLOP/s |\n| device copy, 64 MiB | k | 1 ms | 5 | |\n| multiply-add, f32 | k | 1 ms | | 40 |\n" +
		"| add x=1 | f32[2] | 1 ms | 4 | 2 | 0.5 | memory |\n| add | f32[9] | 1 ms | 4 | 1 | 0.5 | memory |\n| matmul | f32 | 1 ms | 1 | 20 | 0.5 | arithmetic |\n| copy | f32 | 1 ms | 4 | | 1 | memory |\n"
	points, bw, fl := read(text)
	if len(points) != 2 || points[0] != (point{"add", 0.25, 1, true}) || points[1] != (point{"matmul", 20, 20, false}) || bw != 5 || fl != 40 {
		t.Errorf("%+v, %v GB/s, %v GFLOP/s", points, bw, fl)
	}
	if svg := string(plot(text)); !strings.Contains(svg, ">matmul<") || strings.Contains(svg, "NaN") {
		t.Error(svg)
	}
}
