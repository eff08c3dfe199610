// Package pack puts the SPIR-V modules of one shader file into one small file, and
// takes them out again. The modules of a file are variants of each other, so that they
// compress together to a fifth of their size.
//
// A packed file begins with a line "name size" for each module, and an empty line. Then
// comes a DEFLATE stream of all modules, one after the other, with the bytes in another
// order: first the lowest byte of each word, then the second of each, and so on. The
// low bytes of SPIR-V are its ids and change from word to word; the high ones hardly do.
// This order saves a quarter.
package pack

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
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
	var out bytes.Buffer
	var code []byte
	for _, m := range list {
		if len(m.Code)%4 != 0 || m.Name == "" || strings.ContainsAny(m.Name, " \n") {
			return nil, fmt.Errorf("pack: encode: module %q of %d bytes (want a name without spaces, and whole words)", m.Name, len(m.Code))
		}
		fmt.Fprintf(&out, "%s %d\n", m.Name, len(m.Code))
		code = append(code, m.Code...)
	}
	if len(code) > maxBytes {
		return nil, fmt.Errorf("pack: encode: %d bytes (want at most %d)", len(code), maxBytes)
	}
	out.WriteByte('\n')
	planes := make([]byte, len(code))
	words := len(code) / 4
	for i := range words {
		for k := range 4 {
			planes[k*words+i] = code[4*i+k]
		}
	}
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("pack: encode: %w", err)
	}
	if _, err = w.Write(planes); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack: encode: %w", err)
	}
	return out.Bytes(), nil
}

// Decode unpacks what Encode packed. The modules share one allocation.
// Errors: data that is damaged.
func Decode(data []byte) ([]Module, error) {
	head, stream, ok := bytes.Cut(data, []byte("\n\n"))
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
	r := flate.NewReader(bytes.NewReader(stream))
	planes := make([]byte, total)
	if _, err := io.ReadFull(r, planes); err != nil {
		return nil, fmt.Errorf("pack: decode: %w", err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("pack: decode: the stream does not end after %d bytes: %v", total, err)
	}
	words := total / 4
	code := make([]byte, total)
	a, b, c, d := planes[:words], planes[words:2*words], planes[2*words:3*words], planes[3*words:]
	for i := range words {
		w := code[4*i : 4*i+4]
		w[0], w[1], w[2], w[3] = a[i], b[i], c[i], d[i]
	}
	for i, n := range sizes {
		list[i].Code, code = code[:n:n], code[n:]
	}
	return list, nil
}
