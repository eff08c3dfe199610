package picture

import "github.com/lathe-gpu/lathe/internal/planner"

// Colour is a colour as text: #rgb, #rrggbb or #rrggbbaa, or black, white or transparent. It
// returns components in 0..1.
// Errors: ErrInvalidArgument.
func Colour(text string) ([4]float64, error) {
	switch text {
	case "black":
		return [4]float64{0, 0, 0, 1}, nil
	case "white":
		return [4]float64{1, 1, 1, 1}, nil
	case "transparent":
		return [4]float64{}, nil
	}
	digits := text
	if len(digits) == 4 && digits[0] == '#' {
		digits = string([]byte{'#', text[1], text[1], text[2], text[2], text[3], text[3]})
	}
	if len(digits) == 7 {
		digits += "ff"
	}
	var c [4]float64
	if len(digits) != 9 || digits[0] != '#' {
		return c, planner.Invalid("color %q (want #rgb, #rrggbb, #rrggbbaa, black, white or transparent)", text)
	}
	for i := range c {
		for _, digit := range []byte(digits[1+2*i : 3+2*i]) {
			v := 0
			switch {
			case '0' <= digit && digit <= '9':
				v = int(digit - '0')
			case 'a' <= digit|0x20 && digit|0x20 <= 'f':
				v = int(digit|0x20-'a') + 10
			default:
				return c, planner.Invalid("color %q (want digits 0 to 9 and a to f after #)", text)
			}
			c[i] = c[i]*16 + float64(v)
		}
		c[i] /= 255
	}
	return c, nil
}
