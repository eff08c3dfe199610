package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/cpu"
	"github.com/lathe-gpu/lathe/internal/child"
	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/tensor"
)

// closeEndless closes a device at work on a shader without end, and says how
// that went.
func closeEndless([]byte) []byte {
	ctx := context.Background()
	opts := []lathe.Option{lathe.WithCloseTimeout(time.Second), lathe.WithoutCache(), lathe.WithLogger(nil)}
	if os.Getenv(launch.DeviceEnv) == launch.CPU {
		dev, err := cpu.Open(cpu.Options{NoCache: true, CloseTimeout: time.Second})
		if err != nil {
			return []byte(err.Error())
		}
		opts = append(opts, lathe.WithGPU(dev))
	}
	dev, err := lathe.Open(ctx, opts...)
	if err != nil {
		return []byte(err.Error())
	}
	x, err := dev.NewTensor(tensor.Contiguous(tensor.U32, 2))
	if err == nil {
		err = dev.DispatchCompute(ctx, launch.Endless(), []*lathe.Tensor{x}, nil, [3]uint32{60000, 1000, 1})
	}
	if err != nil {
		return []byte(err.Error())
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if err := dev.Sync(short); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Appendf(nil, "Sync: %v", err)
	}
	start := time.Now()
	err = dev.Close()
	took := time.Since(start)
	again := dev.Close()
	return fmt.Appendf(nil, "deadline %v, again %v, in time %v: %v", errors.Is(err, context.DeadlineExceeded), errors.Is(again, context.DeadlineExceeded), took > 900*time.Millisecond && took < 3*time.Second, err)
}

// Close of a device whose work does not end returns when it was to, and says what
// it left behind. The device of package cpu stops the work.
func TestCloseEndless(t *testing.T) {
	testlevel.Turn(t, 5)
	for _, d := range launch.Drivers(t) {
		t.Run(d.Name, func(t *testing.T) {
			w := child.Worker{Name: "close", Env: d.Env, Limit: 30 * time.Second}
			defer w.Close()
			reply, err := w.Do(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := string(reply)
			if !strings.HasPrefix(got, "deadline true, again true, in time true: ") || !strings.Contains(got, "left behind") && !strings.Contains(got, "it was stopped") {
				t.Errorf("got %s", got)
			}
			t.Log(got)
		})
	}
}
