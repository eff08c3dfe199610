package main

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/testkit"
	_ "github.com/lathe-gpu/lathe/wgpu" // a backend to try
)

func TestSaxpy(t *testing.T) {
	for _, backend := range drivers.Built() {
		t.Run(backend, func(t *testing.T) {
			dev, err := lathe.Open(t.Context(), lathe.WithBackend(backend), lathe.WithLogger(nil))
			dev = testkit.Device(t, dev, err)
			for _, n := range []int{0, 1, 64, 1000} {
				x, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
				for i := range n {
					x[i], y[i] = float32(i), float32(10*i)
					want[i] = 2*x[i] + y[i]
				}
				got, err := saxpy(t.Context(), dev, 2, x, y)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d elements: got %v, want %v", n, got, want)
				}
			}
		})
	}
}
