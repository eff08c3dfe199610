package spec

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Definition declares an operation. A is the struct of its attributes, which callers write,
// or a pointer to that struct. The functions of a Definition get an A, whichever of both the
// caller passed. A pointer makes programs smaller, because the compiler makes one copy of
// generic code for all pointers and one for each struct. It points to a copy of the call.
//
// Fields without a comment mean the same as those of Op.
type Definition[A Call] struct {
	Name, Group, Doc, Source string
	Aliases                  []string
	// Forms are how text may give attributes in one word without their names. In
	// "{width}x{height}", each name in braces stands for a number, so that "resize 320x200" is
	// "resize width=320 height=200". Several names in braces get the same number. What
	// follows the word is given too, as in "{width}x{height}! fit=stretch".
	Forms   []string
	In, Out []Arg
	Traits
	Kernels  []Kernel
	Internal bool
	// WritesAll promises that each plan writes every element of every output, unless one
	// of its device checks reports an error. New outputs are then not filled with zeros
	// first. If the promise is broken, an output may show bytes of memory that was freed.
	// Without the promise, an element that no step writes keeps its old value, which is
	// zero in a new output. Operations with Kernels always promise it. The conformance
	// suite checks it.
	WritesAll bool
	// Defaults holds the default attributes, and examples for required attributes. The
	// fields of A that are attributes have the tags attr:"name" and doc:"meaning, unit,
	// range". The tag attr:"name,required" means that the attribute has no default. A zero
	// is refused if the default is not zero, unless the tag is attr:"name,zero". A nil
	// pointer stands for a pointer to a zero value. A field of type image.Image is the input
	// that has the name of the attribute: Device.Apply takes it out of the call and passes it as
	// that input. The first input has no such field.
	Defaults A

	// Shape checks the attributes and the inputs, and returns the descriptions of the
	// outputs. Before Shape is called, Define has checked the number of inputs, that each
	// is a valid tensor, and that its dtype is in Arg.DTypes. Define adds the names of the
	// package and of the operation to errors.
	// Errors: ErrInvalidArgument, ErrType, ErrUnsupported (a dtype).
	Shape func(a A, in []tensor.Desc) ([]tensor.Desc, error)
	// Plan returns the launches of a call that Shape has accepted. The operands have
	// strides that their Arg.Strides allows. Define adds the same names to the errors of
	// Plan and of the plan's device checks. A plan depends on the arguments only, and does
	// not change after Plan has returned it, because plans are kept: Plan need not be called
	// again for the same attributes and operands of the same types, shapes and strides.
	// Errors: ErrUnsupported (a dtype that the target lacks), ErrStrides, *LimitError.
	Plan func(a A, t *Target, in, out []tensor.Desc) (*Plan, error)
	// PlanAt, if set, is called instead of Plan. It can work with operands whose first
	// byte is not at an offset that the device can bind. For other operations, such
	// operands are copied before and after.
	PlanAt func(a A, t *Target, in, out []Place) (*Plan, error)
	// Strategies lists the values that Target.Strategy may have for a call. Plan uses the
	// first one if no strategy is set. Fewer than two mean that there is no choice. The
	// results of all strategies are within Tolerance. They differ by rounding only.
	Strategies func(a A, t *Target, in, out []tensor.Desc) []string
	// SizeClass returns the numbers that decide which strategy is best, such as sizes. Two
	// calls share the choice if their inputs have the same dtypes and if all numbers are
	// equal after rounding up to a power of two.
	SizeClass func(a A, in []tensor.Desc) []int
	// Reference computes the outputs in float64. It shares no code with Plan. The outputs
	// are allocated by the caller. Nil means that Scalar is applied to broadcast inputs.
	Reference func(a A, in, out []*tensor.Host)
	// Tolerance returns how far the elements of an output of dtype d may be from those of
	// Reference, for inputs of these shapes.
	Tolerance func(a A, d tensor.DType, in []tensor.Desc) Tolerance
	// Cost returns the arithmetic and the memory traffic that a call needs at least.
	Cost func(a A, in []tensor.Desc) Cost
	// Halo returns how many pixels in each direction a result depends on. Strips of a
	// picture must overlap by that many rows. Nil means 0.
	Halo func(a A) int
	// Strips, if set, is used instead of Halo. With a Halo too, Need returns rows out and those
	// around them, and only Part makes a difference.
	Strips *StripsOf[A]
	// Crops says that the operation finds a rectangle of a picture [H,W,C]: its output is i32 [4], the
	// first column, the first row, the width and the height. Device.Apply crops the picture
	// to that. It searches in whole pictures and not in strips. Crops returns the largest
	// height and width that the rectangle may have.
	Crops func(a A, in tensor.Desc) (h, w int)
	// Counts says that only the elements decide how large the result is. The first output is as large as
	// it can be. The last output, i32 [1], is how many indices along one of its dimensions count. Counts
	// returns that dimension. The elements at the other indices are zero. Device.Find returns the part
	// that counts.
	Counts func(a A, in []tensor.Desc) int
	// ForOpaque returns a call with fewer kernels that gives exactly the same result for
	// opaque 8-bit pictures. It may return a itself. The result must be opaque too. Nil
	// means that an opaque picture may become transparent, and so does a nil pointer that it
	// returns, for that call.
	ForOpaque func(a A) A
	// ForGrey returns the call for a picture without colours, if a would make colours of it. It
	// may return a itself. Nil means that calls are as they are for such pictures too.
	ForGrey func(a A) A
	// Scalar is the function of an elementwise operation in float64. x holds one element
	// of each input.
	Scalar func(a A, x []float64) float64
	// Part returns the function that an elementwise operation is for inputs of these element types. Nil, or a
	// part without a name, means that it cannot be one launch together with others.
	Part func(a A, t *Target, in []tensor.DType) Part
	// Cases are what the conformance suite tries.
	Cases CasesOf[A]
}

