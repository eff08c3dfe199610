package spec

import "sync"

// Declaration is an operation that is declared when it is first used. A variable of a package
// that holds one needs no initialisation:
//
//	func (Tan) Spec() *spec.Op { return tan.Op() }
//
//	var tan = spec.Declaration{Define: func() *spec.Op { return spec.Define(...) }}
//
// So the linker leaves an operation out of a program that never uses it, with its plans and its
// reference.
type Declaration struct {
	// Define declares the operation. It is called once.
	Define func() *Op

	once sync.Once
	op   *Op
}

// Op returns the operation. The first call declares it. It is nil if there is no Define.
func (d *Declaration) Op() *Op {
	if d == nil {
		return nil
	}
	d.once.Do(func() {
		if d.Define != nil {
			d.op = d.Define()
		}
	})
	return d.op
}
