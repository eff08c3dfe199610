package imageio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/exif"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// described returns files of all formats that have metadata, with the orientation 6 and a profile.
func described(icc []byte) map[string][]byte {
	m := testimg.Quarters(32, 16)
	tag, xmp := testimg.Camera(6, binary.LittleEndian), testimg.XMP("6")
	png := encoded(m, ".png")
	hexed := "\nIPTC profile\n      " + fmt.Sprint(len(testimg.IPTC)) + "\n" + hex.EncodeToString([]byte(testimg.IPTC[:9])) + "\n" + hex.EncodeToString([]byte(testimg.IPTC[9:])) + "\n"
	for _, c := range []struct{ kind, body string }{
		{"iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00" + string(xmp)}, {"zTXt", "Raw profile type iptc\x00\x00" + packed([]byte(hexed))}, {"tEXt", "Title\x00a lake"},
		{"pHYs", "\x00\x00\x2e\x23\x00\x00\x2e\x23\x01"}, {"iCCP", "name\x00\x00" + packed(icc)}, {"gAMA", "\x00\x00\xb1\x8f"},
	} {
		png = pngWith(png, c.kind, []byte(c.body))
	}
	end := len(png) - 12 // where some writers put it
	eXIf := pngWith(encoded(m, ".png"), "eXIf", tag)[33 : 33+12+len(tag)]
	png = append(append(bytes.Clone(png[:end]), eXIf...), png[end:]...)
	webp := webpWith([]byte(testimg.WebP), tag)
	for _, c := range []struct {
		kind string
		body []byte
	}{{"XMP ", xmp}, {"ICCP", icc}} {
		webp = binary.LittleEndian.AppendUint32(append(webp, c.kind...), uint32(len(c.body)))
		webp = append(append(webp, c.body...), make([]byte, len(c.body)%2)...)
	}
	return map[string][]byte{"jpeg": testimg.Photograph(encoded(m, ".jpg"), 6, icc), "png": png, "webp": webp, "tiff": describedTIFF(icc)}
}

func packed(data []byte) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.String()
}

// describedTIFF is a file of 2×1 grey pixels, with the high byte first.
func describedTIFF(icc []byte) []byte {
	be := binary.BigEndian
	var values, table []byte
	const tags = 16
	at := 8 + 2 + 12*tags + 4
	tag := func(tag, kind uint16, count int, data ...byte) {
		table = be.AppendUint32(be.AppendUint16(be.AppendUint16(table, tag), kind), uint32(count))
		if len(data) > 4 {
			place := at + len(values)
			values = append(append(values, data...), make([]byte, len(data)%2)...)
			data = be.AppendUint32(nil, uint32(place))
		}
		table = append(table, append(data, make([]byte, 4-len(data))...)...)
	}
	out := []byte("MM\x00*\x00\x00\x00\x08\x00\x10")
	for _, e := range []struct {
		tag, kind uint16
		count     int
		data      []byte
	}{
		{256, 3, 1, []byte{0, 2}}, {257, 3, 1, []byte{0, 1}}, {258, 3, 1, []byte{0, 8}}, {259, 3, 1, []byte{0, 1}}, {262, 3, 1, []byte{0, 1}},
		{271, 2, 12, []byte("Lathe Works\x00")}, {273, 4, 1, be.AppendUint32(nil, 8)}, {274, 3, 1, []byte{0, 6}}, {278, 3, 1, []byte{0, 1}}, {279, 4, 1, be.AppendUint32(nil, 2)},
		{282, 5, 1, be.AppendUint32(be.AppendUint32(nil, 300), 1)}, {283, 5, 1, be.AppendUint32(be.AppendUint32(nil, 300), 1)},
		{700, 1, len(testimg.XMP("6")), testimg.XMP("6")}, {33723, 7, len(testimg.IPTC), []byte(testimg.IPTC)}, {34675, 7, len(icc), icc},
		{34665, 4, 1, nil},
	} {
		if e.tag == 34665 {
			sub := be.AppendUint16(nil, 1)
			sub = append(sub, "\xa0\x02\x00\x04\x00\x00\x00\x01\x00\x00\x0f\xa0\x00\x00\x00\x00"...)
			place := at + len(values)
			values = append(values, sub...)
			e.data = be.AppendUint32(nil, uint32(place))
		}
		tag(e.tag, e.kind, e.count, e.data...)
	}
	return append(append(append(out, table...), 0, 0, 0, 0), values...)
}

