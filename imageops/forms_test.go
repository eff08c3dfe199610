package imageops

import (
	"testing"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Sizes are written as ImageMagick and vips have them.
func TestSizesInShort(t *testing.T) {
	for text, want := range map[string]string{
		"resize 320x200":                        "resize width=320 height=200",
		"resize 320":                            "resize width=320",
		"resize 320x":                           "resize width=320",
		"resize x200":                           "resize height=200",
		"resize 50%":                            "resize percent=50",
		"resize 33.5%":                          "resize percent=33.5",
		"resize 320x200!":                       "resize width=320 height=200 fit=stretch",
		"resize 320x200^":                       "resize width=320 height=200 fit=outside",
		"resize 320x200>":                       "resize width=320 height=200 only_shrink=true",
		"resize 320>":                           "resize width=320 only_shrink=true",
		"resize x200>":                          "resize height=200 only_shrink=true",
		"resize 320x200 fit=cover gravity=top":  "resize width=320 height=200 fit=cover gravity=top",
		"pad 10":                                "pad left=10 right=10 top=10 bottom=10",
		"pad 10x20 color=white":                 "pad left=10 right=10 top=20 bottom=20 color=white",
		"pad top=3":                             "pad top=3",
		"crop 320x200":                          "crop width=320 height=200",
		"crop 320x200+5+7":                      "crop x=5 y=7 width=320 height=200",
		"crop 320x200 gravity=center":           "crop width=320 height=200 gravity=center",
		"resize percent=50 filter=box":          "resize percent=50 filter=box",
		"resize 1600x1600 only_shrink=true":     "resize width=1600 height=1600 only_shrink=true",
		"rotate 90 | resize 10x | pad 1 | flip": "",
	} {
		calls, err := spec.ParseCalls(text, "image")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := spec.FormatBrief(calls[0]); want != "" && got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		for _, c := range calls {
			if _, err := spec.Resolve(c); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	for _, text := range []string{"resize 0.5", "resize 50%x50%", "resize x", "resize 1x2x3", "resize 320x200<", "resize 320x200@", "resize -5%", "pad 1x2x3", "pad 10%", "crop 10", "crop 16:9", "crop 5x5+1", "crop 5x5-1-1"} {
		if c, err := spec.ParseCall(text, "image"); err == nil {
			if _, err = c.Spec().Shape(c, c.Spec().TypicalInputs(tensor.U8)); err == nil {
				t.Errorf("%s is %s, want an error", text, spec.FormatBrief(c))
			}
		}
	}
}
