package exec

import (
	"context"
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/spec"
)

// WithTrace makes the Runner tell begin of every call of Run: the operation's
// name, and the call with its attributes, the dtypes and the shapes of its
// operands as args "call" (its String, if it has one), "in" and "out". end is called when the work is
// submitted, or with the error when it was not. The call's dispatches carry the
// tag, by which the spans of a gpu.Timer name them. Many goroutines may be in
// begin and end at once.
func WithTrace(begin func(name string, args map[string]string) (tag uint64, end func(error))) Option {
	return func(r *Runner) { r.trace = begin }
}

// traced is Run with a trace.
func (r *Runner) traced(ctx context.Context, call spec.Call, in, out []Operand) error {
	name, args := "no operation", map[string]string{"in": describe(in), "out": describe(out)}
	if good, err := spec.Resolve(call); err == nil {
		name, args["call"] = good.Spec().Name, spec.FormatCall(good)
		if s, ok := good.(fmt.Stringer); ok {
			args["call"] = s.String()
		}
	}
	tag, end := r.trace(name, args)
	err := r.run(ctx, call, in, out, tag)
	end(err)
	return err
}

// describe lists the dtypes and shapes of operands.
func describe(ops []Operand) string {
	var text []string
	for _, o := range ops {
		text = append(text, o.Desc.String())
	}
	return strings.Join(text, " ")
}
