// Package tests holds what the conformance suite knows of drivers, where the
// command line finds it too.
package tests

import _ "embed" // for Expect

// Expect is expect.txt, the table of known trouble; the file says what its
// columns are.
//
//go:embed expect.txt
var Expect string
