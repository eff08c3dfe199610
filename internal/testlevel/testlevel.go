// Package testlevel says how much the tests of this run should try. Only tests
// import it. LATHE_TEST names the level:
//
//   - quick, the default: minutes for all packages. Every operation and backend is run, on
//     cases chosen so that each pair of choices occurs. The devices share the operations.
//     The seed draws a part of the element types and kernels; cases that need others are
//     left out. It also draws some of the tests that take seconds. Under the validation layer all kernels run.
//   - full: everything that CI runs, larger sizes and a random sample of further
//     cases. `make test-full` sets it.
//   - soak: full products instead of pairs, and tests that take many minutes or
//     gigabytes each. `make soak` sets it.
//
// LATHE_TEST_SHARD=i/n runs the i-th of n parts of the operations in tests that go over
// all of them and take minutes. Without it they run all.
//
// LATHE_TEST_SEED makes the choices of cases. A run without it makes the same
// choices everywhere; CI has another seed for each commit.
package testlevel

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The environment variables of this package.
const (
	Env      = "LATHE_TEST"
	SeedEnv  = "LATHE_TEST_SEED"
	ShardEnv = "LATHE_TEST_SHARD"
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

// Turn skips a test that takes seconds, unless it is its turn: at the full level every run has it, and at the quick level one out of every few
// seeds. The name of the test and the seed decide.
func Turn(t testing.TB, every int) {
	t.Helper()
	h := fnv.New32a()
	h.Write([]byte(t.Name()))
	if !Sampled(int(h.Sum32()>>1), every) {
		t.Skipf("one of %d seeds runs it at the quick level: %s=full runs it", every, Env)
	}
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

// InShard reports whether this run tries the operation of that name. A hash of the name
// decides, so that an operation stays in its shard when others are added.
func InShard(op string) bool {
	i, n := shard()
	h := fnv.New32a()
	h.Write([]byte(op))
	return h.Sum32()%n == i
}

// shard is the number of the shard, from 0 on, and how many there are.
func shard() (i, n uint32) {
	text := os.Getenv(ShardEnv)
	if text == "" {
		return 0, 1
	}
	if k, err := fmt.Sscanf(text, "%d/%d", &i, &n); k != 2 || err != nil || i < 1 || i > n {
		panic(fmt.Sprintf("testlevel: %s=%q (want I/N, from 1/N to N/N)", ShardEnv, text))
	}
	return i - 1, n
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
