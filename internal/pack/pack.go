// Package pack puts the SPIR-V modules of one shader file into one small file, and
// takes them out again. The modules of a file are variants of each other, so that they
// compress together to a twentieth of their size.
//
// A packed file begins with a line that has the number of bytes of the rest, unpacked. The
// rest is a DEFLATE stream. It has a line "name size" for each module, an empty line, the
// sizes of the sections, and the sections. The words of all modules are in the sections,
// as coder says. A packed text is such a line and stream too.
package pack

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Module is a SPIR-V module and its name.
type Module struct {
	Name string // without spaces or line ends
	Code []byte // whole words of four bytes
}

// maxBytes bounds the modules of one file in all, so that a damaged header is an
// error and no allocation.
const maxBytes = 64 << 20

// Encode packs modules. Its result may differ between releases of Go; what Decode
// gives of it does not.
// Errors: a module whose size is no multiple of four, or a name that cannot be written.
func Encode(list []Module) ([]byte, error) {
	var head []byte
	total := 0
	c := coder{number: map[uint32]int{}}
	for _, m := range list {
		if len(m.Code)%4 != 0 || m.Name == "" || strings.ContainsAny(m.Name, " \n") || len(m.Code) > maxBytes-total {
			return nil, fmt.Errorf("pack: encode: module %q of %d bytes (want a name without spaces, whole words, and at most %d bytes in all)", m.Name, len(m.Code), maxBytes)
		}
		total += len(m.Code)
		head = fmt.Appendf(head, "%s %d\n", m.Name, len(m.Code))
		words := make([]uint32, len(m.Code)/4)
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(m.Code[4*i:])
		}
		if err := c.module(words); err != nil {
			return nil, fmt.Errorf("pack: encode: module %q: %w", m.Name, err)
		}
	}
	head = append(head, '\n')
	for _, s := range c.section {
		head = binary.AppendUvarint(head, uint64(len(s)))
	}
	return deflate(append([][]byte{head}, c.section[:]...)...)
}

// EncodeText packs any bytes.
// Errors: more than 64 MiB.
func EncodeText(text []byte) ([]byte, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("pack: encode: a text of %d bytes (want at most %d)", len(text), maxBytes)
	}
	return deflate(text)
}

// DecodeText unpacks what EncodeText packed.
// Errors: data that is damaged.
func DecodeText(data []byte) ([]byte, error) {
	text, err := inflate(data)
	if err != nil {
		return nil, fmt.Errorf("pack: decode: %w", err)
	}
	return text, nil
}

// deflate packs sections after each other, each with a code of its own.
func deflate(list ...[]byte) ([]byte, error) {
	size := 0
	for _, s := range list {
		size += len(s)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d\n", size)
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("pack: encode: %w", err)
	}
	for _, s := range list {
		_, werr := w.Write(s)
		err = errors.Join(err, werr, w.Flush()) // it ends a block, and so the code
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("pack: encode: %w", err)
	}
	return out.Bytes(), nil
}

// inflate unpacks what deflate packed.
func inflate(data []byte) ([]byte, error) {
	line, stream, _ := bytes.Cut(data, []byte("\n"))
	n, err := strconv.Atoi(string(line))
	if err != nil || n < 0 || n > 2*maxBytes {
		return nil, fmt.Errorf("%q is no number of bytes", line)
	}
	in := bytes.NewReader(stream)
	r := flate.NewReader(in)
	plain := make([]byte, n)
	if _, err := io.ReadFull(r, plain); err != nil {
		return nil, err
	}
	if more, err := r.Read(make([]byte, 1)); more != 0 || err != io.EOF || in.Len() > 0 {
		return nil, fmt.Errorf("the stream does not end after %d bytes: %v", n, err)
	}
	return plain, nil
}

// Decode unpacks what Encode packed. The modules share one allocation.
// Errors: data that is damaged.
func Decode(data []byte) ([]Module, error) {
	plain, err := inflate(data)
	if err != nil {
		return nil, fmt.Errorf("pack: decode: %w", err)
	}
	head, plain, ok := bytes.Cut(plain, []byte("\n\n"))
	if !ok {
		return nil, errors.New("pack: decode: no header")
	}
	var list []Module
	var sizes []int
	total := 0
	for line := range strings.SplitSeq(string(head), "\n") {
		name, size, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n%4 != 0 || n > maxBytes-total || name == "" {
			return nil, fmt.Errorf("pack: decode: %q is no line of a header", line)
		}
		list, sizes = append(list, Module{Name: name}), append(sizes, n)
		total += n
	}
	c := coder{decode: true}
	var section [sections]uint64
	for i := range section {
		n, k := binary.Uvarint(plain)
		if k <= 0 {
			return nil, errors.New("pack: decode: no sizes of sections")
		}
		section[i], plain = n, plain[k:]
	}
	if total/4 > len(plain) { // a word takes a byte at least
		return nil, fmt.Errorf("pack: decode: %d bytes of sections for %d words", len(plain), total/4)
	}
	for i, n := range section {
		if n > uint64(len(plain)) {
			return nil, errors.New("pack: decode: a section is cut off")
		}
		c.section[i], plain = plain[:n], plain[n:]
	}
	words, code := make([]uint32, slices.Max(sizes)/4), make([]byte, total)
	for i, n := range sizes {
		if err := c.module(words[:n/4]); err != nil {
			return nil, fmt.Errorf("pack: decode: module %q: %w", list[i].Name, err)
		}
		for k, w := range words[:n/4] {
			binary.LittleEndian.PutUint32(code[4*k:], w)
		}
		list[i].Code, code = code[:n:n], code[n:]
	}
	for i, s := range c.section {
		if n := len(s) - c.at[i]; n > 0 {
			return nil, fmt.Errorf("pack: decode: %d bytes are left", n)
		}
	}
	if len(plain) > 0 {
		return nil, fmt.Errorf("pack: decode: %d bytes are left", len(plain))
	}
	return list, nil
}
