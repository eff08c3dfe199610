// Package units writes numbers for people, with three digits and a unit.
package units

import "fmt"

// Count is a number as 25.7 M.
func Count(n int64) string {
	v, unit := float64(n), 0
	for v >= 999.5 && unit < 6 {
		v, unit = v/1000, unit+1
	}
	return digits(v, unit) + []string{"", " k", " M", " G", " T", " P", " E"}[unit]
}

// Bytes is a number of bytes as 1.50 MiB.
func Bytes(n int64) string {
	v, unit := float64(n), 0
	for v >= 999.5 && unit < 6 {
		v, unit = v/1024, unit+1
	}
	return digits(v, unit) + []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}[unit]
}

// digits are three digits of a number, or those before the point.
func digits(v float64, unit int) string {
	switch {
	case unit == 0 || v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Of is a number of things as "1 call" or "3 calls".
func Of(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case len(what) > 1 && what[len(what)-2:] == "ch":
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}