// Define declares an operation. Programs can find it by name only after Register.
//
// The functions of the Op accept structs of attributes and pointers to them. For any
// other call, and for calls that Resolve refuses, they return ErrInvalidArgument.
// Functions without an error then return nothing. A Plan that returns neither a plan nor
// an error is ErrInvalidArgument too.
//
// Call Define once for an operation, in a Declaration or in the initialisation of a package.
// Each Op that it returns is another operation: its calls are planned anew. Define panics if A is an
// interface, because that is a mistake in the source of the program.
func Define[A Call](d Definition[A]) *Op {
	return define(reflect.TypeFor[A](), d.erase())
}

// erase returns the definition for calls of any type. Its functions panic for a call of
// another type than A.
//
// There is a copy of this function, and of those that it makes, for each A that is no
// pointer. So they have nothing but the change of type, and define has the rest.
func (d Definition[A]) erase() *Definition[Call] {
	e := &Definition[Call]{
		Name: d.Name, Group: d.Group, Doc: d.Doc, Source: d.Source, Aliases: d.Aliases, Forms: d.Forms,
		In: d.In, Out: d.Out, Traits: d.Traits, Kernels: d.Kernels, Internal: d.Internal,
		WritesAll: d.WritesAll, Defaults: d.Defaults, Cases: d.Cases.erase(),
	}
	if d.Shape != nil {
		e.Shape = func(c Call, in []tensor.Desc) ([]tensor.Desc, error) { return d.Shape(c.(A), in) }
	}
	if d.Plan != nil {
		e.Plan = func(c Call, t *Target, in, out []tensor.Desc) (*Plan, error) { return d.Plan(c.(A), t, in, out) }
	}
	if d.PlanAt != nil {
		e.PlanAt = func(c Call, t *Target, in, out []Place) (*Plan, error) { return d.PlanAt(c.(A), t, in, out) }
	}
	if d.Strategies != nil {
		e.Strategies = func(c Call, t *Target, in, out []tensor.Desc) []string {
			return d.Strategies(c.(A), t, in, out)
		}
	}
	if d.SizeClass != nil {
		e.SizeClass = func(c Call, in []tensor.Desc) []int { return d.SizeClass(c.(A), in) }
	}
	if d.Reference != nil {
		e.Reference = func(c Call, in, out []*tensor.Host) { d.Reference(c.(A), in, out) }
	}
	if d.Tolerance != nil {
		e.Tolerance = func(c Call, dt tensor.DType, in []tensor.Desc) Tolerance { return d.Tolerance(c.(A), dt, in) }
	}
	if d.Cost != nil {
		e.Cost = func(c Call, in []tensor.Desc) Cost { return d.Cost(c.(A), in) }
	}
	if d.Halo != nil {
		e.Halo = func(c Call) int { return d.Halo(c.(A)) }
	}
	if d.Part != nil {
		e.Part = func(c Call, t *Target, in []tensor.DType) Part { return d.Part(c.(A), t, in) }
	}
	e.Strips = d.Strips.erase()
	if d.Counts != nil {
		e.Counts = func(c Call, in []tensor.Desc) int { return d.Counts(c.(A), in) }
	}
	if d.Crops != nil {
		e.Crops = func(c Call, in tensor.Desc) (int, int) { return d.Crops(c.(A), in) }
	}
	if d.ForOpaque != nil {
		e.ForOpaque = func(c Call) Call { return d.ForOpaque(c.(A)) }
	}
	if d.ForGrey != nil {
		e.ForGrey = func(c Call) Call { return d.ForGrey(c.(A)) }
	}
	if d.Scalar != nil {
		e.Scalar = func(c Call, x []float64) float64 { return d.Scalar(c.(A), x) }
	}
	return e
}

