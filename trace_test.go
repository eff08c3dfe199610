package lathe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// spans counts the complete events of a trace by category and name.
func spans(t *testing.T, data []byte) map[string]int {
	t.Helper()
	var file struct {
		TraceEvents []struct{ Name, Cat, Ph string }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	count := map[string]int{}
	for _, e := range file.TraceEvents {
		if e.Ph == "X" {
			count[e.Cat+" "+e.Name]++
		}
	}
	return count
}

// TestTrace wants operations and launches of several goroutines in the trace.
func TestTrace(t *testing.T) {
	testkit.Built(t, drivers.Built(), "vk") // which alone tells times
	ctx := context.Background()
	var file bytes.Buffer
	dev, err := lathe.Open(ctx, quiet, lathe.WithoutCache(), lathe.WithBackend("vk"), lathe.WithTrace(&file))
	testkit.Opened(t, err)
	const workers = 4
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			x, err := lathe.FromSlice(ctx, dev, make([]float32, 1000), 10, 100)
			if err == nil {
				x, err = dev.Softmax(x, -1)
			}
			if err == nil {
				_, err = lathe.ToSlice[float32](ctx, x)
			}
			if err == nil {
				_, err = dev.Apply(ctx, noise(40, 30), imageops.Sharpen{})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	dev.Span("rest", nil)(nil)
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	count := spans(t, file.Bytes())
	launches := 0
	for what, n := range count {
		if strings.HasPrefix(what, "launch nn/softmax") {
			launches += n
		}
	}
	timed := dev.Info().Features.Timestamps
	for what, want := range map[string]int{"operation softmax": workers, "operation sharpen": workers, "transfer write": workers, "transfer read": workers, "submission batch 1": 1, "program rest": 1} {
		if timed && strings.HasPrefix(what, "operation") {
			want *= 2 // once as called, once as run
		}
		if count[what] < want {
			t.Errorf("%s: %d spans, want %d", what, count[what], want)
		}
	}
	if timed && launches < workers {
		t.Errorf("%d launches of softmax in the trace, want %d or more: %v", launches, workers, count)
	}
}

type unwritable struct{}

func (unwritable) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// timeless is a device that is no gpu.Timer.
type timeless struct{ gpu.Device }

// TestTraceErrors fails to write, and to trace.
func TestTraceErrors(t *testing.T) {
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithGPU(null.NewRecorder(nil)), lathe.WithTrace(unwritable{}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := dev.Close(); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("close: got %v, want the writer's error", err)
		}
	}

	var file bytes.Buffer
	inner := null.NewRecorder(nil)
	_, err = lathe.Open(ctx, lathe.WithGPU(timeless{inner}), lathe.WithTrace(&file))
	if !errors.Is(err, lathe.ErrUnsupported) || !strings.Contains(err.Error(), `"null"`) {
		t.Errorf("got %v, want ErrUnsupported and the name of the backend", err)
	}
	if spans(t, file.Bytes())["operation open"] != 1 {
		t.Errorf("the attempt is not in the trace: %s", file.Bytes())
	}
	if _, err := inner.Alloc(1); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("the device was left open: %v", err)
	}
}

// TestUntracedSpan does nothing, at no cost.
func TestUntracedSpan(t *testing.T) {
	dev, err := lathe.Open(context.Background(), lathe.WithGPU(null.NewRecorder(nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if n := testing.AllocsPerRun(100, func() { dev.Span("nothing", nil)(nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
