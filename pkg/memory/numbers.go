package memory

import "math"

// Numbers says what a pipeline version keeps of a real number after each operation. All arithmetic is binary64: rounding
// the sum or the product of two binary32 values once more gives the binary32 result exactly.
type Numbers uint8

// The kinds of numbers.
const (
	Binary32 Numbers = iota // llamabrain.md §0: every operation rounds to binary32
	Micros                  // P2(i): stored reals are multiples of 1e-6
)

// Round gives what is kept of x.
func (n Numbers) Round(x float64) float64 {
	if n == Binary32 {
		return float64(float32(x))
	}
	if math.Abs(x) >= coarse {
		return x
	}
	return math.RoundToEven(x*1e6)/1e6 + 0 // the sum makes -0 a plain 0, as json-v1 does
}

// coarse is where neighbours in binary64 are more than 1e-6 apart: the shortest text of such a number has no more than 6
// decimals.
const coarse = 1 << 33