// Metadata come through every format that is written.
func TestMetadata(t *testing.T) {
	for _, size := range []int{400, 150000} { // the second one needs several segments of JPEG
		icc := testimg.ICC("RGB ", size)
		if size == 400 {
			icc = testimg.ICC("GRAY", size)
		}
		for name, data := range described(icc) {
			img, info, err := Decode(t.Context(), bytes.NewReader(data), nil)
			m := info.Metadata
			if err != nil || m == nil || info.Orientation != 6 {
				t.Fatalf("%s: %+v, %v", name, info, err)
			}
			grey := name == "tiff"
			if string(icc[16:20]) == "GRAY" && !grey {
				if info.MetadataErr == nil || m.ICC != nil || !strings.Contains(info.MetadataErr.Error(), "GRAY") {
					t.Errorf("%s: a profile for grey: %v", name, info.MetadataErr)
				}
				continue
			}
			if info.MetadataErr != nil {
				t.Errorf("%s: %v", name, info.MetadataErr)
			}
			for _, f := range []Format{JPEG, PNG, TIFF} {
				var file bytes.Buffer
				if err := Encode(t.Context(), &file, img, f, &EncodeOptions{Source: &info}); err != nil {
					t.Errorf("%s as %s: %v", name, f, err)
					continue
				}
				_, again, err := Decode(t.Context(), bytes.NewReader(file.Bytes()), nil)
				if err != nil || again.MetadataErr != nil || again.Metadata == nil || again.Orientation != 1 {
					t.Errorf("%s as %s: %+v, %v, %v", name, f, again, err, again.MetadataErr)
					continue
				}
				same(t, name+" as "+string(f), again.Metadata, m, img.Bounds().Dx())
				text := file.String()
				if strings.Contains(text, "thumb") {
					t.Errorf("%s as %s: there is a thumbnail", name, f)
				}
				if f == PNG && name == "png" && !strings.Contains(text, "tEXtTitle\x00a lake") || f == JPEG && name == "jpeg" && !strings.Contains(text, "a comment") {
					t.Errorf("%s as %s: the text is lost", name, f)
				}
			}
		}
	}
}

// same wants of metadata those of Photograph and its like.
func same(t *testing.T, what string, got, from *Metadata, width int) {
	t.Helper()
	if !bytes.Equal(got.XMP, testimg.XMP("1")) {
		t.Errorf("%s: XMP %q", what, got.XMP)
	}
	iptc := testimg.IPTC
	if strings.HasPrefix(what, "webp") { // it has no place for them
		iptc = ""
	} else if got.DensityX != 300 || got.DensityY != 300 {
		t.Errorf("%s: %v × %v an inch", what, got.DensityX, got.DensityY)
	}
	if string(got.IPTC) != iptc {
		t.Errorf("%s: IPTC %q", what, got.IPTC)
	}
	if !bytes.Equal(got.ICC, from.ICC) {
		t.Errorf("%s: a profile of %d bytes, want %d", what, len(got.ICC), len(from.ICC))
	}
	order, list, err := exif.Read(bytes.NewReader(got.EXIF), int64(len(got.EXIF)), nil)
	if err != nil {
		t.Errorf("%s: EXIF: %v", what, err)
		return
	}
	maker, _ := exif.Find(list, 0x010f)
	sub, _ := exif.Find(list, exif.Settings)
	w, _ := exif.Find(sub.Sub, 0xa002)
	if n, _ := exif.Number(order, w); string(maker.Data) != "Lathe Works\x00" || n != int64(width) {
		t.Errorf("%s: maker %q, width %d, want %d", what, maker.Data, n, width)
	}
	note, _ := exif.Find(sub.Sub, 0x927c)
	if string(note.Data) != "note at its own place"[:20] && !strings.HasPrefix(what, "tiff") {
		t.Errorf("%s: the maker's note is %q", what, note.Data)
	}
}

