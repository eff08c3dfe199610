package avif

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// fake is a codec that keeps pixels as they are: 8 bits, in a file that has nothing else than AV1 has.
type fake struct{}

func (fake) Encode(_ context.Context, pix []byte, w, h, _ int, _ string) ([]byte, error) {
	size := prop{whole: box("ispe", put32(0, int64(w), int64(h)))}
	config := prop{whole: box("av1C", []byte{0x81, 0, 0, 0}), essential: true}
	parts := []part{{kind: "av01", data: append([]byte{0x12, 0}, pix...), props: []prop{size, config}}}
	if len(pix) > 3 && pix[0] == 0 && pix[1] == 0 && pix[3] != 255 {
		parts = append(parts, part{kind: "av01", data: append([]byte{0x12, 0}, pix...), props: []prop{size, config}, to: "auxl"})
	}
	return file(parts), nil
}

func (fake) Decode(_ context.Context, file []byte, w, h, _ int, _ int64) ([]byte, error) {
	r := bytes.NewReader(file)
	boxes, err := topBoxes(r, r.Size())
	if err != nil {
		return nil, err
	}
	c, err := readCatalogue(r, boxes["meta"], r.Size())
	if err != nil {
		return nil, err
	}
	data, err := c.data(r, c.items[c.primary])
	if err != nil {
		return nil, err
	}
	if len(data) != 2+4*w*h {
		return nil, io.ErrUnexpectedEOF
	}
	pix := data[2:]
	if pix[3] != 255 { // the alpha, which a codec returns as greys
		pix = bytes.Clone(pix)
		for i := 0; i < len(pix); i += 4 {
			pix[i] = pix[i+3]
		}
	}
	return pix, nil
}

// with gives the test a codec.
func with(t *testing.T) {
	registered.codec = fake{}
	t.Cleanup(func() { registered.codec = nil })
}

func TestAvailable(t *testing.T) {
	if err := Available(); !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), `import _ "github.com/lathe-gpu/lathe/imageio/avif"`) {
		t.Errorf("without a codec: %v", err)
	}
	if err := Encode(t.Context(), io.Discard, &Picture{Width: 1, Height: 1}); !errors.Is(err, errs.ErrUnsupported) {
		t.Errorf("encode without a codec: %v", err)
	}
	Lack("of a reason")
	if err := Available(); !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), "of a reason") {
		t.Errorf("with a reason: %v", err)
	}
	registered.lack = nil
	with(t)
	if err := Available(); err != nil {
		t.Error(err)
	}
}

