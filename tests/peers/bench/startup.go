package main

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	measure "github.com/lathe-gpu/lathe/internal/bench"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// startup times a whole process from its start to its first blurred picture,
// with and without a filled pipeline cache.
func (b *bench) startup() (*table, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	rounds := 7
	if b.quick {
		rounds = 3
	}
	t := &table{
		Title:  "From the start of the process to the first result (blur σ=3 of 640×480)",
		Header: []string{"caches", "process", "open the device", "first result", "second result"},
	}
	t.note("Cold: no pipeline cache and no driver cache. Warm: Lathe's pipeline cache of an earlier process, the driver's own cache still off. " +
		"Warm with driver cache: both (Mesa keeps one of its own; other drivers ignore MESA_SHADER_CACHE_DISABLE and may be warm in every row).")
	type row struct {
		name  string
		fresh bool // empty the caches before every round
		mesa  string
	}
	for _, r := range []row{
		{"cold", true, "true"},
		{"warm", false, "true"},
		{"warm with driver cache", false, "false"},
	} {
		cache, mesa := filepath.Join(b.dir, "cache "+r.name), filepath.Join(b.dir, "mesa "+r.name)
		env := []string{"MESA_SHADER_CACHE_DISABLE=" + r.mesa, "MESA_SHADER_CACHE_DIR=" + mesa}
		var process, open, first, second measure.Sample
		for i := -1; i < rounds; i++ { // round −1 fills the caches
			if r.fresh || i < 0 {
				os.RemoveAll(cache)
				os.RemoveAll(mesa)
			}
			u, err := b.measure(env, self, "child", "startup", cache)
			if err != nil {
				return nil, err
			}
			var o, f, s int64
			if _, err := fmt.Sscan(u.output, &o, &f, &s); err != nil {
				return nil, fmt.Errorf("reading %q: %w", u.output, err)
			}
			if i >= 0 {
				process, open = append(process, u.wall), append(open, time.Duration(o))
				first, second = append(first, time.Duration(f)), append(second, time.Duration(s))
			}
		}
		t.row(r.name, process, open, first, second)
		t.value(r.name+"/process_ms", float64(process.Median().Microseconds())/1e3)
		t.value(r.name+"/first_ms", float64(first.Median().Microseconds())/1e3)
	}
	return t, nil
}

// startupChild opens a device, blurs two pictures and prints the three times in
// nanoseconds.
func startupChild(cacheDir string) error {
	ctx := context.Background()
	src := testimg.Photo(640, 480, 1)
	dst := image.NewNRGBA(src.Bounds())
	t := time.Now()
	dev, err := lathe.Open(ctx, lathe.WithCacheDir(cacheDir))
	if err != nil {
		return err
	}
	open := time.Since(t)
	var took [2]time.Duration
	for i := range took {
		t = time.Now()
		if err := dev.ApplyTo(ctx, dst, src, imageops.GaussianBlur{Sigma: 3}); err != nil {
			dev.Close()
			return err
		}
		took[i] = time.Since(t)
	}
	fmt.Println(open.Nanoseconds(), took[0].Nanoseconds(), took[1].Nanoseconds())
	return dev.Close()
}
