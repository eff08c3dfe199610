package handles_test

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/handles"
)

func ExampleTable() {
	files := handles.New(func(name string) { fmt.Println("released", name) })
	h, err := files.Add("photo.jpg")
	if err != nil {
		fmt.Println(err)
		return
	}
	name, err := files.Get(h)
	fmt.Println(name, err)
	fmt.Println(files.Free(h))
	_, err = files.Get(h) // a stale handle is an error, and never names another value
	fmt.Println(errors.Is(err, lathe.ErrInvalidHandle))
	// Output:
	// photo.jpg <nil>
	// released photo.jpg
	// <nil>
	// true
}
