package value_test

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/value"
)

func ExampleEval() {
	sum, err := value.Eval("add", value.Integer(2), value.Integer(3))
	fmt.Println(sum, err)
	half, err := value.Eval("div", value.Integer(1), value.Integer(2))
	fmt.Println(half, err)
	_, err = value.Eval("mod", value.Integer(1), value.Integer(0))
	fmt.Println(errors.Is(err, lathe.ErrDivisionByZero))
	// Output:
	// 5 <nil>
	// 0.5 <nil>
	// true
}