// The maker's note lies at the same place of a TIFF file as of the EXIF data.
func TestMakerNoteStays(t *testing.T) {
	img, info, err := Decode(t.Context(), bytes.NewReader(described(testimg.ICC("RGB ", 300))["jpeg"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := Encode(t.Context(), &file, img, TIFF, &EncodeOptions{Source: &info}); err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(file.String(), "note at its own"); at != 106 {
		t.Errorf("at %d", at)
	}
}

// A picture that is not turned keeps its orientation.
func TestMetadataAsStored(t *testing.T) {
	for name, data := range described(testimg.ICC("RGB ", 300)) {
		img, info, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{AsStored: true})
		if err != nil || info.Orientation != 6 {
			t.Fatal(name, err)
		}
		for _, f := range []Format{JPEG, PNG, TIFF} {
			var file bytes.Buffer
			if err := Encode(t.Context(), &file, img, f, &EncodeOptions{Source: &info}); err != nil {
				t.Fatal(name, f, err)
			}
			again, err := DecodeConfig(t.Context(), bytes.NewReader(file.Bytes()), nil)
			if err != nil || again.Orientation != 6 || !bytes.Equal(again.Metadata.XMP, testimg.XMP("1")) {
				t.Errorf("%s as %s: %+v, %v", name, f, again, err)
			}
		}
	}
}

func TestStripped(t *testing.T) {
	_, info, err := Decode(t.Context(), bytes.NewReader(described(testimg.ICC("RGB ", 300))["png"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	s := info.Metadata.Stripped()
	if err := Encode(t.Context(), &file, testimg.Quarters(4, 4), PNG, &EncodeOptions{Source: &Info{Metadata: s}}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"iCCP": true, "pHYs": true, "eXIf": false, "tEXt": false, "zTXt": false, "iTXt": false, "Oslo": false} {
		if strings.Contains(file.String(), text) != want {
			t.Errorf("%s is there: %v", text, !want)
		}
	}
	// Without a profile the chunks that say what colours mean stay.
	file.Reset()
	s.ICC = nil
	if err := Encode(t.Context(), &file, testimg.Quarters(4, 4), PNG, &EncodeOptions{Source: &Info{Metadata: s}}); err != nil || !strings.Contains(file.String(), "gAMA") {
		t.Errorf("%v, %q", err, file.String())
	}
	var none *Metadata
	if none.Stripped() != nil {
		t.Error("metadata from nothing")
	}
}

// A picture whose colours are sRGB has no profile, and none of the chunks that stand for one.
func TestInSRGB(t *testing.T) {
	_, info, err := Decode(t.Context(), bytes.NewReader(described(testimg.ICC("RGB ", 300))["png"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	block := exif.Block(binary.BigEndian, []exif.Entry{{Tag: exif.Settings, Kind: 4, Count: 1, Sub: []exif.Entry{{Tag: 0xa001, Kind: 3, Count: 1, Data: []byte{0xff, 0xff}}}}})
	info.Metadata.EXIF = block
	s := info.Metadata.InSRGB()
	if s.ICC != nil || info.Metadata.ICC == nil || !bytes.Equal(s.XMP, info.Metadata.XMP) || !bytes.Equal(info.Metadata.EXIF, block) {
		t.Errorf("%+v of %+v", s, info.Metadata)
	}
	if want := bytes.Replace(block, []byte{0xff, 0xff}, []byte{0, 1}, 1); !bytes.Equal(s.EXIF, want) {
		t.Errorf("EXIF %x, want %x", s.EXIF, want)
	}
	var file bytes.Buffer
	if err := Encode(t.Context(), &file, testimg.Quarters(4, 4), PNG, &EncodeOptions{Source: &Info{Metadata: s}}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"iCCP": false, "gAMA": false, "cHRM": false, "pHYs": true, "eXIf": true} {
		if strings.Contains(file.String(), text) != want {
			t.Errorf("%s is there: %v", text, !want)
		}
	}
	var none *Metadata
	if none.InSRGB() != nil {
		t.Error("metadata from nothing")
	}
	// One with colours of another profile has that, and no chunks beside it.
	profile := testimg.ICC("RGB ", 400)
	m := s.InProfile(profile)
	if !bytes.Equal(m.EXIF, block) || !bytes.Equal(m.ICC, profile) || s.ICC != nil || !bytes.Equal(m.XMP, info.Metadata.XMP) {
		t.Errorf("%+v of %+v", m, s)
	}
	if m := none.InProfile(profile); m == nil || !bytes.Equal(m.ICC, profile) {
		t.Errorf("a profile alone: %+v", m)
	}
	file.Reset()
	if err := Encode(t.Context(), &file, testimg.Quarters(4, 4), PNG, &EncodeOptions{Source: &Info{Metadata: info.Metadata.InProfile(profile)}}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"iCCP": true, "gAMA": false, "cHRM": false} {
		if strings.Contains(file.String(), text) != want {
			t.Errorf("%s is there: %v", text, !want)
		}
	}
}

// What a JPEG has no place for is named.
func TestFit(t *testing.T) {
	long := &Metadata{EXIF: append(testimg.Exif(1, binary.BigEndian), make([]byte, 65527-25)...), XMP: make([]byte, 65504), IPTC: make([]byte, 65506), ICC: testimg.ICC("RGB ", 255*65519)}
	img := testimg.Quarters(4, 4)
	var file bytes.Buffer
	_, err := long.Fit(JPEG)
	if n := len(long.EXIF); n != 65527+1 || err == nil || !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "EXIF data of 65528 bytes; a JPEG can have 65527") {
		t.Errorf("%d: %v", n, err)
	}
	long.EXIF = long.EXIF[:65527]
	if fit, err := long.Fit(JPEG); err != nil || len(fit.EXIF) != 65527 {
		t.Error(err)
	}
	if err := Encode(t.Context(), &file, img, JPEG, &EncodeOptions{Source: &Info{Metadata: long}}); err != nil {
		t.Fatal(err)
	}
	info, err := DecodeConfig(t.Context(), &file, nil)
	if m := info.Metadata; err != nil || len(m.EXIF) != 65527 || len(m.XMP) != 65504 || len(m.IPTC) != 65506 || len(m.ICC) > maxMetadata {
		t.Errorf("%v, EXIF %d, XMP %d, IPTC %d, ICC %d", err, len(m.EXIF), len(m.XMP), len(m.IPTC), len(m.ICC))
	}
	for _, m := range []*Metadata{{XMP: make([]byte, 65505)}, {IPTC: make([]byte, 65507)}, {ICC: make([]byte, 255*65519+1)}} {
		fit, err := m.Fit(JPEG)
		if !errors.Is(err, ErrTooLarge) || fit.size() != 0 {
			t.Errorf("%v", err)
		}
		if err := Encode(t.Context(), &file, img, JPEG, &EncodeOptions{Source: &Info{Metadata: m}}); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "Metadata.Fit") {
			t.Errorf("%v", err)
		}
		if fit, err := m.Fit(TIFF); err != nil || fit.size() != m.size() {
			t.Errorf("TIFF: %v", err)
		}
	}
	if _, err := long.Fit(WebP); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	var none *Metadata
	if m, err := none.Fit(JPEG); m != nil || err != nil {
		t.Error(m, err)
	}
}

// Damaged metadata are left out with a reason, and the picture is good.
func TestDamagedMetadata(t *testing.T) {
	j, p := encoded(testimg.Quarters(8, 8), ".jpg"), encoded(testimg.Quarters(8, 8), ".png")
	after := func(segments ...string) []byte {
		return []byte(string(j[:2]) + strings.Join(segments, "") + string(j[2:]))
	}
	icc := testimg.ICC("RGB ", 300)
	wrong := bytes.Clone(icc)
	wrong[36] = 'x'
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"EXIF":                 {after(testimg.JPEGSegment(0xe1, "Exif\x00\x00II*\x00\xff\xff\xff\xff")), "EXIF: its directory lies outside of it"},
		"no profile":           {after(testimg.JPEGSegment(0xe2, "ICC_PROFILE\x00\x01\x01", string(wrong))), "ICC: it is no profile"},
		"a short profile":      {after(testimg.JPEGSegment(0xe2, "ICC_PROFILE\x00\x01\x01", string(icc[:200]))), "ICC: the profile says that it has 300 bytes, and has 200"},
		"a missing part":       {after(testimg.JPEGSegment(0xe2, "ICC_PROFILE\x00\x01\x02", string(icc))), "ICC: part 2 of 2 is missing"},
		"no parts":             {after(testimg.JPEGSegment(0xe2, "ICC_PROFILE\x00\x01\x00", string(icc))), "ICC: the profile has no parts"},
		"CMYK":                 {after(testimg.JPEGSegment(0xe2, "ICC_PROFILE\x00\x01\x01", string(testimg.ICC("CMYK", 300)))), "for CMYK colours"},
		"a bomb":               {pngWith(p, "iCCP", []byte("x\x00\x00"+packed(make([]byte, 9<<20)))), "ICC: more than 8 MiB"},
		"a damaged profile":    {pngWith(p, "iCCP", []byte("x\x00\x00garbage")), "ICC: zlib"},
		"a profile of nothing": {pngWith(p, "iCCP", []byte("x")), "ICC: its chunk has no profile"},
		"a raw profile":        {pngWith(p, "tEXt", []byte("Raw profile type iptc\x00\niptc\n 99\nabcd\n")), "Raw profile type iptc: it is damaged"},
		"an XMP chunk":         {pngWith(p, "iTXt", []byte("XML:com.adobe.xmp\x00")), "XMP: its chunk ends too early"},
	} {
		img, info, err := Decode(t.Context(), bytes.NewReader(c.data), nil)
		if err != nil || info.MetadataErr == nil || !strings.Contains(info.MetadataErr.Error(), c.want) || info.Metadata != nil {
			t.Errorf("%s: %v, %v, %+v", name, err, info.MetadataErr, info.Metadata)
			continue
		}
		if err := Encode(t.Context(), &bytes.Buffer{}, img, JPEG, &EncodeOptions{Source: &info}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Segments without an end are not all kept.
	var many []string
	for range 600 {
		many = append(many, testimg.JPEGSegment(0xfe, string(make([]byte, 65000))))
	}
	info, err := DecodeConfig(t.Context(), bytes.NewReader(after(many...)), nil)
	if err != nil || info.MetadataErr == nil || info.Memory > 32<<20 || info.Metadata.size() < 20<<20 {
		t.Errorf("%v, %v, %d bytes", err, info.MetadataErr, info.Memory)
	}
	// At random.
	r := rand.New(rand.NewPCG(3, 4))
	for name, data := range described(icc) {
		for i := range 900 {
			bad := testimg.Damage(r, data, i, 900)
			if testlevel.Sampled(i, 3) {
				survives(t, fmt.Sprint(name, i), bad)
			}
		}
	}
}

// The size in XMP is that of the output, as an attribute or an element, and all else stays.
func TestSizedXMP(t *testing.T) {
	for packet, want := range map[string]string{
		`<a exif:PixelXDimension="4000" exif:PixelYDimension = '3000' dc:n="4000"/>`:                                 `<a exif:PixelXDimension="15" exif:PixelYDimension = '9' dc:n="4000"/>`,
		"<exif:PixelXDimension>4000</exif:PixelXDimension><exif:PixelYDimension> 3 </exif:PixelYDimension>":          "<exif:PixelXDimension>15</exif:PixelXDimension><exif:PixelYDimension> 9 </exif:PixelYDimension>",
		`<tiff:ImageWidth>1</tiff:ImageWidth> tiff:ImageLength="77777" tiff:XResolution="300/1"`:                     `<tiff:ImageWidth>15</tiff:ImageWidth> tiff:ImageLength="9" tiff:XResolution="300/1"`,
		`<a myexif:PixelXDimension="" exif:PixelXDimensions="4" exif:PixelXDimension="wide" tiff:ImageWidthIs="7"/>`: "",
		"": "",
	} {
		if want == "" {
			want = packet
		}
		if got := string(sizedXMP([]byte(packet), 15, 9)); got != want {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", packet, got, want)
		}
	}
	// What a JPEG has no room for stays as it was.
	full := append([]byte(`<a exif:PixelXDimension="4"/>`), bytes.Repeat([]byte(" "), jpegBody-len(xmpMark)-29)...)
	if got := sizedXMP(full, 15, 9); !bytes.Equal(got, full) || len(full) != jpegBody-len(xmpMark) {
		t.Errorf("%d bytes became %d", len(full), len(got))
	}
	if got := sizedXMP(full[:len(full)-1], 15, 9); len(got) != len(full) || !bytes.Contains(got, []byte(`"15"`)) {
		t.Errorf("%d bytes became %d", len(full)-1, len(got))
	}
	// It is so in files.
	m, info, err := Decode(t.Context(), bytes.NewReader(encoded(testimg.Photo(15, 9, 1), ".png")), nil)
	if err != nil {
		t.Fatal(err)
	}
	packet := []byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/" exif:PixelXDimension="4000"/>`)
	info.Metadata = &Metadata{XMP: packet}
	for _, f := range []Format{JPEG, PNG, TIFF} {
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, f, &EncodeOptions{Source: &info}); err != nil {
			t.Fatal(err)
		}
		if again, err := DecodeConfig(t.Context(), &file, nil); err != nil || again.Metadata == nil || !bytes.Contains(again.Metadata.XMP, []byte(`PixelXDimension="15"`)) {
			t.Errorf("%s: %+v, %v", f, again.Metadata, err)
		}
	}
	if !bytes.Contains(packet, []byte("4000")) {
		t.Error("the metadata of the caller have changed")
	}
}

// exiftool and ImageMagick see what we have written.
func TestMetadataAsOthers(t *testing.T) {
	exiftool := testkit.Tool(t, "exiftool")
	img, info, err := Decode(t.Context(), bytes.NewReader(described(testimg.ICC("RGB ", 70000))["jpeg"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{JPEG, PNG, TIFF} {
		path := filepath.Join(t.TempDir(), "x"+f.Extension())
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, img.(*image.NRGBA).SubImage(image.Rect(0, 0, 15, 9)), f, &EncodeOptions{Source: &info}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(exiftool, "-n", "-G1", "-s", "-a", "-warning", "-error", "-validate", "-Make", "-Orientation", "-ExifImageWidth", "-ExifImageHeight",
			"-XMP-dc:Subject", "-City", "-ProfileSize", "-ColorSpaceData", "-XResolution", "-PixelsPerUnitX", "-ImageSize", "-ThumbnailImage", path).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", f, err, out)
		}
		want := map[string]string{"[IFD0] Make": "Lathe Works", "[ExifIFD] ExifImageWidth": "15", "[ExifIFD] ExifImageHeight": "9", "[XMP-dc] Subject": "lake", "[IPTC] City": "Oslo",
			"[ICC-header] ColorSpaceData": "RGB", "[IFD0] Orientation": "1", "[XMP-tiff] Orientation": "1", "[Composite] ImageSize": "15 9"}
		switch f {
		case JPEG:
			want["[JFIF] XResolution"] = "300"
		case PNG:
			want["[PNG-pHYs] PixelsPerUnitX"] = "11811"
		case TIFF:
			want["[IFD0] XResolution"] = "300"
		}
		got := map[string]string{}
		for line := range strings.Lines(string(out)) {
			key, value, _ := strings.Cut(line, ":")
			got[strings.Join(strings.Fields(key), " ")] = strings.TrimSpace(value)
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %q, want %q\n%s", f, key, got[key], value, out)
			}
		}
		if strings.Contains(string(out), "Thumbnail") || got["[ExifTool] Error"] != "" {
			t.Errorf("%s:\n%s", f, out)
		}
	}
}
