package cpu

import (
	"context"

	"github.com/lathe-gpu/lathe/internal/drivers"
)

// A program that imports the package may choose its devices.
func init() {
	drivers.Register(drivers.Backend{Name: drivers.CPU, Built: Built, Find: find})
}

func find(ctx context.Context, o drivers.Options) (*drivers.Found, error) {
	e, err := Enumerate(ctx, Options{CacheDir: o.CacheDir, NoCache: o.NoCache, CloseTimeout: o.CloseTimeout})
	if err != nil {
		return nil, err
	}
	return drivers.FoundBy(e, nil), nil
}
