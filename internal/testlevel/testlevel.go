// Package testlevel says how much the tests of this run should try. Only tests
// import it. LATHE_TEST names the level:
//
//   - quick, the default: minutes for all packages. Every operation, element type
//     and backend is run, on cases chosen so that each pair of choices occurs.
//   - full: everything that CI runs, larger sizes and a random sample of further
//     cases. `make test-full` sets it.
//   - soak: full products instead of pairs, and tests that take many minutes or
//     gigabytes each. `make soak` sets it.
//
// LATHE_TEST_SEED makes the choices of cases. A run without it makes the same
// choices everywhere; CI has another seed for each commit.
package testlevel

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The environment variables of this package.
const (
	Env     = "LATHE_TEST"
	SeedEnv = "LATHE_TEST_SEED"
)

// Level is how much to try.
type Level int

// The levels, in rising order.
const (
	Quick Level = iota
	Full
	Soak
)

var names = []string{"quick", "full", "soak"}

// String is the name that LATHE_TEST takes.
func (l Level) String() string { return names[l] }

// Of is the level of this run. It panics if LATHE_TEST names none: a misspelt
// level must not pass for the quick one.
func Of() Level {
	text := os.Getenv(Env)
	if text == "" {
		return Quick
	}
	for i, n := range names {
		if text == n {
			return Level(i)
		}
	}
	panic(fmt.Sprintf("testlevel: %s=%q (want quick, full or soak)", Env, text))
}

// IsFull reports whether this run is of the full level or above.
func IsFull() bool { return Of() >= Full }

// IsSoak reports whether this run is of the soak level.
func IsSoak() bool { return Of() >= Soak }

// Need skips a test that belongs to a higher level than this run's, and says how
// to run it.
func Need(t testing.TB, l Level) {
	t.Helper()
	if Of() < l {
		t.Skipf("runs at the %v level: %s=%v", l, Env, l)
	}
}

// Sampled reports whether this run tries item i of a list of items of one kind: at
// the full level all of them, at the quick level one out of every few. The seed
// says which one.
func Sampled(i, every int) bool {
	return IsFull() || uint64(i)%uint64(every) == seed()%uint64(every)
}

// Seed is the seed of the random choices of this run: LATHE_TEST_SEED, or 1.
// It logs how to make the same choices again.
func Seed(t testing.TB) uint64 {
	t.Helper()
	s := seed()
	name, _, _ := strings.Cut(t.Name(), "/")
	t.Logf("the same choices again: %s=%v %s=%d go test -count 1 -run '^%s$'", Env, Of(), SeedEnv, s, name)
	return s
}

func seed() uint64 {
	text := os.Getenv(SeedEnv)
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("testlevel: %s=%q (want a number)", SeedEnv, text))
	}
	return n
}
