package testlevel

import "testing"

func TestOf(t *testing.T) {
	for text, want := range map[string]Level{"": Quick, "quick": Quick, "full": Full, "soak": Soak} {
		t.Setenv(Env, text)
		if got := Of(); got != want || IsFull() != (want >= Full) || IsSoak() != (want == Soak) {
			t.Errorf("%s=%q is %v, full %v, soak %v; want %v", Env, text, got, IsFull(), IsSoak(), want)
		}
	}
	t.Setenv(Env, "ful")
	defer func() {
		if recover() == nil {
			t.Error("a misspelt level passed for a level")
		}
	}()
	Of()
}

func TestNeed(t *testing.T) {
	for _, c := range []struct {
		env  string
		need Level
		run  bool
	}{{"quick", Quick, true}, {"quick", Full, false}, {"full", Full, true}, {"full", Soak, false}, {"soak", Full, true}} {
		ran := false
		t.Run(c.env, func(t *testing.T) {
			t.Setenv(Env, c.env)
			defer func() {
				if t.Skipped() == c.run {
					panic("skipped what should run, or ran what should not")
				}
			}()
			Need(t, c.need)
			ran = true
		})
		if ran != c.run {
			t.Errorf("at %s a test of the %v level ran: %v, want %v", c.env, c.need, ran, c.run)
		}
	}
}

func TestSeed(t *testing.T) {
	t.Setenv(SeedEnv, "")
	if got := Seed(t); got != 1 {
		t.Errorf("the default seed is %d, want 1", got)
	}
	t.Setenv(SeedEnv, "77")
	if got := Seed(t); got != 77 {
		t.Errorf("seed %d, want 77", got)
	}
}

func TestSampled(t *testing.T) {
	count := func(level, seed string) (n int, first bool) {
		t.Setenv(Env, level)
		t.Setenv(SeedEnv, seed)
		for i := range 12 {
			if Sampled(i, 4) {
				n++
			}
		}
		return n, Sampled(0, 4)
	}
	if n, _ := count("full", "5"); n != 12 {
		t.Errorf("the full level tries %d of 12 items", n)
	}
	a, first := count("quick", "5")
	b, other := count("quick", "8")
	if a != 3 || b != 3 || first == other {
		t.Errorf("the quick level tries %d and %d of 12 items, item 0 by both seeds: %v, %v; want 3 others by another seed", a, b, first, other)
	}
}

// Each operation is in one shard, and without shards in every run.
func TestInShard(t *testing.T) {
	names := []string{"add", "sub", "matmul", "softmax", "transpose", "gaussian_blur"}
	for _, name := range names {
		t.Setenv(ShardEnv, "")
		if !InShard(name) {
			t.Errorf("%s is left out of a run without shards", name)
		}
		in := 0
		for _, shard := range []string{"1/3", "2/3", "3/3"} {
			t.Setenv(ShardEnv, shard)
			if InShard(name) {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%s is in %d of three shards, want one", name, in)
		}
	}
	for _, text := range []string{"0/3", "4/3", "2", "x", "1/0"} {
		t.Setenv(ShardEnv, text)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s=%q passed for a shard", ShardEnv, text)
				}
			}()
			InShard("add")
		}()
	}
}

func TestTurn(t *testing.T) {
	ran := func(level, seed string) (n int) {
		t.Setenv(Env, level)
		t.Setenv(SeedEnv, seed)
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			t.Run(name, func(t *testing.T) {
				Turn(t, 4)
				n++
			})
		}
		return n
	}
	sum := 0
	for _, seed := range []string{"1", "2", "3", "4"} {
		n := ran("quick", seed)
		if n == 8 {
			t.Errorf("seed %s runs all tests", seed)
		}
		sum += n
	}
	if sum != 8 {
		t.Errorf("four seeds in a row ran %d of 8 tests, want each once", sum)
	}
	if n := ran("full", "1"); n != 8 {
		t.Errorf("the full level ran %d of 8 tests", n)
	}
}
