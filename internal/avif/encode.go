package avif

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// MaxSide is the most pixels of a side.
const MaxSide = 65535

// Picture is what Encode writes.
type Picture struct {
	Width, Height int
	// Row writes row y as R, G, B and A of 8 bits, not multiplied by alpha. It is called once for each row.
	Row            func(dst []byte, y int)
	Alpha          bool // not all pixels are opaque
	Quality        int  // of the colours, 1 to 100; alpha loses nothing
	Sampling       string
	Orientation    int // how to turn it upright, as in EXIF
	ICC, EXIF, XMP []byte
}

// ErrTooLarge: a picture that takes more memory than the codec can have.
var ErrTooLarge = errors.New("a picture that takes more memory than the codec of AVIF can have")

// Encode writes a picture.
// Errors: ErrUnsupported if the program has no codec, ErrTooLarge, that of w, ctx.Err().
func Encode(ctx context.Context, w io.Writer, p *Picture) error {
	codec, err := codec()
	if err != nil {
		return err
	}
	if EncodeMemory(int64(p.Width), int64(p.Height)) > maxWasm {
		return ErrTooLarge
	}
	pix := make([]byte, 4*p.Width*p.Height)
	for y := range p.Height {
		p.Row(pix[4*p.Width*y:4*p.Width*(y+1)], y)
	}
	var alpha []byte
	for i := 3; i < len(pix); i += 4 {
		if p.Alpha {
			alpha = append(alpha, pix[i])
		}
		pix[i] = 255
	}
	one, err := encodeOne(ctx, codec, pix, p, p.Quality, p.Sampling)
	if err != nil {
		return err
	}
	parts := []part{{kind: "av01", data: one.data, props: append(one.props, prop{whole: sRGB(p.ICC != nil)})}}
	if p.ICC != nil {
		parts[0].props = append(parts[0].props, prop{whole: box("colr", []byte("prof"), p.ICC)})
	}
	turn := turned(p.Orientation)
	parts[0].props = append(parts[0].props, turn...)
	if p.Alpha {
		clear(pix) // colours multiplied by alpha: black has the fewest bits. The codec is done with the colours.
		for i, a := range alpha {
			pix[4*i+3] = a
		}
		if one, err = encodeOne(ctx, codec, pix, p, 100, "4:2:0"); err != nil {
			return err
		}
		auxiliary := box("auxC", put32(0), []byte(alphaName), []byte{0})
		parts = append(parts, part{kind: "av01", data: one.data, props: append(one.props, append(turn, prop{whole: auxiliary, essential: true})...), to: "auxl"})
	}
	if p.EXIF != nil {
		parts = append(parts, part{kind: "Exif", data: append(make([]byte, 4), p.EXIF...), to: "cdsc"})
	}
	if p.XMP != nil {
		parts = append(parts, part{kind: "mime", mime: xmpType, data: p.XMP, to: "cdsc"})
	}
	_, err = w.Write(file(parts))
	return err
}

// EncodeMemory is about how many bytes Encode takes.
func EncodeMemory(w, h int64) int64 { return 40*(w+320)*(h+320) + 64<<20 }

// sRGB is the property that says that colours are those of sRGB, or of a profile, made of luma as in
// BT.601 with samples from 0 to 255.
func sRGB(profile bool) []byte {
	primaries, transfer := 1, 13
	if profile {
		primaries, transfer = 2, 2
	}
	return box("colr", []byte("nclx"), put16(primaries, transfer, 6), []byte{0x80})
}

// turned are the properties that turn a picture upright.
func turned(orientation int) (props []prop) {
	for mirror, row := range orientations {
		for turns, o := range row {
			if o != orientation || o == 1 || props != nil {
				continue
			}
			if turns > 0 {
				props = append(props, prop{box("irot", []byte{byte(turns)}), true})
			}
			if mirror > 0 {
				props = append(props, prop{box("imir", []byte{byte(mirror - 1)}), true})
			}
		}
	}
	return props
}

// encodeOne codes the colours, or the alpha if colours are black, and takes them out of the codec's file.
func encodeOne(ctx context.Context, c Codec, pix []byte, p *Picture, quality int, sampling string) (*part, error) {
	made, err := c.Encode(ctx, pix, p.Width, p.Height, quality, sampling)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(made)
	boxes, err := topBoxes(r, r.Size())
	if err != nil {
		return nil, err
	}
	list, err := readCatalogue(r, boxes["meta"], r.Size())
	if err != nil {
		return nil, err
	}
	it := list.items[list.primary]
	if it == nil {
		return nil, fmt.Errorf("%w: AVIF: its codec made no picture", errs.ErrUnsupported)
	}
	own := &part{kind: "av01"}
	if alpha := list.describing("auxl", it.id); len(alpha) > 0 {
		it = alpha[0]
	}
	for _, q := range it.props {
		if q.kind == "ispe" || q.kind == "pixi" || q.kind == "av1C" {
			own.props = append(own.props, prop{q.whole, q.kind == "av1C"})
		}
	}
	own.data, err = list.data(r, it)
	return own, err
}

// part is an item to be written. The first one is the picture.
type part struct {
	kind, mime string
	data       []byte
	props      []prop
	tiles      []int  // the numbers of its tiles, from 1
	to         string // what it is to the first one
}

// prop is a property to be written, as a box.
type prop struct {
	whole     []byte
	essential bool
}

// file makes a file of the parts.
func file(parts []part) []byte {
	head := box("ftyp", []byte("avif"), put32(0), []byte("avifmif1miaf"))
	b := append(head, meta(parts, int64(len(head)+len(meta(parts, 0))+8))...)
	data := [][]byte{}
	for _, p := range parts {
		data = append(data, p.data)
	}
	return append(b, box("mdat", data...)...)
}

// meta makes the box meta, for data that begin at an offset.
func meta(parts []part, at int64) []byte {
	places, infos, props, which := put16(0x4400, len(parts)), put16(len(parts)), []byte{}, put32(int64(len(parts)))
	var refs []byte
	number := 0
	for i, p := range parts {
		id := i + 1
		places = append(append(places, put16(id, 0, 1)...), put32(at, int64(len(p.data)))...)
		at += int64(len(p.data))
		info := append(put16(id, 0), p.kind...)
		if info = append(info, 0); p.mime != "" {
			info = append(append(info, p.mime...), 0)
		}
		infos = append(infos, box("infe", put32(2<<24), info)...)
		which = append(append(which, put16(id)...), byte(len(p.props)))
		for _, q := range p.props {
			number++
			props = append(props, q.whole...)
			n := number
			if q.essential {
				n |= 0x8000
			}
			which = append(which, put16(n)...)
		}
		if p.to != "" {
			refs = append(refs, box(p.to, put16(id, 1, 1))...)
		}
		if len(p.tiles) > 0 {
			refs = append(refs, box("dimg", put16(id, len(p.tiles)), put16(p.tiles...))...)
		}
	}
	boxes := [][]byte{
		put32(0),
		box("hdlr", put32(0, 0), []byte("pict"), make([]byte, 13)),
		box("pitm", put32(0), put16(1)),
		box("iloc", put32(0), places),
		box("iinf", put32(0), infos),
	}
	if refs != nil {
		boxes = append(boxes, box("iref", put32(0), refs))
	}
	boxes = append(boxes, box("iprp", box("ipco", props), box("ipma", put32(1), which)))
	return box("meta", boxes...)
}
