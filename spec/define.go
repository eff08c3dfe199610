package spec

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Definition declares an operation whose attributes are an A: the struct that callers
// write. Its functions are handed an A, whatever form the call had.
//
// Fields without a comment are those of Op.
type Definition[A Call] struct {
	Name, Group, Doc, Source string
	Aliases                  []string
	In, Out                  []Arg
	Traits
	Kernels  []Kernel
	Internal bool
	// Defaults are the default attributes, and examples of those that have no default.
	// Attribute fields carry the tags attr:"name" and doc:"meaning, unit, range";
	// attr:"name,required" is of attributes that have no default. A zero is refused
	// where the default is another value, unless the tag is attr:"name,zero".
	Defaults A

	// Shape checks attributes and inputs, and returns what the outputs are. The number
	// of inputs is right when it is called, each is a sound tensor, and of one of its
	// Arg.DTypes. Define adds the names of the package and of the operation to errors.
	// Errors: ErrInvalidArgument, ErrType, ErrUnsupported (a dtype).
	Shape func(a A, in []tensor.Desc) ([]tensor.Desc, error)
	// Plan turns a checked call into launches for a target. Operands have strides that
	// their Arg.Strides allows. Define adds the names to its errors too, and to those of
	// the plan's device checks.
	// Errors: ErrUnsupported (a dtype that the target lacks), ErrStrides, *LimitError.
	Plan func(a A, t *Target, in, out []tensor.Desc) (*Plan, error)
	// PlanAt, if set, takes the place of Plan. It can work with operands that begin
	// where the device cannot bind them, which are copied before and after otherwise.
	PlanAt func(a A, t *Target, in, out []Place) (*Plan, error)
	// Strategies lists the names that Target.Strategy may have for a call. The first is
	// the one that Plan chooses unasked. Fewer than two mean that there is no choice.
	// The results of all of them keep Tolerance, and differ in nothing but rounding.
	Strategies func(a A, t *Target, in, out []tensor.Desc) []string
	// SizeClass returns the numbers that decide which strategy is best, such as sizes.
	// Calls whose numbers are alike up to a factor of two, and whose inputs are of the
	// same dtypes, share the choice.
	SizeClass func(a A, in []tensor.Desc) []int
	// Reference computes the outputs in float64. It shares no code with Plan. The
	// outputs arrive allocated. Nil means that of Scalar, over broadcast inputs.
	Reference func(a A, in, out []*tensor.Host)
	// Tolerance is how far an output of the dtype may be from Reference for
	// such inputs.
	Tolerance func(a A, d tensor.DType, in []tensor.Desc) Tolerance
	// Cost is the useful work of a call, for rooflines.
	Cost func(a A, in []tensor.Desc) Cost
	// Halo is how many pixels around a pixel its result depends on: strips of a picture
	// must overlap by that many rows. Nil means 0.
	Halo func(a A) int
	// ForOpaque returns a call that makes of an opaque 8-bit picture what a makes of it,
	// to the bit, with fewer kernels; a itself will do. The result is opaque too. Nil
	// means that an opaque picture may become transparent.
	ForOpaque func(a A) A
	// Scalar is the function of an elementwise operation, in float64: of an element of
	// each input.
	Scalar func(a A, x []float64) float64
	// Cases are what a conformance suite tries.
	Cases CasesOf[A]
}

