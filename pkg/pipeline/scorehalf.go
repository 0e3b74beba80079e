package pipeline

import "math"

// The coefficients of 2^r as a series in r: (ln 2)^k / k!. Constants are exact until they are stored.
const (
	c1  = math.Ln2
	c2  = c1 * math.Ln2 / 2
	c3  = c2 * math.Ln2 / 3
	c4  = c3 * math.Ln2 / 4
	c5  = c4 * math.Ln2 / 5
	c6  = c5 * math.Ln2 / 6
	c7  = c6 * math.Ln2 / 7
	c8  = c7 * math.Ln2 / 8
	c9  = c8 * math.Ln2 / 9
	c10 = c9 * math.Ln2 / 10
	c11 = c10 * math.Ln2 / 11
	c12 = c11 * math.Ln2 / 12
	c13 = c12 * math.Ln2 / 13
)

// seriesOfTwo has the coefficients, highest first. What is left out is below 2^-57 for |r| ≤ 1/2.
var seriesOfTwo = [...]float64{c13, c12, c11, c10, c9, c8, c7, c6, c5, c4, c3, c2, c1, 1}

// half gives 0.5^x for x ≥ 0 with a relative error below 2^-51. P2(b): it is made of additions, wrapped products and one
// change of the exponent, since the functions of the platforms differ in the last bit.
func half(x float64) float64 {
	if x > 1100 { // below the least binary64
		return 0
	}
	n := math.RoundToEven(x)
	r := n - x // exact, and at most 1/2
	sum := 0.0
	for _, c := range seriesOfTwo {
		sum = float64(sum*r) + c
	}
	return math.Ldexp(sum, -int(n))
}
