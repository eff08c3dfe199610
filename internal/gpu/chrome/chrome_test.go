package chrome_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/chrome"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// event is a line of a trace, as readers of the format see it.
type event struct {
	Name, Cat, Ph, BP string
	PID, TID, ID      int
	TS                float64
	Dur               *float64
	Args              map[string]any
}

func (e *event) end() float64 { return e.TS + *e.Dur }

// parse parses a trace and checks the rules for every trace. It is complete. Spans of one
// thread do not overlap, or one contains the other, and parents come first. Threads have
// names. Arrows begin and end in a span.
func parse(t *testing.T, data []byte) []event {
	t.Helper()
	var file struct{ TraceEvents []event }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	type thread struct{ pid, tid int }
	named, processes := map[thread]bool{}, map[int]bool{}
	open := map[thread][]*event{}
	for i := range file.TraceEvents {
		e := &file.TraceEvents[i]
		at := thread{e.PID, e.TID}
		switch e.Ph {
		case "M":
			if e.Name == "thread_name" {
				named[at] = true
			}
			if e.Name == "process_name" {
				processes[e.PID] = true
			}
		case "X":
			open[at] = append(open[at], e)
		}
	}
	for at, events := range open {
		if !named[at] || !processes[at.pid] {
			t.Errorf("thread %v has no name", at)
		}
		slices.SortStableFunc(events, func(a, b *event) int { return int(1000 * (a.TS - b.TS)) })
		var stack []*event
		for _, e := range events {
			for len(stack) > 0 && stack[len(stack)-1].end() <= e.TS+1e-6 && *e.Dur > 0 {
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 && stack[n-1].end() < e.end()-1e-6 {
				t.Errorf("thread %v: %+v ends before %+v, which began in it", at, *stack[n-1], *e)
			}
			stack = append(stack, e)
		}
	}
	for _, e := range file.TraceEvents {
		inside := func(x *event) bool { return x.TS <= e.TS && e.TS <= x.end() }
		if (e.Ph == "s" || e.Ph == "f") && !slices.ContainsFunc(open[thread{e.PID, e.TID}], inside) {
			t.Errorf("arrow %+v is tied to nothing", e)
		}
	}
	return file.TraceEvents
}

// ticker returns a clock that advances by a microsecond each time it is read.
func ticker() func() time.Duration {
	var mu sync.Mutex
	now := time.Duration(0)
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		now += time.Microsecond
		return now
	}
}

