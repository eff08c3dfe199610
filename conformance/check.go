package conformance

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
)

// checkRun returns an error if nothing can run: without a context, without a device, on a
// device that is closed, and for operations that are no declarations. compared says that
// results are compared with the reference.
func checkRun(ctx context.Context, dev gpu.Device, ops []*spec.Op, compared bool) error {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if errs.Nil(dev) {
		return fmt.Errorf("%w: no device", errs.ErrInvalidArgument)
	}
	for _, op := range ops {
		if err := checkOp(op, compared); err != nil {
			return err
		}
	}
	return dev.Sync(ctx)
}

// withCases are the registered operations that declare cases. A program may register others.
func withCases() []*spec.Op {
	return slices.DeleteFunc(spec.All(), func(op *spec.Op) bool { return len(op.Cases.DTypes) == 0 && len(op.Cases.Calls) == 0 })
}

// checkOp returns ErrInvalidArgument for an operation without what every case needs.
func checkOp(op *spec.Op, compared bool) error {
	if op == nil {
		return fmt.Errorf("%w: no operation", errs.ErrInvalidArgument)
	}
	for _, part := range []struct {
		name string
		has  bool
	}{
		{"Defaults", op.Defaults != nil}, {"Shape", op.Shape != nil}, {"Plan", op.Plan != nil},
		{"Reference", op.Reference != nil || !compared}, {"Tolerance", op.Tolerance != nil || !compared},
		{"Cases.DTypes", len(op.Cases.DTypes) > 0}, {"Cases.Calls", len(op.Cases.Calls) > 0},
	} {
		if !part.has {
			return fmt.Errorf("%w: operation %q has no %s (want a spec.Op that spec.Define made)", errs.ErrInvalidArgument, op.Name, part.name)
		}
	}
	return nil
}

// readAll is io.ReadAll for a reader of the caller, which may be nil or panic.
func readAll(r io.Reader) (data []byte, err error) {
	if errs.Nil(r) {
		return nil, fmt.Errorf("%w: no reader", errs.ErrInvalidArgument)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the reader panicked: %v", errs.ErrInvalidArgument, p)
		}
	}()
	return io.ReadAll(r)
}

// writeString is io.WriteString for a writer of the caller, which may be nil or panic.
func writeString(w io.Writer, s string) (n int, err error) {
	if errs.Nil(w) {
		return 0, fmt.Errorf("%w: no writer", errs.ErrInvalidArgument)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the writer panicked: %v", errs.ErrInvalidArgument, p)
		}
	}()
	return io.WriteString(w, s)
}
