package quantisation

import (
	"encoding/binary"

	"github.com/lathe-gpu/lathe/tensor"
)

// weightsOf returns the weights of blocks in float64.
func weightsOf(name string, blocks *tensor.Host) []float64 {
	f, err := formatOf(name)
	if err != nil {
		return nil
	}
	data := make([]byte, 0, blocks.Elems())
	for _, v := range blocks.Floats() {
		data = append(data, byte(v))
	}
	var out []float64
	decode := map[string]func([]byte) []float64{"q4_0": decodeQ40, "q8_0": decodeQ80, "q4_k": decodeQ4K, "q6_k": decodeQ6K}[f.name]
	for ; len(data) >= f.bytes; data = data[f.bytes:] {
		out = append(out, decode(data[:f.bytes])...)
	}
	return out
}

// half is the number that two bytes are.
func half(b []byte) float64 {
	h := tensor.NewHost(tensor.Contiguous(tensor.F16, 1))
	binary.LittleEndian.PutUint16(h.Data, binary.LittleEndian.Uint16(b))
	return h.At(0)
}

// bits returns count bits of b, from bit at of it on. Bit 0 is the lowest one of the first byte.
func bits(b []byte, at, count int) int {
	v := 0
	for i := range count {
		v |= int(b[(at+i)/8]>>((at+i)%8)&1) << i
	}
	return v
}

func decodeQ40(b []byte) []float64 {
	out, d := make([]float64, 32), half(b)
	for i := range out {
		out[i] = d * float64(bits(b[2:], 8*(i%16)+4*(i/16), 4)-8)
	}
	return out
}

func decodeQ80(b []byte) []float64 {
	out, d := make([]float64, 32), half(b)
	for i := range out {
		out[i] = d * float64(int8(b[2+i]))
	}
	return out
}

func decodeQ4K(b []byte) []float64 {
	out, d, m := make([]float64, 256), half(b), half(b[2:])
	packed := b[4:16]
	for s := range 8 { // a run of 32 weights
		scale, least := bits(packed, 8*s, 6), bits(packed, 8*s+32, 6)
		if s >= 4 {
			scale = bits(packed, 32+8*s, 4) | bits(packed, 8*(s-4)+6, 2)<<4
			least = bits(packed, 36+8*s, 4) | bits(packed, 8*s+6, 2)<<4
		}
		for i := range 32 {
			q := bits(b[16:], 8*(32*(s/2)+i)+4*(s%2), 4)
			// Both products are exact in float32.
			out[32*s+i] = d*float64(scale)*float64(q) - m*float64(least)
		}
	}
	return out
}

func decodeQ6K(b []byte) []float64 {
	out, d := make([]float64, 256), half(b[208:])
	for i := range out {
		part, quarter, l := i/128, i%128/32, i%32
		low := bits(b, 8*(64*part+32*(quarter%2)+l)+4*(quarter/2), 4)
		high := bits(b[128:], 8*(32*part+l)+2*quarter, 2)
		scale := int8(b[192+i/16])
		out[i] = d * float64(scale) * float64(low|high<<4-32)
	}
	return out
}
