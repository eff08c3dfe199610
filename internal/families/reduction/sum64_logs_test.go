package reduction

import (
	"math/big"
	"testing"
)

// The digits of powers of e, and the terms that are made of them, are those of arithmetic with 400 digits.
func TestPowersAndTerms(t *testing.T) {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	e, term := number(0), number(1)
	for k := 1.0; k < 100; k++ {
		e.Add(e, term)
		term.Quo(term, number(k))
	}
	power, one := number(1), number(0).SetMantExp(number(1), wholeBits)
	for k, digits := range powers {
		mantissa := number(0)
		before := power.MantExp(mantissa) // power = mantissa·2^before, 1/2 ≤ mantissa < 1
		if exponent(k) != before-1 {
			t.Errorf("exponent(%d) = %d, want %d", k, exponent(k), before-1)
		}
		if want, _ := mantissa.SetMantExp(mantissa, 64).Uint64(); digits != want {
			t.Errorf("powers[%d] = %#x, want %#x", k, digits, want)
		}
		made := uint64(0)
		if k < len(terms()) {
			made = terms()[k]
		}
		if want, _ := number(0).Quo(one, power).Uint64(); made != want {
			t.Errorf("the term of e^−%d is %d, want %d", k, made, want)
		}
		power.Mul(power, e)
	}
}

// A logarithm is rounded down also beside the powers of e, in any number of parts.
func TestLogarithmBesidePowers(t *testing.T) {
	for k := 1; k < len(powers); k++ {
		for fraction := 0; exponent(k)+fraction <= 63; fraction++ {
			below := powers[k] >> (63 - exponent(k) - fraction)
			if got := logarithm(below, fraction); got != k-1 {
				t.Errorf("logarithm(%d, %d) = %d, want %d", below, fraction, got, k-1)
			}
			if got := logarithm(below+1, fraction); below+1 != 0 && got != k {
				t.Errorf("logarithm(%d, %d) = %d, want %d", below+1, fraction, got, k)
			}
		}
	}
}
