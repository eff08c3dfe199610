package spec

import (
	"fmt"
	"image"
	"image/color"
	"reflect"
	"strconv"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// An attribute of type image.Image is an input that a call brings with it. It has the name of
// that input:
//
//	Image image.Image `attr:"image,required" doc:"the picture that is laid over the other one"`
//
// Device.Apply takes it out of the call and gives it to the operation as that input. Plans never
// see it. Where a call has tensors as inputs, the attribute is nil. Numbers are such a picture too.

// imageType is the type of attributes that are pictures.
var imageType = reflect.TypeFor[image.Image]()

// PictureFile is a picture in a file. ParseCall makes one of an attribute that is a picture,
// because the text has the name of a file. ReadPictures reads it. It is an image without pixels
// until then.
type PictureFile struct {
	// Name is the name of the file.
	Name string
	// Image is the picture, or nil before the file was read.
	Image image.Image
}

// ColorModel implements image.Image.
func (f *PictureFile) ColorModel() color.Model {
	if f == nil || f.Image == nil {
		return color.NRGBAModel
	}
	return f.Image.ColorModel()
}

// Bounds implements image.Image.
func (f *PictureFile) Bounds() image.Rectangle {
	if f == nil || f.Image == nil {
		return image.Rectangle{}
	}
	return f.Image.Bounds()
}

// At implements image.Image.
func (f *PictureFile) At(x, y int) color.Color {
	if f == nil || f.Image == nil {
		return color.NRGBA{}
	}
	return f.Image.At(x, y)
}

// pictureFields lists the fields that are pictures.
func pictureFields(t reflect.Type) []int {
	var list []int
	for _, i := range attrFields(t) {
		if t.Field(i).Type == imageType {
			list = append(list, i)
		}
	}
	return list
}

// Pictures takes the pictures out of a call. It returns the call without them, and the pictures
// that are the inputs of the operation after the first one, as PictureDesc describes them. The list
// is nil if calls of the operation have no pictures.
// Errors: ErrInvalidArgument if c is not a valid call, a picture is missing, has no pixels or is a
// PictureFile that was not read, or if some input after the first has no picture.
func Pictures(c Call) (bare Call, list []image.Image, err error) {
	if bare, err = Resolve(c); err != nil {
		return nil, nil, err
	}
	op, v := bare.Spec(), structOf(bare)
	fields := op.pictures
	if len(fields) == 0 {
		return bare, nil, nil
	}
	own := reflect.New(v.Type())
	own.Elem().Set(v)
	for _, arg := range op.In[min(1, len(op.In)):] {
		i := fieldNamed(v.Type(), fields, arg.Name)
		if i < 0 {
			return nil, nil, fmt.Errorf("spec: %s: %w: input %s is no attribute of type image.Image, as other inputs are", op.Name, errs.ErrInvalidArgument, arg.Name)
		}
		m, _ := v.Field(i).Interface().(image.Image)
		if m, err = readable(m); err != nil {
			return nil, nil, fmt.Errorf("spec: %s: %w: attribute %s: %w", op.Name, errs.ErrInvalidArgument, arg.Name, err)
		}
		list = append(list, m)
	}
	for _, i := range fields {
		own.Elem().Field(i).SetZero()
	}
	if reflect.TypeOf(bare).Kind() != reflect.Pointer {
		own = own.Elem()
	}
	if bare, err = completed(own.Interface().(Call), op, list); err != nil {
		return nil, nil, err
	}
	return bare, list, nil
}

// fieldNamed returns the one of the fields that has the attribute of a name, or -1.
func fieldNamed(t reflect.Type, fields []int, name string) int {
	for _, i := range fields {
		if tagOf(t.Field(i)).name == name {
			return i
		}
	}
	return -1
}

// readable returns the picture of a file in place of the file, and an error for a picture without
// pixels.
func readable(m image.Image) (own image.Image, err error) {
	defer func() {
		if p := recover(); p != nil { // such as a struct around a nil image
			own, err = nil, fmt.Errorf("an image of the type %T without bounds: %v", m, p)
		}
	}()
	if f, ok := m.(*PictureFile); ok && f != nil {
		if m = f.Image; m == nil {
			return nil, fmt.Errorf("the file %q has not been read (spec.ReadPictures reads it)", f.Name)
		}
	}
	if v := reflect.ValueOf(m); m == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("no image")
	}
	if b := m.Bounds(); b.Empty() {
		return nil, fmt.Errorf("an image without pixels (%d×%d)", b.Dx(), b.Dy())
	}
	return m, nil
}

// ReadPictures returns the call with every PictureFile read by a function, which gets its name. A
// call without such attributes is returned as it is.
// Errors: those of read, and ErrInvalidArgument if c is not a valid call.
func ReadPictures(c Call, read func(name string) (image.Image, error)) (Call, error) {
	good, err := Resolve(c)
	if err != nil {
		return nil, err
	}
	fields := good.Spec().pictures
	if len(fields) == 0 {
		return c, nil
	}
	v := structOf(good)
	own := reflect.New(v.Type())
	own.Elem().Set(v)
	changed := false
	for _, i := range fields {
		f, ok := v.Field(i).Interface().(*PictureFile)
		if !ok || f == nil || f.Image != nil {
			continue
		}
		if read == nil {
			return nil, noCall("no function to read pictures with")
		}
		m, err := read(f.Name)
		if err != nil {
			return nil, err
		}
		own.Elem().Field(i).Set(reflect.ValueOf(&PictureFile{Name: f.Name, Image: m}))
		changed = true
	}
	switch {
	case !changed:
		return c, nil
	case reflect.TypeOf(good).Kind() == reflect.Pointer:
		return own.Interface().(Call), nil
	}
	return own.Elem().Interface().(Call), nil
}

// checkNoPictures returns an error if a call of tensors has a picture too.
func (op *Op) checkNoPictures(c Call) error {
	for _, i := range op.pictures {
		if v := structOf(c); !v.Field(i).IsNil() {
			name := tagOf(v.Type().Field(i)).name
			return fmt.Errorf("%w: attribute %s is set, and there is an input of that name too (Device.Apply takes pictures as attributes; with tensors, leave it out)", errs.ErrInvalidArgument, name)
		}
	}
	return nil
}

// setPicture stores the picture that text names in a field.
func setPicture(f reflect.Value, text string) error {
	if text == noValue {
		f.SetZero()
		return nil
	}
	name := reflect.New(reflect.TypeFor[string]()).Elem()
	if err := setAttr(name, text); err != nil {
		return err
	}
	if name.String() == "" {
		return fmt.Errorf("the name of a file is missing")
	}
	f.Set(reflect.ValueOf(&PictureFile{Name: name.String()}))
	return nil
}

// formatPicture formats a picture as setPicture parses it. A picture without a file has no name.
func formatPicture(f reflect.Value) string {
	if f.IsNil() {
		return noValue
	}
	file, ok := f.Interface().(*PictureFile)
	if !ok || file == nil {
		return "picture"
	}
	if file.Name == noValue {
		return strconv.Quote(file.Name)
	}
	return formatAttr(reflect.ValueOf(file.Name))
}
