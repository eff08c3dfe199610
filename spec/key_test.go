package spec

import (
	"bytes"
	"image"
	"testing"

	"github.com/lathe-gpu/lathe/tensor"
)

// nested has calls in fields of every kind that a program may declare.
type nested struct {
	Open    []Call
	hidden  []Call
	pointer *Call
	array   [1]Call
	own     Call
}

func (nested) Spec() *Op { return nestedOp }

// plain has attributes in fields that are not exported. They can be read.
type plain struct {
	Gain   float64
	hidden []int
	within struct {
		at [2]int
		of struct{ name string }
	}
}

func (plain) Spec() *Op { return plainOp }

// shown has calls in exported fields only.
type shown struct {
	Calls   []Call
	Pointer *Call
}

func (shown) Spec() *Op { return shownOp }

// withPicture brings an input with it, as a picture.
type withPicture struct {
	Image image.Image `attr:"image"`
}

func (withPicture) Spec() *Op { return withPictureOp }

// endless is a list of such lists.
type endless []endless

type recursive struct{ Of endless }

func (recursive) Spec() *Op { return recursiveOp }

var nestedOp, plainOp, shownOp, recursiveOp, withPictureOp *Op

func init() {
	nestedOp = Define(Definition[nested]{Name: "test_nested"})
	plainOp = Define(Definition[plain]{Name: "test_plain"})
	shownOp = Define(Definition[shown]{Name: "test_shown"})
	recursiveOp = Define(Definition[recursive]{Name: "test_recursive"})
	withPictureOp = Define(Definition[withPicture]{
		Name: "test_with_picture", In: []Arg{{Name: "in"}, {Name: "image", DTypes: []tensor.DType{tensor.F32}}},
	})
}

// TestAppendKey checks that a call whose attributes cannot be read has no key, and that
// other calls have keys that differ.
func TestAppendKey(t *testing.T) {
	one := Call(plain{Gain: 1})
	self := shown{Calls: make([]Call, 1)}
	self.Calls[0] = self
	for name, c := range map[string]Call{
		"a list of calls that is not exported":     nested{hidden: []Call{one}},
		"a pointer to a call that is not exported": nested{pointer: &one},
		"an array of calls that is not exported":   nested{array: [1]Call{one}},
		"a call that is not exported":              nested{own: one},
		"nothing set":                              nested{},
		"a list of lists without end":              recursive{Of: endless{{}}},
		"a call that contains itself":              self,
		"a call with a picture":                    withPicture{Image: &image.NRGBA{}},
	} {
		if _, ok := AppendKey(nil, c); ok {
			t.Errorf("%s: the call has a key", name)
		}
	}
	var keys [][]byte
	inside, named := plain{}, plain{}
	inside.within.at[1], named.within.of.name = 1, "x"
	for _, c := range []Call{
		plain{}, inside, named, plain{Gain: 1}, plain{hidden: []int{}}, plain{hidden: []int{1}}, plain{hidden: []int{2}},
		shown{}, shown{Calls: []Call{one}}, shown{Calls: []Call{one, one}}, shown{Pointer: &one}, shown{Calls: []Call{&plain{Gain: 2}}},
		withPicture{},
	} {
		key, ok := AppendKey(nil, c)
		if !ok {
			t.Errorf("%+v has no key", c)
		}
		for _, k := range keys {
			if bytes.Equal(k, key) {
				t.Errorf("%+v has the key of another call", c)
			}
		}
		keys = append(keys, key)
	}
}
