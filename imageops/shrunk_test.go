package imageops

import (
	"image"
	"reflect"
	"testing"

	"github.com/lathe-gpu/lathe/spec"
)

func parsed(t *testing.T, text string) []spec.Call {
	t.Helper()
	calls, err := spec.ParseCalls(text, "image")
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func TestAtLeast(t *testing.T) {
	size := image.Pt(4000, 3000)
	for text, want := range map[string]image.Point{
		"resize 320x320":                        {640, 480},
		"thumbnail 320":                         {640, 480},
		"resize x300>":                          {800, 600},
		"resize 10%":                            {800, 600},
		"resize 50%":                            size,
		"resize 60%":                            size,
		"resize 5000":                           size,
		"resize 5000>":                          size,
		"resize 100x100!":                       {200, 200},
		"resize 100x3000!":                      {200, 3000},
		"resize 300x300 fit=cover":              {800, 600},
		"resize 300x300^":                       {800, 600},
		"resize 400 filter=box":                 {800, 600},
		"resize 400 filter=nearest":             size,
		"resize 400 linear=true":                size,
		"resize 400 | blur sigma=3":             {800, 600},
		"resize 400 | resize 10":                {800, 600},
		"blur sigma=3 | resize 400":             size,
		"flip | resize 400":                     size,
		"crop width=100 height=100 | resize 10": size,
		"blur sigma=3":                          size,
	} {
		if got := AtLeast(size, parsed(t, text)...); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if got := AtLeast(size); got != size {
		t.Error(got)
	}
	if got := AtLeast(size, ToSRGB{Profile: &Profile{}}, Resize{Width: 400}); got != image.Pt(800, 600) {
		t.Error("behind a conversion of colours:", got)
	}
	for _, c := range []spec.Call{nil, (*Resize)(nil), Resize{}, Resize{Width: -1}, Resize{Width: 10, Fit: "no"}} {
		if got := AtLeast(size, c); got != size {
			t.Errorf("%#v: %v", c, got)
		}
	}
	if got := AtLeast(image.Point{}, Resize{Width: 10}); got != (image.Point{}) {
		t.Error(got)
	}
}

// The size of the result is that of the full image, whatever the call says it by.
func TestForShrunk(t *testing.T) {
	for _, full := range []image.Point{{4000, 3000}, {4001, 2999}, {3999, 3007}, {801, 37}, {17, 4000}} {
		for _, text := range []string{"resize 10%", "resize 3.7%", "resize 33x33", "resize 37", "resize x9", "resize 20x7!", "resize 20x7^", "resize 41x13 fit=cover gravity=top-left", "resize 30x30>"} {
			calls := parsed(t, text)
			want, err := Size(full, calls...)
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range []int{1, 2, 4, 8} {
				in := image.Pt((full.X+by-1)/by, (full.Y+by-1)/by)
				for o := 1; o <= 8; o++ {
					got, err := Size(in, ForShrunk(calls, full, o)...)
					if err != nil || got != want {
						t.Errorf("%s of %v by %d: %v, %v, want %v", text, full, by, got, err, want)
					}
				}
			}
		}
	}
	calls := []spec.Call{Flip{}, Resize{Width: 5}}
	if got := ForShrunk(calls, image.Pt(80, 80), 1); !reflect.DeepEqual(got, calls) {
		t.Error("a Resize that is not the first call is another one")
	}
	if got := ForShrunk(nil, image.Pt(80, 80), 1); len(got) != 0 {
		t.Error(got)
	}
	if got := ForShrunk([]spec.Call{nil, (*Resize)(nil)}, image.Pt(80, 80), 99); len(got) != 2 || got[0] != nil {
		t.Error(got)
	}
}

// The part that becomes the result is the same part of the picture: where pixels of the file do not fill one
// of the image, and where that is at the begin after turning.
func TestShrunkAxes(t *testing.T) {
	full := image.Pt(4001, 3003)
	r := Resize{Width: 100, Height: 90, Fit: "cover", Gravity: "left", Filter: "lanczos3"}
	down, across, err := r.axes(full.Y, full.X)
	if err != nil {
		t.Fatal(err)
	}
	for o := 1; o <= 8; o++ {
		c, err := spec.As[*Resize](ForShrunk([]spec.Call{r}, full, o)[0])
		if err != nil {
			t.Fatal(err)
		}
		d, a, err := c.axes(376, 501)
		if err != nil {
			t.Fatal(err)
		}
		left := map[int]float64{2: 501 - 4001./8, 3: 501 - 4001./8, 6: 501 - 4001./8, 7: 501 - 4001./8}[o]
		top := map[int]float64{3: 376 - 3003./8, 4: 376 - 3003./8, 7: 376 - 3003./8, 8: 376 - 3003./8}[o]
		if a.In != 501 || a.Out != across.Out || a.Start != across.Start/8+left || a.Length != across.Length/8 {
			t.Errorf("orientation %d, across: %+v of %+v", o, a, across)
		}
		if d.In != 376 || d.Out != down.Out || d.Start != down.Start/8+top || d.Length != down.Length/8 {
			t.Errorf("orientation %d, down: %+v of %+v", o, d, down)
		}
		if a.Start+a.Length > 501 || d.Start+d.Length > 376 {
			t.Errorf("orientation %d: outside of the image", o)
		}
	}
}
