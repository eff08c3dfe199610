// Package foreign_test tries modules that no compiler of ours made on every
// driver there is: mutants of our own kernels, and modules made at random whose
// results are known. Nothing may crash or hang, and what runs must be right.
//
// A sample is run, the same one everywhere. LATHE_TEST_SEED chooses another (CI has one
// for each commit), LATHE_FUZZ_ONLY one case of it, LATHE_FUZZ_DRIVERS names the drivers, and
// the soak level, LATHE_TEST=soak, runs everything there is, which takes hours
// (LATHE_FUZZ_SHARD=2/8 the second of eight parts of it).
package foreign_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/child"
	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

func TestMain(m *testing.M) {
	launch.Main(map[string]func([]byte) []byte{"close": closeEndless})
	os.Exit(m.Run())
}

const (
	// hangLimit is what a launch may take, compilation included.
	hangLimit = 20 * time.Second
	// jobsEach is how many jobs a process does: drivers keep what they compiled.
	jobsEach = 300
)

// sample is which part of a suite is run.
type sample struct {
	seed  uint64
	only  string // name of the one case to run, "" for all
	all   bool
	shard [2]int // this one of how many
	count int    // cases at most
	bound time.Duration
}

// chosen is what the environment says, or sample 1: of count cases, for
// no longer than bound; at the quick level a twelfth of that.
func chosen(t *testing.T, count int, bound time.Duration) sample {
	t.Helper()
	s := sample{seed: testlevel.Seed(t), only: os.Getenv("LATHE_FUZZ_ONLY"), all: testlevel.IsSoak(), shard: [2]int{1, 1}}
	if s.count, s.bound = count, bound; !testlevel.IsFull() {
		s.count, s.bound = max(count/12, 1), bound/4
	}
	if text := os.Getenv("LATHE_FUZZ_TIME"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("LATHE_FUZZ_TIME: %v", err)
		}
		s.count, s.bound = math.MaxInt, d
	}
	if text := os.Getenv("LATHE_FUZZ_SHARD"); text != "" {
		if _, err := fmt.Sscanf(text, "%d/%d", &s.shard[0], &s.shard[1]); err != nil || s.shard[0] < 1 || s.shard[0] > s.shard[1] {
			t.Fatalf("LATHE_FUZZ_SHARD is %q (want such as 2/8): %v", text, err)
		}
	}
	return s
}

// mine reports whether case number i is of this shard.
func (s *sample) mine(i int) bool { return i%s.shard[1] == s.shard[0]-1 }

// driversOf are the drivers to try.
func driversOf(t *testing.T) []launch.Driver {
	t.Helper()
	list := launch.Drivers(t)
	if names := os.Getenv("LATHE_FUZZ_DRIVERS"); names != "" {
		list = slices.DeleteFunc(slices.Clone(list), func(d launch.Driver) bool { return !slices.Contains(strings.Split(names, ","), d.Name) })
		if len(list) == 0 {
			t.Fatalf("LATHE_FUZZ_DRIVERS: none of %s is here", names)
		}
	}
	return list
}

// trial is one module to launch.
type trial struct {
	name string // as LATHE_FUZZ_ONLY takes it
	what string
	job  launch.Job
	// check compares the buffers with what they must be; nil if that is open.
	check func(buffers [][]byte) error
}

// tally counts what came of the trials of one driver.
type tally struct {
	driver                    string
	ran, wrong, crashed, hung int
	refused                   map[string]int // by kind
	longest                   time.Duration
	slow                      string
}

func (c *tally) String() string {
	text := fmt.Sprintf("%s: %d ran, %d wrong, %d crashed, %d hung", c.driver, c.ran, c.wrong, c.crashed, c.hung)
	for _, k := range slices.Sorted(maps.Keys(c.refused)) {
		text += fmt.Sprintf(", %d refused (%s)", c.refused[k], k)
	}
	return fmt.Sprintf("%s; the longest took %v (%s)", text, c.longest.Round(time.Millisecond), c.slow)
}

