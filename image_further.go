package lathe

import (
	"context"
	"image"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// separate copies further pictures that share memory with the result, which would otherwise
// overwrite what a later strip or call needs of them.
// Errors: ErrInvalidArgument for a picture that cannot be read.
func (j *imageJob) separate() error {
	return j.separateFrom(func(m image.Image) bool { return shifted(m, j.dst, true) })
}

// separateFrom copies the further pictures for which shared returns true.
func (j *imageJob) separateFrom(shared func(m image.Image) bool) error {
	for _, list := range j.further {
		for k, m := range list {
			if _, table := m.(spec.Numbers); table || !shared(m) {
				continue
			}
			size := m.Bounds().Size()
			if j.dtype == tensor.U8 {
				rows, err := pictureRows(m, spec.RowRange{To: size.Y}, true)
				if err != nil {
					return err
				}
				list[k] = &image.NRGBA{Pix: rows, Stride: 4 * size.X, Rect: image.Rectangle{Max: size}}
				continue
			}
			own := image.NewNRGBA64(image.Rectangle{Max: size})
			if err := readable(func() {
				rows := pixels.Rows16(m)
				pixels.EachRow(own.Stride, size.Y, func(y int) { rows(own.Pix[y*own.Stride:(y+1)*own.Stride], y) })
			}); err != nil {
				return err
			}
			list[k] = own
		}
	}
	return nil
}

// pictureRows returns rows of a picture as they are sent. They may be those of the picture itself,
// unless own is set.
// Errors: ErrInvalidArgument for a picture that cannot be read.
func pictureRows(m image.Image, r spec.RowRange, own bool) (data []byte, err error) {
	row := 4 * m.Bounds().Dx()
	if p, ok := m.(*image.NRGBA); ok && p.Stride == row && !own {
		at := p.PixOffset(p.Rect.Min.X, p.Rect.Min.Y)
		return p.Pix[at+r.From*row : at+r.To*row], nil
	}
	err = readable(func() {
		data = make([]byte, row*(r.To-r.From))
		rows := pixels.Rows(m)
		pixels.EachRow(row, r.To-r.From, func(y int) { rows(data[y*row:(y+1)*row], r.From+y) })
	})
	return data, err
}

// floatRows is pictureRows as floats.
func floatRows(m image.Image, r spec.RowRange) (data []byte, err error) {
	w := m.Bounds().Dx()
	err = readable(func() {
		wide := make([]byte, 8*w*(r.To-r.From))
		data = make([]byte, 2*len(wide))
		rows := pixels.Rows16(m)
		pixels.EachRow(16*w, r.To-r.From, func(y int) {
			line := wide[8*w*y : 8*w*(y+1)]
			rows(line, r.From+y)
			toFloats(data[16*w*y:16*w*(y+1)], line)
		})
	})
	return data, err
}

// furtherDesc describes what a strip has of further picture k of call i on the device.
func (c *imageChain) furtherDesc(s imageStrip, i, k int) tensor.Desc {
	r, d := s.further[i][k], spec.PictureDesc(c.further[i][k], c.dtype)
	d.Shape = append([]int{r.To - r.From}, d.Shape[1:]...)
	return d
}

// operands sends what call i of a strip needs of its further pictures. They are in borrowed memory
// until release is called, which may be while the call is still pending.
func (j *imageJob) operands(ctx context.Context, s imageStrip, i int) (list []exec.Operand, release func(), err error) {
	var all []func()
	release = func() {
		for _, f := range all {
			f()
		}
	}
	for k, m := range j.further[i] {
		o := exec.Operand{Desc: j.furtherDesc(s, i, k)}
		rows, err := j.furtherRows(m, s.further[i][k])
		var bufs []gpu.Handle
		if err == nil {
			var done func()
			if bufs, done, err = j.dev.session.Borrow(1, o.Desc.Bytes()); err == nil {
				all, o.Buffer = append(all, done), bufs[0]
				err = j.dev.GPU().Write(ctx, o.Buffer, 0, rows)
			}
		}
		if err != nil {
			release()
			return nil, nil, err
		}
		list = append(list, o)
	}
	return list, release, nil
}

// furtherRows returns rows of a further picture in the type of the chain, or of numbers.
func (j *imageJob) furtherRows(m image.Image, r spec.RowRange) ([]byte, error) {
	if n, ok := m.(spec.Numbers); ok {
		h := n.Tensor()
		row := int(h.Bytes()) / max(h.Shape[0], 1)
		return h.Data[r.From*row : r.To*row], nil
	}
	if j.dtype == tensor.F32 {
		return floatRows(m, r)
	}
	return pictureRows(m, r, false)
}
