package imageio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// Grey TIFF files with alpha stay such: two samples a pixel, for this decoder and for libtiff. A file has colours
// if a pixel has.
func TestGreyTIFF(t *testing.T) {
	tiffinfo := testkit.ToolIfAny(t, "tiffinfo")
	profile := testimg.ICC("GRAY", 300)
	for _, depth := range []int{1, 8, 16} {
		for _, w := range []int{1, 7, 8, 33, 501} {
			for _, coloured := range []bool{false, true} {
				what := fmt.Sprintf("depth %d, %d pixels wide, coloured %v", depth, w, coloured)
				m := greyPicture(w, 5, depth, true)
				at := color.NRGBA{77, 77, 77, 99} // not opaque, however narrow it is
				if coloured {
					at.G = 3
				}
				type setter interface{ Set(x, y int, c color.Color) }
				m.(setter).Set(0, 0, at)
				src := &Info{Grey: true, Depth: depth, Metadata: &Metadata{ICC: profile}}
				var file bytes.Buffer
				if err := Encode(t.Context(), &file, m, TIFF, &EncodeOptions{Source: src}); err != nil {
					t.Fatal(what, err)
				}
				got, info, err := Decode(t.Context(), bytes.NewReader(file.Bytes()), &DecodeOptions{Depth: 16})
				if err != nil || info.Grey == coloured || info.Depth != max(depth, 8) {
					t.Fatalf("%s: %+v, %v", what, info, err)
				}
				if kept := info.Metadata != nil && bytes.Equal(info.Metadata.ICC, profile); kept == coloured {
					t.Errorf("%s: the profile for grey is kept: %v", what, kept)
				}
				if depth == 16 {
					if !bytes.Equal(got.(*image.NRGBA64).Pix, m.(*image.NRGBA64).Pix) {
						t.Errorf("%s: other pixels", what)
					}
				} else if text := testimg.Differ(got.(*image.NRGBA), m.(*image.NRGBA), 0); text != "" {
					t.Errorf("%s: %s", what, text)
				}
				if tiffinfo == "" || w != 33 {
					continue
				}
				name := filepath.Join(t.TempDir(), "x.tiff")
				if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				text, err := exec.CommandContext(t.Context(), tiffinfo, name).CombinedOutput()
				samples := "Samples/Pixel: 2\n"
				if coloured {
					samples = "Samples/Pixel: 4\n"
				}
				if err != nil || !strings.Contains(string(text), samples) || !strings.Contains(string(text), "unassoc-alpha") {
					t.Errorf("%s: libtiff says %v\n%s", what, err, text)
				}
			}
		}
	}
}
