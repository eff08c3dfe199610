package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lathe-gpu/lathe/tensor"
)

// copy measures how fast bytes move to the device and back.
func (b *bench) copy() (*table, error) {
	t := &table{Title: "Copies between host and device", Header: []string{"bytes", "write", "GB/s", "read", "GB/s"}}
	t.note("A write returns when its copy is taken; each is followed by a Sync, which is timed with it.")
	for _, n := range []int{4 << 10, 1 << 20, 64 << 20} {
		tn, err := b.dev.NewTensor(tensor.Contiguous(tensor.U8, n))
		if err != nil {
			return nil, err
		}
		data := make([]byte, n)
		rng := rand.NewChaCha8([32]byte{1})
		rng.Read(data)
		var got []byte
		budget := 2 * time.Second
		if b.quick {
			budget = 300 * time.Millisecond
		}
		s, err := interleave(budget, 200,
			func() error {
				if err := b.dev.Write(b.ctx, tn, data); err != nil {
					return err
				}
				return b.dev.Sync(b.ctx)
			},
			func() (err error) { got, err = b.dev.Read(b.ctx, tn); return err })
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(got, data) {
			return nil, fmt.Errorf("%d bytes came back changed", n)
		}
		if err := b.dev.Free(tn); err != nil {
			return nil, err
		}
		rate := func(s sample) float64 { return float64(n) / float64(s.median().Nanoseconds()) }
		t.row(n, s[0], rate(s[0]), s[1], rate(s[1]))
		t.value(fmt.Sprintf("write_gbps/%d", n), rate(s[0]))
		t.value(fmt.Sprintf("read_gbps/%d", n), rate(s[1]))
	}
	return t, nil
}