func TestIsAVIF(t *testing.T) {
	for head, want := range map[string]bool{
		"\x00\x00\x00\x20ftypavif\x00\x00\x00\x00": true, "\x00\x00\x00\x20ftypavis\x00\x00\x00\x00": true,
		"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00miafavif": true, "\x00\x00\x00\x14ftypmif1\x00\x00\x00\x00miafavif": false,
		"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic": false, "\x00\x00\x00\x14ftypmif1avifmif1": false, "": false, "ftypavif": false,
	} {
		if got := IsAVIF([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// sample is a small picture whose pixels all differ, with all that a file can have.
func sample(orientation int) *Picture {
	return &Picture{Width: 5, Height: 3, Alpha: true, Orientation: orientation, ICC: []byte("profile"), EXIF: []byte("MM..exif"), XMP: []byte("<x/>"),
		Row: func(dst []byte, y int) {
			for x := range 5 {
				copy(dst[4*x:], []byte{byte(10*y + x), byte(x), byte(y), byte(200 - 10*y - x)})
			}
		}}
}

func written(t *testing.T, p *Picture) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(t.Context(), &b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is written is read again: pixels with the colours of transparent ones, metadata, orientation.
func TestContainer(t *testing.T) {
	with(t)
	for o := 1; o <= 8; o++ {
		p := sample(o)
		data := written(t, p)
		r := bytes.NewReader(data)
		h, err := ReadHeader(r, r.Size())
		if err != nil {
			t.Fatal(err)
		}
		if h.Width != 5 || h.Height != 3 || h.Orientation != o || h.Depth != 8 || h.Frames != 1 || len(h.Lost) > 0 ||
			string(h.ICC) != "profile" || string(h.EXIF) != "MM..exif" || string(h.XMP) != "<x/>" || h.alpha == nil || h.premultiplied {
			t.Errorf("orientation %d: %+v", o, h)
		}
		rows, err := h.Decode(t.Context(), r, false)
		if err != nil {
			t.Fatal(err)
		}
		for y := range 3 {
			got, want := make([]byte, 20), make([]byte, 20)
			rows(got, y)
			p.Row(want, y)
			if !bytes.Equal(got, want) {
				t.Errorf("orientation %d, row %d: %v, want %v", o, y, got, want)
			}
		}
		deep, err := h.Decode(t.Context(), r, true)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]byte, 40)
		if deep(row, 2); binary.BigEndian.Uint16(row[8:]) != 21*257 || binary.BigEndian.Uint16(row[14:]) != 179*257 {
			t.Errorf("16 bits: %v", row)
		}
	}
}

func TestAperture(t *testing.T) {
	clap := func(v ...int64) []byte { return put32(v...) }
	for _, c := range []struct {
		b  []byte
		r  image.Rectangle
		ok bool
	}{
		{clap(4, 1, 2, 1, 0, 1, 0, 1), image.Rect(3, 2, 7, 4), true},
		{clap(4, 1, 2, 1, -3, 1, -2, 1), image.Rect(0, 0, 4, 2), true},
		{clap(5, 1, 2, 1, 1, 2, 0, 1), image.Rect(3, 2, 8, 4), true},
		{clap(5, 1, 2, 1, 0, 1, 0, 1), image.Rectangle{}, false},  // between pixels
		{clap(4, 1, 2, 1, -4, 1, 0, 1), image.Rectangle{}, false}, // outside
		{clap(4, 0, 2, 1, 0, 1, 0, 1), image.Rectangle{}, false},
		{clap(0, 1, 2, 1, 0, 1, 0, 1), image.Rectangle{}, false},
		{clap(4, 1, 2), image.Rectangle{}, false},
	} {
		if r, ok := aperture(c.b, image.Pt(10, 6)); ok != c.ok || ok && r != c.r {
			t.Errorf("%v: %v, %v, want %v, %v", c.b, r, ok, c.r, c.ok)
		}
	}
}

// Colours that have no profile and are not those of sRGB are named.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		primaries, transfer uint16
		want                string
	}{{1, 13, ""}, {2, 2, ""}, {1, 1, ""}, {6, 6, ""}, {9, 16, "HDR (PQ)"}, {9, 18, "HDR (HLG)"}, {9, 1, "BT.2020"}, {12, 13, "P3"}, {1, 8, "linear light"}} {
		if got := foreignColours(c.primaries, c.transfer); got != c.want {
			t.Errorf("%d, %d: %q, want %q", c.primaries, c.transfer, got, c.want)
		}
	}
	with(t)
	p := sample(1)
	p.ICC = nil
	data := written(t, p)
	at := bytes.Index(data, []byte("nclx"))
	data[at+5] = 12
	h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(h.Lost) != 1 || !strings.Contains(h.Lost[0].Error(), "P3") {
		t.Errorf("%+v, %v", h, err)
	}
}

// Thousands of pictures that are not shown are refused, and so are data that end too early.
func TestStill(t *testing.T) {
	one := []byte{0x32, 1, 0} // a picture of one byte
	if err := still(bytes.Repeat(one, 16)); err != nil {
		t.Error(err)
	}
	if err := still(bytes.Repeat(one, 17)); !errors.Is(err, errs.ErrUnsupported) {
		t.Errorf("17 pictures: %v", err)
	}
	for _, bad := range [][]byte{{0x32}, {0x32, 5, 0}, {0x32, 0x80}} {
		if err := still(bad); err == nil {
			t.Errorf("%v is no error", bad)
		}
	}
	if err := still([]byte{0x30, 1, 2, 3}); err != nil { // without a size, to the end
		t.Error(err)
	}
}

// Damaged containers are errors, or pictures within the limits.
func TestDamage(t *testing.T) {
	with(t)
	whole := written(t, sample(6))
	r := rand.New(rand.NewPCG(1, 2))
	try := func(data []byte) {
		h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if h.Width <= 0 || h.Height <= 0 || h.Width > 1<<30 || h.Orientation < 1 || h.Orientation > 8 || h.Frames < 1 {
			if h.whole.X > 0 && h.whole.Y > 0 {
				t.Fatalf("%+v", h)
			}
			return
		}
		if h.Memory() < 0 {
			t.Fatalf("%+v takes %d bytes", h, h.Memory())
		}
		if h.Width*h.Height < 1<<16 {
			h.Decode(t.Context(), bytes.NewReader(data), false)
		}
	}
	for n := range whole {
		try(whole[:n])
	}
	for range 20000 {
		data := bytes.Clone(whole)
		for range 1 + r.IntN(5) {
			data[r.IntN(len(data))] = []byte{0, 1, 2, 4, 255, 254, 128, byte(r.Uint32())}[r.IntN(8)]
		}
		try(data)
	}
}

// What a file says of items is bounded, so that a file of some megabytes does not take many times that.
func TestManyParts(t *testing.T) {
	box := func(kind string, body []byte) []byte {
		return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), kind...), body...)
	}
	parts := binary.BigEndian.AppendUint16([]byte{0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0}, math.MaxUint16)
	references := binary.BigEndian.AppendUint16([]byte{0, 1}, math.MaxUint16)
	for name, c := range map[string]struct {
		read func(*catalogue, *cursor) error
		body []byte
	}{
		"parts":      {(*catalogue).readPlaces, append(parts, make([]byte, 8*math.MaxUint16)...)},
		"properties": {(*catalogue).readProperties, box("ipco", bytes.Repeat(box("free", nil), maxParts+1))},
		"references": {(*catalogue).readReferences, append(make([]byte, 4), box("dimg", append(references, make([]byte, 2*math.MaxUint16)...))...)},
		"few each":   {(*catalogue).readReferences, append(make([]byte, 4), bytes.Repeat(box("dimg", []byte{0, 1, 0, 0}), maxParts+1)...)},
	} {
		err := c.read(&catalogue{items: map[int64]*item{1: {id: 1}}}, &cursor{b: c.body})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("more than %d", maxParts)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A part that is outside of the file takes no memory, and makes the item unreadable.
	it := &item{id: 1}
	far := slices.Concat(parts, bytes.Repeat([]byte{0, 0, 1, 0, 0, 0, 0, 1}, math.MaxUint16))
	c := &catalogue{items: map[int64]*item{1: it}, size: 100}
	if err := c.readPlaces(&cursor{b: far}); err != nil || len(it.where) > 0 {
		t.Errorf("%d parts outside of the file: %v", len(it.where), err)
	}
	if _, err := c.data(bytes.NewReader(nil), it); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an item outside of the file: %v", err)
	}
}
