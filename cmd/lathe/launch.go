package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// An interrupted dispatch ends within two seconds, whatever its shader does. The device has
// closeTime to finish. After patience the command leaves it behind.
const (
	closeTime = time.Second
	patience  = 1500 * time.Millisecond
)

// job is a dispatch for a device.
type job struct {
	shader string // its file
	code   []byte
	bufs   []buffer
	push   []byte
	groups [3]uint32
	read   map[int]bool // the buffers to read
}

// launched is the result of a job.
type launched struct {
	info    gpu.Info
	groups  [3]uint32
	data    map[int][]byte // of the buffers read
	elapsed time.Duration
}

// interruptible runs the launch. An interrupt ends it, even if the driver does not return.
func (l *job) interruptible(a *app) (launched, error) {
	type result struct {
		r     launched
		err   error
		panic string // with its stack
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			done <- r
		}()
		r.r, r.err = l.run(a)
	}()
	var r result
	select {
	case r = <-done:
	case <-a.ctx.Done():
		select {
		case r = <-done:
		case <-time.After(patience):
			return launched{}, fmt.Errorf("interrupted (%w); the driver was still at work on %s", a.ctx.Err(), l.shader)
		}
	}
	if r.panic != "" {
		panic(r.panic) // the command reports it
	}
	if errors.Is(r.err, context.Canceled) && a.ctx.Err() != nil {
		return launched{}, fmt.Errorf("interrupted (%w)", a.ctx.Err())
	}
	return r.r, r.err
}

func (l *job) run(a *app) (r launched, err error) {
	dev, err := a.open(lathe.WithCloseTimeout(closeTime))
	if err != nil {
		return r, err
	}
	defer dev.Close()
	r.info, r.groups, r.data = *dev.Info(), l.groups, map[int][]byte{}
	var bound []*lathe.Tensor
	for _, b := range l.bufs {
		t, err := dev.NewTensor(b.desc)
		if err != nil {
			return r, misuse(err)
		}
		bound = append(bound, t)
		if b.data != nil {
			if err := dev.Write(a.ctx, t, b.data); err != nil {
				return r, err
			}
		}
	}
	start := time.Now()
	if err := dev.DispatchCompute(a.ctx, l.code, bound, l.push, l.groups); err != nil {
		if errors.Is(err, errs.ErrInvalidShader) {
			err = fmt.Errorf("%s: %w", l.shader, err)
		}
		return r, misuse(err)
	}
	l.warn(a, &r.info)
	if err := dev.Sync(a.ctx); err != nil {
		return r, err
	}
	r.elapsed = time.Since(start)
	for i := range l.read {
		if r.data[i], err = dev.Read(a.ctx, bound[i]); err != nil {
			return r, err
		}
	}
	return r, nil
}

// warn says if the device may end the shader's loops early without an error.
func (l *job) warn(a *app, info *gpu.Info) {
	most := info.Limits.MaxIterations
	if most == 0 {
		return
	}
	m, err := spv.Parse("", l.code)
	if err != nil || m.Iterations <= uint64(most) {
		return
	}
	if m.Iterations == spv.Unbounded {
		a.warn(fmt.Sprintf("note: %s has a loop whose end cannot be told beforehand, and %s stops an invocation after %d iterations without an error", l.shader, info.Name, most))
		return
	}
	a.warn(fmt.Sprintf("note: the loops of %s run up to %d iterations, and %s stops an invocation after %d without an error", l.shader, m.Iterations, info.Name, most))
}
