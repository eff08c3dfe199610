package spec

import (
	"slices"
	"strings"
	"testing"
)

// boxed has forms.
type boxed struct {
	Width  int     `attr:"width"`
	Height int     `attr:"height"`
	Part   float64 `attr:"part"`
	Fit    string  `attr:"fit"`
}

func (boxed) Spec() *Op { return boxedOp }

var boxedOp = Register(&Op{Name: "shaped", Defaults: boxed{Fit: "in"}, Forms: []string{
	"{width}x{height}", "x{height}", "{part}%", "{width,height}", "{width}x{height}! fit=all",
}})

// A word may give attributes by a form, beside others that have names.
func TestForms(t *testing.T) {
	for text, want := range map[string]boxed{
		"shaped 320x200":        {Width: 320, Height: 200, Fit: "in"},
		"shaped x200":           {Height: 200, Fit: "in"},
		"shaped 12.5%":          {Part: 12.5, Fit: "in"},
		"shaped .5%":            {Part: 0.5, Fit: "in"},
		"shaped 7":              {Width: 7, Height: 7, Fit: "in"},
		"shaped -7":             {Width: -7, Height: -7, Fit: "in"},
		"shaped 3x4!":           {Width: 3, Height: 4, Fit: "all"},
		"shaped fit=out 3x4":    {Width: 3, Height: 4, Fit: "out"},
		"shaped x2 width=3":     {Width: 3, Height: 2, Fit: "in"},
		"shaped width=3 part=2": {Width: 3, Part: 2, Fit: "in"},
		"shaped":                {Fit: "in"},
	} {
		if got, err := ParseCall(text); err != nil || got != Call(want) {
			t.Errorf("%s: %v %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"shaped 320X200":                `"320X200" is not of the form name=value or WIDTHxHEIGHT, xHEIGHT, PART%, N, WIDTHxHEIGHT!; WIDTH, HEIGHT and N are whole numbers (it has: width, height, part, fit)`,
		"shaped 3.5x2":                  "is not of the form",
		"shaped %":                      "is not of the form",
		"shaped 3x4 height=5":           "height is given twice",
		"shaped 3x4 5":                  "width is given twice",
		"shaped 3x4! fit=out":           "fit is given twice",
		`shaped "3x4"`:                  "is not of the form",
		"shaped 99999999999999999999x1": "is not an integer up to 9223372036854775807",
	} {
		if _, err := ParseCall(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		op   *Op
		want []string
	}{
		{boxedOp, []string{"shaped WIDTHxHEIGHT", "shaped xHEIGHT", "shaped PART%", "shaped N", "shaped WIDTHxHEIGHT!"}},
		{softOp, []string{"test_soft SIGMA"}}, {mixOp, nil}, {bareOp, nil}, {fusionOp, nil}, {nil, nil}, {&Op{Forms: []string{"{a}"}}, nil},
	} {
		if got := c.op.Short(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
