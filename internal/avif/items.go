package avif

import (
	"fmt"
	"io"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// property is what a file says of an item.
type property struct {
	kind      string
	body      []byte
	whole     []byte // the box
	essential bool   // who does not know it cannot show the item
}

// item is a part of a file: a picture, a tile of one, or metadata.
type item struct {
	id      int64
	kind    string
	mime    string
	where   []span
	inMeta  bool // where is in the box idat
	foreign bool // it is somewhere that is not read
	outside bool // a part of it would be outside of the file
	props   []property
}

// prop returns the body of the first property of a kind, or nil.
func (it *item) prop(kind string) []byte {
	for _, p := range it.props {
		if p.kind == kind {
			return p.body
		}
	}
	return nil
}

// reference says what an item is to others.
type reference struct {
	kind string
	from int64
	to   []int64
}

// catalogue is the box meta.
type catalogue struct {
	primary int64
	items   map[int64]*item
	refs    []reference
	idat    []byte
	size    int64 // bytes of the file
}

// maxItems is the most items of a file. A picture has some tiles, and each tile is an item. maxParts bounds
// what the file says of items: their parts, their properties, and what they refer to. So the memory for that stays
// small, whatever the file is.
const (
	maxItems = 4096
	maxParts = 4 * maxItems
)

// maxMeta is the most bytes of the box meta.
const maxMeta = 16 << 20

func readCatalogue(r io.ReaderAt, at span, size int64) (*catalogue, error) {
	if at.size > maxMeta {
		return nil, fmt.Errorf("its box meta has %d bytes", at.size)
	}
	b, err := at.read(r)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, errShort
	}
	c := &catalogue{primary: -1, items: map[int64]*item{}, size: size}
	boxes := map[string][]byte{}
	err = eachBox(b[4:], func(kind string, body, _ []byte) error {
		if _, ok := boxes[kind]; !ok {
			boxes[kind] = body
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.idat = boxes["idat"]
	for _, step := range []struct {
		kind string
		read func(*cursor) error
	}{{"iinf", c.readInfos}, {"pitm", c.readPrimary}, {"iloc", c.readPlaces}, {"iref", c.readReferences}, {"iprp", c.readProperties}} {
		body, ok := boxes[step.kind]
		if !ok {
			continue
		}
		in := &cursor{b: body}
		if err := step.read(in); err != nil {
			return nil, fmt.Errorf("the box %s: %w", step.kind, err)
		}
		if in.short {
			return nil, fmt.Errorf("the box %s: %w", step.kind, errShort)
		}
	}
	return c, nil
}

func (c *catalogue) readPrimary(in *cursor) error {
	v, _ := in.version()
	c.primary = int64(in.number(2 + 2*min(v, 1)))
	return nil
}

func (c *catalogue) readInfos(in *cursor) error {
	v, _ := in.version()
	in.number(2 + 2*min(v, 1)) // how many; the boxes say it too
	return eachBox(in.b, func(kind string, body, _ []byte) error {
		e := &cursor{b: body}
		v, _ := e.version()
		if kind != "infe" || v < 2 || v > 3 {
			return nil
		}
		it := &item{id: int64(e.number(2 * (v - 1)))}
		e.u16() // protection
		it.kind = string(e.next(4))
		e.text() // a name
		if it.kind == "mime" {
			it.mime = e.text()
		}
		if len(c.items) == maxItems {
			return fmt.Errorf("more than %d items", maxItems)
		}
		if c.items[it.id] != nil {
			return fmt.Errorf("two items have the number %d", it.id)
		}
		c.items[it.id] = it
		return nil
	})
}

func (c *catalogue) readPlaces(in *cursor) error {
	v, _ := in.version()
	sizes := in.u16()
	offset, length, base, index := sizes>>12, sizes>>8&15, sizes>>4&15, sizes&15
	if v == 0 {
		index = 0
	}
	if max(offset, length, base, index) > 8 {
		return fmt.Errorf("numbers of more than 8 bytes (%04x)", sizes)
	}
	id := 2
	if v == 2 {
		id = 4
	}
	var all int64
	count := 0
	for n := in.number(id); n > 0 && !in.short; n-- {
		it := c.items[int64(in.number(id))]
		method := 0
		if v > 0 {
			method = in.u16() & 15
		}
		elsewhere := in.u16() != 0 // in another file
		from := in.number(base)
		parts := in.u16()
		if parts > 1 && offset+length == 0 {
			return fmt.Errorf("an item has %d parts at the same place", parts)
		}
		for ; parts > 0 && !in.short; parts-- {
			in.number(index)
			at, n := from+in.number(offset), in.number(length)
			if it == nil {
				continue
			}
			it.inMeta = method == 1
			it.foreign = method > 1 || elsewhere
			whole := uint64(c.size)
			if it.inMeta {
				whole = uint64(len(c.idat))
			}
			if n == 0 && at <= whole {
				n = whole - at
			}
			if at > whole || n > whole-at {
				it.outside = true
				continue
			}
			if count++; count > maxParts {
				return fmt.Errorf("its items have more than %d parts", maxParts)
			}
			if all += int64(n); all > 8*c.size+1<<20 { // tiles that are equal may share their bytes
				return fmt.Errorf("its items have more bytes than the file")
			}
			it.where = append(it.where, span{int64(at), int64(n)})
		}
	}
	return nil
}

func (c *catalogue) readReferences(in *cursor) error {
	v, _ := in.version()
	wide, count := 2+2*min(v, 1), 0
	return eachBox(in.b, func(kind string, body, _ []byte) error {
		e := &cursor{b: body}
		ref := reference{kind: kind, from: int64(e.number(wide))}
		for n := e.u16(); n > 0 && !e.short; n-- {
			if count++; count > maxParts {
				return fmt.Errorf("more than %d references", maxParts)
			}
			ref.to = append(ref.to, int64(e.number(wide)))
		}
		if e.short {
			return errShort
		}
		if len(c.refs) == maxParts {
			return fmt.Errorf("more than %d references", maxParts)
		}
		c.refs = append(c.refs, ref)
		return nil
	})
}

func (c *catalogue) readProperties(in *cursor) error {
	var props []property
	return eachBox(in.b, func(kind string, body, _ []byte) error {
		switch kind {
		case "ipco":
			if props != nil {
				return nil
			}
			return eachBox(body, func(kind string, body, whole []byte) error {
				if len(props) == maxParts {
					return fmt.Errorf("more than %d properties", maxParts)
				}
				props = append(props, property{kind: kind, body: body, whole: whole})
				return nil
			})
		case "ipma":
			return c.associate(&cursor{b: body}, props)
		}
		return nil
	})
}

// associate reads which item has which properties.
func (c *catalogue) associate(in *cursor, props []property) error {
	v, flags := in.version()
	for n := in.u32(); n > 0 && !in.short; n-- {
		it := c.items[int64(in.number(2+2*min(v, 1)))]
		for k := in.u8(); k > 0 && !in.short; k-- {
			at := in.number(1 + flags&1)
			top := uint64(0x80) << (8 * (flags & 1))
			index := at &^ top
			if it == nil || index == 0 || in.short {
				continue
			}
			if index > uint64(len(props)) {
				return fmt.Errorf("an item has the property %d of %d", index, len(props))
			}
			p := props[index-1]
			p.essential = at&top != 0
			if len(it.props) < 64 {
				it.props = append(it.props, p)
			}
		}
	}
	if in.short {
		return errShort
	}
	return nil
}

// data reads an item.
func (c *catalogue) data(r io.ReaderAt, it *item) ([]byte, error) {
	if it.outside {
		return nil, io.ErrUnexpectedEOF
	}
	if it.foreign || len(it.where) == 0 {
		return nil, fmt.Errorf("%w: AVIF with an item that is not in the file itself", errs.ErrUnsupported)
	}
	var all []byte
	for _, s := range it.where {
		if it.inMeta {
			all = append(all, c.idat[s.at:s.at+s.size]...)
			continue
		}
		b, err := s.read(r)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = b
		} else {
			all = append(all, b...)
		}
	}
	return all, nil
}

// length is how many bytes an item has.
func (it *item) length() (n int64) {
	for _, s := range it.where {
		n += s.size
	}
	return n
}

// parts are the tiles of a grid.
func (c *catalogue) parts(it *item) (tiles []*item) {
	for _, ref := range c.refs {
		if ref.kind == "dimg" && ref.from == it.id {
			for _, id := range ref.to {
				tiles = append(tiles, c.items[id])
			}
			return tiles
		}
	}
	return nil
}

// describing returns the items that are something to another one, in the order of their references.
func (c *catalogue) describing(kind string, to int64) (items []*item) {
	for _, ref := range c.refs {
		if it := c.items[ref.from]; ref.kind == kind && slices.Contains(ref.to, to) && it != nil {
			items = append(items, it)
		}
	}
	return items
}
