package lathe_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestWithLogger opens a CPU driver by its backend, which is a warning. It goes to the logger
// each time, and nowhere if the logger is nil.
func TestWithLogger(t *testing.T) {
	testkit.Built(t, drivers.Built(), "vk")
	t.Setenv("LATHE_DEVICE", "")
	var all, own bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&all, nil)))
	defer slog.SetDefault(old)
	for _, l := range []*slog.Logger{slog.New(slog.NewTextHandler(&own, nil)), slog.New(slog.NewTextHandler(&own, nil)), nil} {
		dev, err := lathe.Open(t.Context(), lathe.WithBackend("vk"), lathe.WithoutCache(), lathe.WithLogger(l))
		testkit.Opened(t, err)
		kind := dev.Info().Kind.String()
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
		testkit.Ability(t, strings.EqualFold(kind, "cpu"), dev.Info().Name, "that it runs on the CPU")
	}
	dev, err := lathe.Open(t.Context(), lathe.WithBackend("vk"), lathe.WithoutCache(), lathe.WithLogger(&slog.Logger{}))
	if err := testkit.Device(t, dev, err).Sync(t.Context()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(own.String(), "level=WARN"); n != 2 || !strings.Contains(own.String(), "no GPU found") {
		t.Errorf("two openings wrote %q", own.String())
	}
	if all.Len() > 0 {
		t.Errorf("slog.Default got %q", all.String())
	}
}
