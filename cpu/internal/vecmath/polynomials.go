package vecmath

// The coefficients of the polynomials p, that of the lowest power first. They were found by
// the fits of fit_test.go: `go test -run TestFits -fits -v` prints them again. A fit makes
// the largest error of the function small, relative to its value. It rounds the coefficients
// one after the other, and each one corrects what the rounding of those before has lost.
// TestFits checks the errors that stand here. They leave out what f32 rounds later.
var (
	// e^r = 1 + r + r^2*p(r) for |r| up to ln 2 / 2: error 2^-28.2.
	expRest = []float32{
		0.49999994,
		0.16666521,
		0.041668274,
		0.008368686,
		0.0013820138,
	}
	// e^r - 1 = r + r^2*p(r) for |r| up to ln 2 / 2: error 2^-26.1.
	expm1Rest = []float32{
		0.49999997,
		0.16666545,
		0.04166746,
		0.008366415,
		0.0013868342,
	}
	// 2^r = 1 + r*p(r) for |r| up to 1/2: error 2^-28.3.
	exp2Rest = []float32{
		0.6931472,
		0.24022648,
		0.055503596,
		0.009618499,
		0.001339097,
		0.00015329279,
	}
	// sinh(r) = r + r^3*p(r^2) for |r| up to ln 2 / 2: error 2^-26.1.
	sinhRest = []float32{
		0.16666542,
		0.0083666975,
	}
	// cosh(r) - 1 = r^2*p(r^2) for |r| up to ln 2 / 2: error 2^-33.2.
	coshRest = []float32{
		0.5,
		0.04166646,
		0.0013935438,
	}
	// sin(r) = r + r^3*p(r^2) for |r| up to pi/4: error 2^-28.0.
	sinRest = []float32{
		-0.16666655,
		0.00833219,
		-0.00019518408,
	}
	// cos(r) = 1 - r^2/2 + r^4*p(r^2) for |r| up to pi/4: error 2^-32.9.
	cosRest = []float32{
		0.041666646,
		-0.001388731,
		2.4432336e-05,
	}
	// log(1+r) = r - r^2/2 + r^3*p(r) for 1+r from sqrt(1/2) to sqrt(2): error 2^-27.3.
	logRest = []float32{
		0.3333333,
		-0.25000823,
		0.20001246,
		-0.1662331,
		0.14201419,
		-0.13160416,
		0.1276363,
		-0.07635955,
	}
	// log2(1+r) = r*log2(e) + r^2*p(r) for 1+r from sqrt(1/2) to sqrt(2): error 2^-27.6.
	log2Rest = []float32{
		-0.72134733,
		0.48089817,
		-0.36069843,
		0.28857374,
		-0.23958112,
		0.20444855,
		-0.19119374,
		0.18722878,
		-0.11097784,
	}
	// asin(r) = r + r^3*p(r^2) for r from 0 to 1/2: error 2^-27.5.
	asinRest = []float32{
		0.16666754,
		0.07495252,
		0.045476038,
		0.024152152,
		0.04221161,
	}
	// atan(r) = r + r^3*p(r^2) for r from 0 to 1: error 2^-25.8.
	atanRest = []float32{
		-0.33333153,
		0.19993769,
		-0.14211023,
		0.10665879,
		-0.075519435,
		0.0432086,
		-0.016365869,
		0.0029201624,
	}
	// log2((1+s)/(1-s)) = s*p(s^2) for (1+s)/(1-s) from sqrt(1/2) to sqrt(2): error 2^-37.7.
	log2Ratio = []float64{
		2.8853900817901486,
		0.9617966732377122,
		0.5770836053048684,
		0.4116714944161109,
		0.34075279163471867,
	}
)
