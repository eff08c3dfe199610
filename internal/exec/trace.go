package exec

import (
	"context"
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/spec"
)

// WithTrace makes the Runner call begin at the start of every Run. name is the
// operation's name. args are "call", which is the call with its attributes or its String,
// and "in" and "out", which are the dtypes and shapes of its operands. The Runner calls
// end when the work is submitted, with the error if there is one. The dispatches of the
// call carry the tag, by which the spans of a gpu.Timer name them. Many goroutines may
// call begin and end at the same time.
func WithTrace(begin func(name string, args map[string]string) (tag uint64, end func(error))) Option {
	return func(r *Runner) { r.trace = begin }
}

// runTraced is Run with a trace.
func (r *Runner) runTraced(ctx context.Context, call spec.Call, in, out []Operand) error {
	name, args := "no operation", map[string]string{"in": describe(in), "out": describe(out)}
	if good, err := spec.Resolve(call); err == nil {
		name, args["call"] = good.Spec().Name, spec.FormatCall(good)
		if s, ok := good.(fmt.Stringer); ok {
			args["call"] = s.String()
		}
	}
	tag, end := r.trace(name, args)
	err := r.run(ctx, call, in, out, tag)
	if end != nil {
		end(err)
	}
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
