package imageops_test

import (
	"errors"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPictures checks that a picture comes from text, is read once it is asked for, and leaves the
// call before it is planned.
func TestPictures(t *testing.T) {
	call, err := spec.ParseCall(`composite "my logo.png" opacity=0.5`)
	if err != nil {
		t.Fatal(err)
	}
	const text = `composite image="my logo.png" mode=over opacity=0.5 gravity=top-left x=0 y=0 scale=0 tile=false`
	if got := spec.FormatCall(call); got != text {
		t.Errorf("got %s, want %s", got, text)
	}
	if _, _, err := spec.Pictures(call); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), `"my logo.png" has not been read`) {
		t.Errorf("an unread file: %v", err)
	}
	logo := image.NewGray(image.Rect(0, 0, 3, 2))
	var names []string
	read, err := spec.ReadPictures(call, func(name string) (image.Image, error) {
		names = append(names, name)
		return logo, nil
	})
	if err != nil || !slices.Equal(names, []string{"my logo.png"}) {
		t.Fatalf("read %q, %v", names, err)
	}
	if got := spec.FormatCall(read); got != text {
		t.Errorf("after reading: got %s, want %s", got, text)
	}
	if again, err := spec.ReadPictures(read, nil); err != nil || again != read {
		t.Errorf("reading again: %v, %v", again, err)
	}
	bare, list, err := spec.Pictures(read)
	if err != nil || len(list) != 1 || list[0] != image.Image(logo) {
		t.Fatalf("pictures %v, %v", list, err)
	}
	if c, err := spec.As[*imageops.Composite](bare); err != nil || c.Image != nil || c.Opacity != 0.5 {
		t.Errorf("without its picture the call is %#v", bare)
	}
	if c, err := spec.As[*imageops.Composite](read); err != nil || c.Image == nil {
		t.Error("Pictures has changed its argument")
	}
	// A cache of plans must not give the plan of the bare call to one that is refused.
	if _, ok := spec.AppendKey(nil, bare); !ok {
		t.Error("the call without its picture has no key")
	}
	if _, ok := spec.AppendKey(nil, read); ok {
		t.Error("the call with its picture has a key")
	}
	in := []tensor.Desc{tensor.Contiguous(tensor.U8, 9, 9, 4), tensor.Contiguous(tensor.U8, 2, 3, 4)}
	if _, err := bare.Spec().Shape(bare, in); err != nil {
		t.Error(err)
	}
	if _, err := bare.Spec().Shape(read, in); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "there is an input of that name too") {
		t.Errorf("a picture beside tensors: %v", err)
	}
}

// TestPictureErrors checks text and pictures that are wrong.
func TestPictureErrors(t *testing.T) {
	for _, text := range []string{"composite", "composite mode=over", `composite image=""`, "composite a.png image=b.png", `composite image="a`} {
		if c, err := spec.ParseCall(text); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
	none, err := spec.ParseCall("composite none")
	if err != nil || spec.FormatBrief(none) != "composite" {
		t.Errorf("none: %v, %v", none, err)
	}
	file, err := spec.ParseCall(`composite "none"`)
	if err != nil || spec.FormatBrief(file) != `composite image="none"` {
		t.Errorf("a file named none: %v, %v", spec.FormatBrief(file), err)
	}
	if _, err := spec.ReadPictures(file, nil); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no function: %v", err)
	}
	broken := errors.New("broken")
	if _, err := spec.ReadPictures(file, func(string) (image.Image, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	nothing, err := spec.ReadPictures(file, func(string) (image.Image, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := spec.Pictures(nothing); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no picture came: %v", err)
	}
	if call, list, err := spec.Pictures(imageops.Flip{}); err != nil || list != nil || call == nil {
		t.Errorf("a call without pictures: %v, %v, %v", call, list, err)
	}
	var missing *spec.PictureFile
	if missing.Bounds() != (image.Rectangle{}) || missing.ColorModel() == nil || missing.At(0, 0) == nil {
		t.Error("a nil file")
	}
	if text := spec.FormatCall(imageops.Composite{Image: image.NewGray(image.Rect(0, 0, 1, 1))}); !strings.Contains(text, "image=picture ") {
		t.Errorf("a picture without a name: %s", text)
	}
}
