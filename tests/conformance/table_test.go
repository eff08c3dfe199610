package conformance_test

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/conformance"
)

func TestTable(t *testing.T) {
	row := func(op, dtype string, s conformance.Status, message string) conformance.Row {
		return conformance.Row{Op: op, DType: dtype, Status: s, Message: message}
	}
	page := conformance.Table([]*conformance.Report{
		{Backend: "vk", Device: "A", Driver: "x", Rows: []conformance.Row{
			row("relu", "f32", conformance.Pass, ""), row("relu", "f32", conformance.Pass, ""), row("add", "f32", conformance.Expected, "off by | one")}},
		{Backend: "wgpu", Device: "A", Driver: "y", Rows: []conformance.Row{
			row("relu", "f64", conformance.Unsupported, "exec: relu: unsupported: f64: none here"), row("relu", "f64", conformance.Unsupported, "exec: relu: unsupported: f64: none here")}},
	}, "made on 2026-11-22 at commit abc", "")
	for _, want := range []string{
		"1. vk: A (x): 3 cases, 2 passed, 0 unsupported, 1 expected to fail, 0 failed; made on 2026-11-22 at commit abc.\n",
		"2. wgpu: A (y): 2 cases, 0 passed, 2 unsupported, 0 expected to fail, 0 failed; made on 2026-11-22 at commit abc.\n",
		"| operation | 1. vk | 2. wgpu |\n|---|---|---|\n",
		"| add | 0 pass; 1 expected: off by \\| one (f32) | not run |\n",
		"| relu | 2 pass | 0 pass; 2 unsupported: f64: none here (f64) |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	// A run of one device replaces its column, and keeps the others.
	ours := &conformance.Report{Backend: "cpu", Device: "B", Driver: "z", Quick: true, Rows: []conformance.Row{row("abs", "f32", conformance.Pass, "")}}
	again := conformance.Table([]*conformance.Report{ours}, "made on 2026-11-23 at commit def", page)
	for _, want := range []string{
		"0 failed; made on 2026-11-22 at commit abc.\n2. wgpu: A (y): 2 cases,",
		"3. cpu: B (z, quick level): 1 cases, 1 passed, 0 unsupported, 0 expected to fail, 0 failed; made on 2026-11-23 at commit def.\n",
		"| operation | 1. vk | 2. wgpu | 3. cpu |\n|---|---|---|---|\n| abs | not run | not run | 1 pass |\n" +
			"| add | 0 pass; 1 expected: off by \\| one (f32) | not run | not run |\n" +
			"| relu | 2 pass | 0 pass; 2 unsupported: f64: none here (f64) | not run |\n",
	} {
		if !strings.Contains(again, want) {
			t.Errorf("no %q in\n%s", want, again)
		}
	}
	if third := conformance.Table([]*conformance.Report{ours}, "made on 2026-11-23 at commit def", again); third != again {
		t.Errorf("the same run made\n%s", third)
	}
}