// outline lists the complete events by thread, children under their parents.
func outline(events []event) string {
	names := map[[2]int]string{}
	var threads [][2]int
	for _, e := range events {
		if e.Name == "thread_name" {
			at := [2]int{e.PID, e.TID}
			names[at] = fmt.Sprint(e.Args["name"])
			threads = append(threads, at)
		}
	}
	slices.SortFunc(threads, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	var b strings.Builder
	for _, at := range threads {
		fmt.Fprintf(&b, "%d %s\n", at[0], names[at])
		var parents []event
		for _, e := range events {
			if e.Ph != "X" || e.PID != at[0] || e.TID != at[1] {
				continue
			}
			for len(parents) > 0 && parents[len(parents)-1].end() <= e.TS {
				parents = parents[:len(parents)-1]
			}
			args, _ := json.Marshal(e.Args)
			fmt.Fprintf(&b, "%s%s %g-%g %s\n", strings.Repeat("  ", len(parents)+1), e.Name, e.TS, e.end(), args)
			parents = append(parents, e)
		}
	}
	return b.String()
}

// session does the same work on a null device each time, and returns the trace.
func session(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	trace := chrome.New(&file, ticker())
	dev := null.NewRecorder(nil)
	if err := trace.Device(dev); err != nil {
		t.Fatal(err)
	}
	all := trace.Span("all", map[string]string{"file": "a.png"})
	ctx := context.Background()
	h, err := dev.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := dev.Write(ctx, h, 0, make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	one := gpu.Dispatch{Module: null.Module("test/one", 0, spv.Binding{}), Bindings: []gpu.Binding{{Buffer: h}}, Groups: [3]uint32{1, 2, 3}}
	two := one
	two.Module = null.Module("test/two", 0, spv.Binding{})
	first, end := trace.Begin("first", map[string]string{"in": "f32[2,3]"})
	one.Tag, two.Tag = first, first
	if err := dev.Submit([]gpu.Dispatch{one, two}); err != nil {
		t.Fatal(err)
	}
	end(nil)
	_, end = trace.Begin("bad", nil)
	end(errors.New("it \"failed\""))
	second, end := trace.Begin("second", nil)
	third, endThird := trace.Begin("third", nil)
	one.Tag, two.Tag = second, third
	foreign := one
	foreign.Tag = 0
	if err := dev.Submit([]gpu.Dispatch{foreign, one, two, two}); err != nil {
		t.Fatal(err)
	}
	end(nil)
	endThird(nil)
	if err := dev.Read(ctx, h, 0, make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	all(nil)
	if err := errors.Join(dev.Close(), trace.Close(), trace.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

const want = `1 program
  all 1-30 {"file":"a.png"}
1 operations
  first 4-11 {"in":"f32[2,3]"}
  bad 12-13 {"error":"it \"failed\""}
  second 14-26 null
1 operations 2
  third 15-27 null
1 transfers
  write 2-3 {"bytes":64}
  read 28-29 {"bytes":16}
2 queue
  batch 1 6-9 {"commands":2}
    first 6-9 null
      test/one 6-7 {"groups":[1,2,3]}
      test/two 8-9 {"groups":[1,2,3]}
  batch 2 17-24 {"commands":4}
    test/one 17-18 {"groups":[1,2,3]}
    second 19-20 null
      test/one 19-20 {"groups":[1,2,3]}
    third 21-24 null
      test/two 21-22 {"groups":[1,2,3]}
      test/two 23-24 {"groups":[1,2,3]}
2 submissions
  batch 1 5-10 null
  batch 2 16-25 null
`

func TestTrace(t *testing.T) {
	data := session(t)
	if !bytes.HasPrefix(data, []byte(chrome.Header)) {
		t.Errorf("begins %.30q", data)
	}
	events := parse(t, data)
	if got := outline(events); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	arrows := map[int]string{}
	for _, e := range events {
		if e.Ph == "s" || e.Ph == "f" {
			arrows[e.ID] += fmt.Sprintf("%s %d/%d %g; ", e.Ph, e.PID, e.TID, e.TS)
		}
	}
	if got := fmt.Sprint(arrows); got != "map[1:s 1/200 4.001; f 2/100 6;  3:s 1/200 14.001; f 2/100 19;  4:s 1/201 15.001; f 2/100 21; ]" {
		t.Errorf("arrows: got %s", got)
	}
	if again := session(t); !bytes.Equal(data, again) {
		t.Error("a second session wrote another file")
	}
}

// TestEmpty checks that a trace of no work is valid.
func TestEmpty(t *testing.T) {
	var file bytes.Buffer
	if err := chrome.New(&file, nil).Close(); err != nil {
		t.Fatal(err)
	}
	parse(t, file.Bytes())
}

// silent is a device that is not a gpu.Timer.
type silent struct{ gpu.Device }

func TestUnsupported(t *testing.T) {
	var file bytes.Buffer
	trace := chrome.New(&file, nil)
	err := trace.Device(silent{null.New(nil)})
	if !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), `"null"`) {
		t.Errorf("got %v, want ErrUnsupported and the name of the backend", err)
	}
	if err := trace.Close(); err != nil {
		t.Fatal(err)
	}
	parse(t, file.Bytes())
}

// TestConcurrent checks many goroutines at the same time, and a device that still reports
// when the trace is closed.
func TestConcurrent(t *testing.T) {
	var file bytes.Buffer
	trace := chrome.New(&file, nil)
	dev := null.NewRecorder(nil)
	if err := trace.Device(dev); err != nil {
		t.Fatal(err)
	}
	m := null.Module("test/k", 0)
	const workers, turns = 8, 50
	work := func() {
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range turns {
					tag, end := trace.Begin("op", nil)
					end(dev.Submit([]gpu.Dispatch{{Module: m, Tag: tag, Groups: [3]uint32{1, 1, 1}}}))
				}
			})
		}
		wg.Wait()
	}
	work()
	if err := trace.Close(); err != nil {
		t.Fatal(err)
	}
	work()
	count := map[string]int{}
	for _, e := range parse(t, file.Bytes()) {
		count[e.Ph+" "+e.Cat]++
	}
	const n = workers * turns
	for key, want := range map[string]int{"X operation": 2 * n, "X launch": n, "X batch": n, "X submission": n, "s flow": n, "f flow": n} {
		if count[key] != want {
			t.Errorf("%s: %d events, want %d", key, count[key], want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	trace := chrome.New(full{}, nil)
	for range 10_000 {
		_, end := trace.Begin("op", nil)
		end(nil)
	}
	for range 2 {
		if err := trace.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("got %v, want the writer's error", err)
		}
	}
}