// try launches the trials of next on every driver, until there are no more or,
// if bound is not 0, that time is over. It fails t for every crash, hang and
// wrong result.
func try(t *testing.T, bound time.Duration, next func(give func(trial) bool)) []*tally {
	t.Helper()
	list := driversOf(t)
	ctx, cancel := t.Context(), func() {}
	if bound > 0 {
		ctx, cancel = context.WithTimeout(ctx, bound)
	}
	defer cancel()
	var tallies []*tally
	var feeds []chan trial
	var all sync.WaitGroup
	for _, d := range list {
		c := &tally{driver: d.Name, refused: map[string]int{}}
		feed := make(chan trial, 64)
		tallies, feeds = append(tallies, c), append(feeds, feed)
		w := launch.New(t, d)
		all.Go(func() {
			var before []trial // by the same process
			for x := range feed {
				if ctx.Err() != nil {
					continue
				}
				if len(before) == jobsEach {
					w.Close()
					before = before[:0]
				}
				if !c.launchTrial(t, w, x, before) {
					before = before[:0]
					continue
				}
				before = append(before, x)
			}
		})
	}
	next(func(x trial) bool {
		for _, f := range feeds {
			select {
			case f <- x:
			case <-ctx.Done():
				return false
			}
		}
		return true
	})
	for _, f := range feeds {
		close(f)
	}
	all.Wait()
	for _, c := range tallies {
		t.Log(c)
	}
	return tallies
}

// launchTrial launches a trial, and reports whether its process lives.
func (c *tally) launchTrial(t *testing.T, w *launch.Worker, x trial, before []trial) (alive bool) {
	start := time.Now()
	r, err := w.Run(context.Background(), x.job, hangLimit)
	if took := time.Since(start); took > c.longest {
		c.longest, c.slow = took, x.name
	}
	if err != nil {
		alone := "it does so alone"
		if len(before) > 0 {
			if r, again := w.Run(context.Background(), x.job, 3*hangLimit); again == nil {
				var hang *child.Hang
				if errors.As(err, &hang) && r.Took < hangLimit {
					t.Logf("%s: %s took over %v beside others, and %v alone", c.driver, x.name, hangLimit, r.Took)
					return true
				}
				alone = fmt.Sprintf("it did so after %d other modules, the last of them %s, and not alone", len(before), before[len(before)-1].name)
			}
			w.Close()
		}
		var hang *child.Hang
		if errors.As(err, &hang) {
			c.hung++
		} else {
			c.crashed++
		}
		t.Errorf("%s: %s: %s: %v\n%s\n%s", c.driver, x.name, x.what, short(err), alone, c.save(t, x))
		return false
	}
	switch {
	case r.Kind == "no device":
		t.Errorf("%s: %s", c.driver, r.Err)
	case r.Err != "" && r.Kind == "":
		c.wrong++
		t.Errorf("%s: %s: %s: an error of no kind: %s\n%s", c.driver, x.name, x.what, r.Err, c.save(t, x))
	case r.Err != "":
		c.refused[r.Kind]++
		if r.Kind == "device lost" || r.Kind == "invalid shader" && x.check != nil {
			c.wrong++
			t.Errorf("%s: %s: %s: %s\n%s", c.driver, x.name, x.what, r.Err, c.save(t, x))
		}
	default:
		c.ran++
		if x.check == nil {
			break
		}
		if err := x.check(r.Buffers); err != nil {
			c.wrong++
			t.Errorf("%s: %s: %s: %v\n%s", c.driver, x.name, x.what, err, c.save(t, x))
		}
	}
	return r.Kind != "device lost"
}

// short is the beginning of an error's text.
func short(err error) string {
	text := err.Error()
	return text[:min(len(text), 700)]
}

// save keeps a module, and how it was launched, and says how to try it again.
func (c *tally) save(t *testing.T, x trial) string {
	again := fmt.Sprintf("again: LATHE_FUZZ_DRIVERS=%s LATHE_FUZZ_ONLY='%s' go test -count 1 -run '^%s$' ./tests/foreign", c.driver, x.name, t.Name())
	dir := filepath.Join(os.TempDir(), "lathe-foreign")
	base := filepath.Join(dir, c.driver+"-"+strings.Map(func(r rune) rune {
		if strings.ContainsRune("/#: ", r) {
			return '-'
		}
		return r
	}, x.name))
	var job bytes.Buffer
	err := gob.NewEncoder(&job).Encode(&x.job)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(base+".spv", x.job.Code, 0o644)
	}
	if err == nil {
		err = os.WriteFile(base+".job", job.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Sprintf("%s\nnot saved: %v", again, err)
	}
	return fmt.Sprintf("%s\nsaved: %s.spv", again, base)
}
