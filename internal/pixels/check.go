package pixels

import (
	"errors"
	"fmt"
	"image"
	"math"
	"reflect"
)

// Check returns an error if m is nil, if its bounds are no size of a picture in memory, or if
// its Pix or its Stride is too small for its Rect. It checks Pix and Stride of the types that
// are read and written in place.
func Check(m image.Image) (err error) {
	if v := reflect.ValueOf(m); m == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return errors.New("no image")
	}
	defer func() {
		if p := recover(); p != nil { // such as a struct around a nil image
			err = fmt.Errorf("an image of the type %T without bounds: %v", m, p)
		}
	}()
	r := m.Bounds()
	if u, ok := m.(*image.Uniform); ok {
		return fmt.Errorf("an *image.Uniform of the size %v: it has no end (draw it onto an image)", u.Bounds().Size())
	}
	if r.Dx() < 0 || r.Dy() < 0 || r.Dy() > 0 && r.Dx() > math.MaxInt/4/r.Dy() {
		return fmt.Errorf("an image of the size %v", r.Size())
	}
	switch m := m.(type) {
	case *image.NRGBA:
		return check(m.Pix, m.Stride, m.Rect)
	case *image.RGBA:
		return check(m.Pix, m.Stride, m.Rect)
	}
	return nil
}

// check is Check for images of four bytes a pixel.
func check(pix []byte, stride int, r image.Rectangle) error {
	if r.Empty() {
		return nil
	}
	if stride < 4*r.Dx() || len(pix) < 4*r.Dx() || (len(pix)-4*r.Dx())/stride < r.Dy()-1 {
		return fmt.Errorf("an image of %d×%d pixels with a stride of %d and %d bytes", r.Dx(), r.Dy(), stride, len(pix))
	}
	return nil
}