// Define declares an operation. It is not offered by name before Register.
//
// The functions of the Op take a call that is an A or points to one. They refuse any
// other call, and what Resolve refuses, with ErrInvalidArgument; those without an error
// return nothing then.
func Define[A Call](d Definition[A]) *Op {
	op := &Op{
		Name: d.Name, Group: d.Group, Doc: d.Doc, Source: d.Source, Aliases: d.Aliases,
		In: d.In, Out: d.Out, Traits: d.Traits, Kernels: d.Kernels, Internal: d.Internal,
		Defaults: d.Defaults, Cases: d.Cases.erase(),
	}
	op.id = lastID.Add(1)
	op.key = newKeyLayout(structOf(op.Defaults).Type())
	prefix := d.Name
	if pkg := structOf(op.Defaults).Type().PkgPath(); pkg != "" {
		prefix = path.Base(pkg) + ": " + d.Name
	}
	named := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s: %w", prefix, err)
	}
	attrs := func(c Call) (A, error) { return attrsOf[A](op, c) }
	if d.Shape != nil {
		op.Shape = func(c Call, in []tensor.Desc) ([]tensor.Desc, error) {
			a, err := attrs(c)
			if err != nil {
				return nil, err
			}
			if err := op.checkInputs(in); err != nil {
				return nil, named(err)
			}
			out, err := d.Shape(a, in)
			if err != nil {
				return nil, named(err)
			}
			for _, o := range out {
				if err := o.Check(); err != nil {
					return nil, named(fmt.Errorf("the result %v: %w", o, err))
				}
			}
			return out, nil
		}
	}
	if d.PlanAt != nil {
		op.PlanAt = planOf(attrs, named, d.PlanAt)
		op.Plan = func(c Call, t *Target, in, out []tensor.Desc) (*Plan, error) {
			return op.PlanAt(c, t, PlacesOf(in), PlacesOf(out))
		}
	} else if d.Plan != nil {
		op.Plan = planOf(attrs, named, d.Plan)
	}
	if d.Strategies != nil {
		op.Strategies = func(c Call, t *Target, in, out []tensor.Desc) []string {
			if a, err := attrs(c); err == nil {
				return d.Strategies(a, t, in, out)
			}
			return nil
		}
	}
	if d.SizeClass != nil {
		op.SizeClass = func(c Call, in []tensor.Desc) []int {
			if a, err := attrs(c); err == nil {
				return d.SizeClass(a, in)
			}
			return nil
		}
	}
	if d.Scalar != nil {
		op.Scalar = func(c Call, x []float64) float64 {
			if a, err := attrs(c); err == nil {
				return d.Scalar(a, x)
			}
			return 0
		}
	}
	reference := d.Reference
	if reference == nil && d.Scalar != nil {
		reference = func(a A, in, out []*tensor.Host) {
			mapScalar(func(x []float64) float64 { return d.Scalar(a, x) }, in, out[0])
		}
	}
	if reference != nil {
		op.Reference = func(c Call, in, out []*tensor.Host) {
			if a, err := attrs(c); err == nil {
				reference(a, in, out)
			}
		}
	}
	if d.Tolerance != nil {
		op.Tolerance = func(c Call, dt tensor.DType, in []tensor.Desc) Tolerance {
			if a, err := attrs(c); err == nil {
				return d.Tolerance(a, dt, in)
			}
			return Tolerance{}
		}
	}
	if d.Cost != nil {
		op.Cost = func(c Call, in []tensor.Desc) Cost {
			if a, err := attrs(c); err == nil {
				return d.Cost(a, in)
			}
			return Cost{}
		}
	}
	if d.Halo != nil {
		op.Halo = func(c Call) int {
			if a, err := attrs(c); err == nil {
				return d.Halo(a)
			}
			return 0
		}
	}
	if d.ForOpaque != nil {
		op.ForOpaque = func(c Call) (Call, bool) {
			a, err := attrs(c)
			if err != nil {
				return c, false
			}
			return d.ForOpaque(a), true
		}
	}
	return op
}

// planOf is a plan function of any Call, for operands that are Descs or Places. It adds
// the operation's name to errors, and to those of device checks. It leaves the plan that
// it gets as it is: plan may return the same one again.
func planOf[A Call, O any](attrs func(Call) (A, error), named func(error) error, plan func(a A, t *Target, in, out []O) (*Plan, error)) func(c Call, t *Target, in, out []O) (*Plan, error) {
	return func(c Call, t *Target, in, out []O) (*Plan, error) {
		a, err := attrs(c)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, named(fmt.Errorf("%w: no target to plan for", errs.ErrInvalidArgument))
		}
		p, err := plan(a, t, in, out)
		if err != nil {
			return nil, named(err)
		}
		if p == nil || len(p.Checks) == 0 {
			return p, nil
		}
		own := *p
		own.Checks = slices.Clone(p.Checks)
		for i, check := range p.Checks {
			own.Checks[i].Error = func(words [4]uint32) error { return named(check.Error(words)) }
		}
		return &own, nil
	}
}

// lastID counts the operations declared.
var lastID atomic.Uint64

// attrsOf is a call's attributes, if they are good.
func attrsOf[A Call](op *Op, c Call) (A, error) {
	if a, ok := c.(A); ok && !isNilPointer(c) {
		return a, op.checkSet(c)
	}
	var none A
	if c == nil || isNilPointer(c) {
		return none, noCall(fmt.Sprintf("no call of %s: %T", op.Name, c))
	}
	good, err := op.resolve(c)
	if err != nil {
		return none, err
	}
	return good.(A), nil // resolve makes it the type of Defaults
}

func isNilPointer(c Call) bool {
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// checkInputs is the part of a shape rule that all operations share.
func (op *Op) checkInputs(in []tensor.Desc) error {
	if err := op.countInputs(len(in)); err != nil {
		return err
	}
	for i, d := range in {
		arg := op.input(i)
		if err := d.Check(); err != nil {
			return fmt.Errorf("input %s: %w", arg.Name, err)
		}
		if len(arg.DTypes) > 0 && !slices.Contains(arg.DTypes, d.DType) {
			return fmt.Errorf("%w: input %s is %v (want one of %v)", errs.ErrUnsupported, arg.Name, d, arg.DTypes)
		}
	}
	return nil
}

// input is the argument of input i.
func (op *Op) input(i int) Arg {
	if len(op.In) == 0 {
		return Arg{}
	}
	return op.In[min(i, len(op.In)-1)]
}

// mapScalar computes an elementwise function of inputs that are broadcast to the shape
// of out, by NumPy's rule.
func mapScalar(f func(x []float64) float64, in []*tensor.Host, out *tensor.Host) {
	values := make([][]float64, len(in))
	for i, h := range in {
		values[i] = h.Floats()
	}
	results, x := make([]float64, 0, out.Elems()), make([]float64, len(in))
	out.Each(func(index []int, _ int) {
		for i, h := range in {
			at := 0
			for d, n := range h.Shape {
				at = at*n + min(index[len(index)-len(h.Shape)+d], n-1)
			}
			x[i] = values[i][at]
		}
		results = append(results, f(x))
	})
	out.SetFloats(results)
}