// define declares an operation whose functions take calls of the type declared.
func define(declared reflect.Type, d *Definition[Call]) *Op {
	t := callTypesOf(d.Name, declared)
	op := &Op{
		Name: d.Name, Group: d.Group, Doc: d.Doc, Source: d.Source, Aliases: d.Aliases, Forms: d.Forms,
		In: d.In, Out: d.Out, Traits: d.Traits, Kernels: d.Kernels, Internal: d.Internal,
		WritesAll: d.WritesAll || len(d.Kernels) > 0,
		Defaults:  t.plain(d.Defaults), Cases: t.cases(d.Cases), calls: t,
	}
	op.id = lastID.Add(1)
	op.key = newKeyLayout(structOf(op.Defaults).Type())
	op.pictures = pictureFields(structOf(op.Defaults).Type())
	op.marked = unmarkedFields(op.Defaults)
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
	if d.Shape != nil {
		op.Shape = func(c Call, in []tensor.Desc) ([]tensor.Desc, error) {
			a, err := op.attrs(c)
			if err != nil {
				return nil, err
			}
			if err := cmp.Or(op.checkInputs(in), op.checkNoPictures(a)); err != nil {
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
		op.PlanAt = planOf(op, named, d.PlanAt)
		op.Plan = func(c Call, t *Target, in, out []tensor.Desc) (*Plan, error) {
			return op.PlanAt(c, t, PlacesOf(in), PlacesOf(out))
		}
	} else if d.Plan != nil {
		op.Plan = planOf(op, named, d.Plan)
	}
	if d.Strategies != nil {
		op.Strategies = func(c Call, t *Target, in, out []tensor.Desc) []string {
			if a, err := op.attrs(c); err == nil {
				return d.Strategies(a, t, in, out)
			}
			return nil
		}
	}
	if d.SizeClass != nil {
		op.SizeClass = func(c Call, in []tensor.Desc) []int {
			if a, err := op.attrs(c); err == nil {
				return d.SizeClass(a, in)
			}
			return nil
		}
	}
	if d.Scalar != nil {
		op.Scalar = func(c Call, x []float64) float64 {
			if a, err := op.attrs(c); err == nil {
				return d.Scalar(a, x)
			}
			return 0
		}
	}
	op.part = d.Part
	reference := d.Reference
	if reference == nil && d.Scalar != nil {
		reference = func(a Call, in, out []*tensor.Host) {
			mapScalar(func(x []float64) float64 { return d.Scalar(a, x) }, in, out[0])
		}
	}
	if reference != nil {
		op.Reference = func(c Call, in, out []*tensor.Host) {
			if a, err := op.attrs(c); err == nil {
				reference(a, in, out)
			}
		}
	}
	if d.Tolerance != nil {
		op.Tolerance = func(c Call, dt tensor.DType, in []tensor.Desc) Tolerance {
			if a, err := op.attrs(c); err == nil {
				return d.Tolerance(a, dt, in)
			}
			return Tolerance{}
		}
	}
	if d.Cost != nil {
		op.Cost = func(c Call, in []tensor.Desc) Cost {
			if a, err := op.attrs(c); err == nil {
				return d.Cost(a, in)
			}
			return Cost{}
		}
	}
	if d.Halo != nil {
		op.Halo = func(c Call) int {
			if a, err := op.attrs(c); err == nil {
				return d.Halo(a)
			}
			return 0
		}
	}
	op.Strips = op.checkedStrips(d.Strips)
	if d.Counts != nil {
		op.Counts = func(c Call, in []tensor.Desc) int {
			if a, err := op.attrs(c); err == nil {
				return d.Counts(a, in)
			}
			return 0
		}
	}
	if d.Crops != nil {
		op.Crops = func(c Call, in tensor.Desc) (int, int) {
			if a, err := op.attrs(c); err == nil {
				return d.Crops(a, in)
			}
			return 0, 0
		}
	}
	if d.ForOpaque != nil {
		op.ForOpaque = func(c Call) (Call, bool) {
			a, err := op.attrs(c)
			if err != nil {
				return c, false
			}
			made := d.ForOpaque(a)
			if isNilPointer(made) {
				return c, false
			}
			return op.remarked(t.plain(made)), true
		}
	}
	if d.ForGrey != nil {
		op.ForGrey = func(c Call) (Call, bool) {
			a, err := op.attrs(c)
			if err != nil {
				return c, false
			}
			return op.remarked(t.plain(d.ForGrey(a))), true
		}
	}
	return op
}

// planOf returns the plan function for calls of any type. Operands are Descs or Places.
// It adds the operation's name to errors and to the errors of device checks. It does not
// change the plan that plan returns, because plan may return the same one again.
func planOf[O any](op *Op, named func(error) error, plan func(a Call, t *Target, in, out []O) (*Plan, error)) func(c Call, t *Target, in, out []O) (*Plan, error) {
	return func(c Call, t *Target, in, out []O) (*Plan, error) {
		a, err := op.attrs(c)
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
		if p == nil {
			return nil, named(fmt.Errorf("%w: the operation's Plan returned no plan", errs.ErrInvalidArgument))
		}
		if len(p.Checks) == 0 {
			return p, nil
		}
		own := *p
		own.Checks = slices.Clone(p.Checks)
		for i, check := range p.Checks {
			input := op.inputName(check.Of)
			own.Checks[i] = DeviceCheck{Error: func(words [4]uint32) error {
				err := check.Error(words)
				if input != "" {
					err = fmt.Errorf("%s: %w", input, err)
				}
				return named(err)
			}}
		}
		return &own, nil
	}
}

// inputName returns the name of an input, or "" if the Ref is none.
func (op *Op) inputName(r Ref) string {
	if r.Kind != RefIn || r.Index < 0 || r.Index >= len(op.In) {
		return ""
	}
	return op.In[r.Index].Name
}

// lastID is the number of operations that were declared so far.
var lastID atomic.Uint64

// attrs returns a call as the functions of the declaration take it, or an error if the call
// is not valid. A zero that Given marks is 0 there, and not -0.
func (op *Op) attrs(c Call) (Call, error) {
	if c == nil || isNilPointer(c) {
		return nil, noCall(fmt.Sprintf("no call of %s: %T", op.Name, c))
	}
	c, err := op.resolve(c)
	if err != nil {
		return nil, err
	}
	return op.calls.declared(op.unmarked(c)), nil
}

func isNilPointer(c Call) bool {
	v := reflect.ValueOf(c)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// checkInputs makes the checks of Shape that are the same for all operations.
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

// input returns the argument of input i. A variadic argument stands for all inputs from
// its own on.
func (op *Op) input(i int) Arg {
	if len(op.In) == 0 {
		return Arg{}
	}
	return op.In[min(i, len(op.In)-1)]
}

// mapScalar applies an elementwise function to inputs that are broadcast to the shape of
// out by the rule of NumPy.
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
