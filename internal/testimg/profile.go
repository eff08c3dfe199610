package testimg

import (
	"encoding/binary"
	"math"
)

// These are primary colours in XYZ for the white D50, row by row, for RGBProfile.
var (
	SRGB      = [9]float64{0.43607, 0.38515, 0.14307, 0.22249, 0.71687, 0.06061, 0.01392, 0.09708, 0.71410}
	DisplayP3 = [9]float64{0.51512, 0.29198, 0.15710, 0.24120, 0.69225, 0.06657, -0.00105, 0.04189, 0.78407}
	AdobeRGB  = [9]float64{0.60974, 0.20528, 0.14919, 0.31111, 0.62567, 0.06322, 0.01947, 0.06087, 0.74457}
	ProPhoto  = [9]float64{0.79767, 0.13519, 0.03135, 0.28804, 0.71188, 0.00009, 0, 0, 0.82491}
)

// Gamma returns the curve v^g for RGBProfile and GreyProfile.
func Gamma(g float64) []byte {
	return binary.BigEndian.AppendUint16([]byte("curv\x00\x00\x00\x00\x00\x00\x00\x01"), uint16(g*256+0.5))
}

// GammaTable returns the curve v^g as a table of n numbers.
func GammaTable(g float64, n int) []byte {
	b := binary.BigEndian.AppendUint32([]byte("curv\x00\x00\x00\x00"), uint32(n))
	for i := range n {
		b = binary.BigEndian.AppendUint16(b, uint16(math.Pow(float64(i)/float64(n-1), g)*65535+0.5))
	}
	return b
}

// Parametric returns a parametric curve of a kind, 0 to 4.
func Parametric(kind byte, numbers ...float64) []byte {
	b := []byte("para\x00\x00\x00\x00\x00" + string(kind) + "\x00\x00")
	for _, v := range numbers {
		b = appendFixed(b, v)
	}
	return b
}

// SRGBCurve returns the curve of sRGB.
func SRGBCurve() []byte { return Parametric(3, 2.4, 1/1.055, 0.055/1.055, 1/12.92, 0.04045) }

func appendFixed(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
}

// RGBProfile returns an ICC profile of primary colours and a curve, of version 2 or 4.
func RGBProfile(version byte, primaries [9]float64, curve []byte) []byte {
	tags := []string{"wtpt", xyz(0.9642, 1, 0.82491)}
	for c, name := range []string{"r", "g", "b"} {
		tags = append(tags, name+"XYZ", xyz(primaries[c], primaries[3+c], primaries[6+c]), name+"TRC", string(curve))
	}
	return ProfileOf(version, "RGB ", tags...)
}

// GreyProfile returns an ICC profile of a curve of grey.
func GreyProfile(curve []byte) []byte {
	return ProfileOf(2, "GRAY", "wtpt", xyz(0.9642, 1, 0.82491), "kTRC", string(curve))
}

// XYZTag returns the data of a tag that has a colour.
func XYZTag(x, y, z float64) string { return xyz(x, y, z) }

func xyz(x, y, z float64) string {
	return string(appendFixed(appendFixed(appendFixed([]byte("XYZ \x00\x00\x00\x00"), x), y), z))
}

// ProfileOf returns an ICC profile for colours such as "RGB ". Tags are names and data by turns.
func ProfileOf(version byte, colours string, tags ...string) []byte {
	b := make([]byte, 128)
	b[8] = version
	copy(b[12:], "mntr"+colours+"XYZ ")
	copy(b[36:], "acsp")
	copy(b[68:], "\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2d")
	text := "text\x00\x00\x00\x00made here\x00"
	if version == 4 {
		text = "mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS\x00\x00\x00\x02\x00\x00\x00\x1c\x00x"
	}
	tags = append([]string{"desc", text, "cprt", text}, tags...)
	if version == 2 {
		tags[1] = "desc\x00\x00\x00\x00\x00\x00\x00\x05made\x00" + string(make([]byte, 78))
	}
	at := 128 + 4 + 6*len(tags)
	b = binary.BigEndian.AppendUint32(b, uint32(len(tags)/2))
	data := ""
	for i := 0; i < len(tags); i += 2 {
		b = append(b, tags[i]...)
		b = binary.BigEndian.AppendUint32(b, uint32(at+len(data)))
		b = binary.BigEndian.AppendUint32(b, uint32(len(tags[i+1])))
		data += tags[i+1]
		data += "\x00\x00\x00"[:-len(data)&3]
	}
	b = append(b, data...)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}
