package canon

import (
	"bytes"
	"strconv"
)

// decimal is a number literal taken apart: ± 0.d₀d₁d₂… × 10^point, where the digits start at the first one that is not
// zero. Nothing is computed, so a literal of any length or exponent costs no more than reading it.
type decimal struct {
	negative bool
	zero     bool
	whole    []byte // digits before the point, without leading zeros
	fraction []byte // digits after it; without leading zeros when whole is empty
	point    int64  // saturated beyond ±hugeExponent
	adjust   int64  // point without the exponent
	exponent []byte // digits of the exponent
	small    bool   // the exponent is negative
}

// hugeExponent bounds saturated exponents: far above any number of digits, far below overflow.
const hugeExponent = 1 << 60

// parseDecimal takes a literal as the scanner passed it.
func parseDecimal(raw []byte) decimal {
	var d decimal
	if d.negative = raw[0] == '-'; d.negative {
		raw = raw[1:]
	}
	if e := bytes.IndexAny(raw, "eE"); e >= 0 {
		d.exponent = raw[e+1:]
		raw = raw[:e]
		if d.small = d.exponent[0] == '-'; d.small || d.exponent[0] == '+' {
			d.exponent = d.exponent[1:]
		}
	}
	d.whole = raw
	if p := bytes.IndexByte(raw, '.'); p >= 0 {
		d.whole, d.fraction = raw[:p], raw[p+1:]
	}
	d.whole = trimZeros(d.whole)
	d.adjust = int64(len(d.whole))
	if len(d.whole) == 0 {
		significant := trimZeros(d.fraction)
		d.adjust = int64(len(significant) - len(d.fraction))
		d.fraction = significant
		d.zero = len(significant) == 0
	}
	d.point = d.adjust + exponentDifference(d, decimal{})
	return d
}

func trimZeros(digits []byte) []byte {
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

// exponentDifference gives a's exponent minus b's, saturated at ±hugeExponent. Digit by digit a difference that has
// once grown beyond one can only grow on, so nothing is lost by stopping.
func exponentDifference(a, b decimal) int64 {
	var sum int64
	for i := max(len(a.exponent), len(b.exponent)); i > 0; i-- {
		sum = sum*10 + a.exponentDigit(i) - b.exponentDigit(i)
		if sum > hugeExponent/16 {
			return hugeExponent
		}
		if sum < -hugeExponent/16 {
			return -hugeExponent
		}
	}
	return sum
}

// exponentDigit gives the signed digit at position i from the right, counted from 1.
func (d *decimal) exponentDigit(i int) int64 {
	if i > len(d.exponent) {
		return 0
	}
	digit := int64(d.exponent[len(d.exponent)-i] - '0')
	if d.small {
		return -digit
	}
	return digit
}

// digit gives the significant digit at position i, zero after the last.
func (d *decimal) digit(i int) byte {
	if i < len(d.whole) {
		return d.whole[i]
	}
	if i -= len(d.whole); i < len(d.fraction) {
		return d.fraction[i]
	}
	return '0'
}

// zeroFrom tells whether every digit from position i on is zero.
func (d *decimal) zeroFrom(i int) bool {
	if i < len(d.whole) {
		return len(trimZeros(d.whole[i:])) == 0 && len(trimZeros(d.fraction)) == 0
	}
	i -= len(d.whole)
	return i >= len(d.fraction) || len(trimZeros(d.fraction[i:])) == 0
}

// maxPoint is the point of the greatest finite numbers of C5: those below 10^309.
const maxPoint = 309

// Finite tells whether the magnitude of a number literal is below 10^309 (C5).
func Finite(raw []byte) bool {
	d := parseDecimal(raw)
	return d.zero || d.point <= maxPoint
}

// Integer gives the value of a literal without fraction and exponent that fits in 64 bits (C4); "-0" is 0.
func Integer(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || len(raw) > len("-9223372036854775808") || raw[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// appendRounded appends the value of a literal with fraction or exponent, rounded half-even to at most the given
// number of decimals, plainly: no exponent, no trailing zeros, no negative zero (C5). It gives false when the
// magnitude is 10^309 or more.
func appendRounded(dst, raw []byte, decimals int) ([]byte, bool) {
	d := parseDecimal(raw)
	if d.zero {
		return append(dst, '0'), true
	}
	if d.point > maxPoint {
		return dst, false
	}
	if d.point < -int64(decimals) {
		return append(dst, '0'), true
	}
	// Kept digits, after one spare zero for a carry; at most 309 and the decimals.
	var buffer [1 + maxPoint + maxDecimals]byte
	keep := int(d.point) + decimals
	kept := buffer[:1+keep]
	kept[0] = '0'
	for i := range keep {
		kept[1+i] = d.digit(i)
	}
	if d.roundsUp(keep, kept[keep]) {
		increment(kept)
	}
	return appendPlain(dst, d.negative, kept, decimals), true
}

// roundsUp tells whether cutting after keep digits, the last of which is given, rounds away from zero.
func (d *decimal) roundsUp(keep int, last byte) bool {
	next := d.digit(keep)
	if next != '5' {
		return next > '5'
	}
	return !d.zeroFrom(keep+1) || last&1 == 1
}

func increment(digits []byte) {
	for i := len(digits) - 1; ; i-- {
		if digits[i] != '9' {
			digits[i]++
			return
		}
		digits[i] = '0'
	}
}

// appendPlain writes digits, of which the last decimals stand after the point; fewer digits than that lack zeros.
func appendPlain(dst []byte, negative bool, digits []byte, decimals int) []byte {
	split := max(0, len(digits)-decimals)
	whole := trimZeros(digits[:split])
	fraction := bytes.TrimRight(digits[split:], "0")
	if len(whole) == 0 && len(fraction) == 0 {
		return append(dst, '0')
	}
	if negative {
		dst = append(dst, '-')
	}
	if len(whole) == 0 {
		dst = append(dst, '0')
	}
	dst = append(dst, whole...)
	if len(fraction) == 0 {
		return dst
	}
	dst = append(dst, '.')
	for range decimals - (len(digits) - split) {
		dst = append(dst, '0')
	}
	return append(dst, fraction...)
}

// CompareNumbers orders two number literals by their exact values: -1, 0 or 1. No binary64 is involved, and exponents
// of any size are compared, not expanded.
func CompareNumbers(a, b []byte) int {
	x, y := parseDecimal(a), parseDecimal(b)
	if s, t := x.sign(), y.sign(); s != t || s == 0 {
		return compareInts(int64(s), int64(t))
	}
	return x.sign() * compareMagnitudes(&x, &y)
}

func (d *decimal) sign() int {
	switch {
	case d.zero:
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func compareMagnitudes(x, y *decimal) int {
	if c := compareInts(exponentDifference(*x, *y)+x.adjust, y.adjust); c != 0 {
		return c
	}
	for i := range max(len(x.whole)+len(x.fraction), len(y.whole)+len(y.fraction)) {
		if p, q := x.digit(i), y.digit(i); p != q {
			return compareInts(int64(p), int64(q))
		}
	}
	return 0
}

func compareInts(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// writeNumber writes the number literal from start to the cursor as the profile formats it (C2, C4, C5).
func (r *Reader) writeNumber(start int, integer bool) *Error {
	raw := r.src[start:r.pos]
	switch profile := r.form.Profile; {
	case profile == JCS:
		f := binary64(raw)
		if f.infinite() {
			return r.fail(CodeNumberOutOfRange, start, "the number overflows binary64")
		}
		r.out = f.appendES6(r.out)
	case integer:
		if len(raw) == 2 && raw[0] == '-' && raw[1] == '0' {
			raw = raw[1:] // C4
		}
		r.out = append(r.out, raw...)
	case profile == DBL:
		r.postpone(CodeFloatRefused, start, "the profile dbl has no numbers with fraction or exponent")
	case profile == PySorted:
		f := binary64(raw)
		if f.infinite() {
			r.postpone(CodeNumberOutOfRange, start, "the number overflows binary64")
		}
		r.out = f.appendPython(r.out)
	default:
		out, ok := appendRounded(r.out, raw, r.decimals)
		if !ok {
			return r.fail(CodeNumberOutOfRange, start, "the magnitude of the number is 10^309 or more")
		}
		r.out = out
	}
	return nil
}

// nonFinite judges what may be a NaN or Infinity token: C1 has none, Python's reader takes them.
func (r *Reader) nonFinite(token string) *Error {
	start := r.pos
	if r.form.Profile.lenient() {
		r.postpone(CodeNonFinite, start, token+" cannot be written as JSON")
		r.unlike = start + len(token)
		return r.word(token)
	}
	if r.hasPrefix(token) {
		return r.fail(CodeNonFinite, start, "JSON has no "+token+"; it can be written as a string")
	}
	if token[0] == '-' {
		return r.notDigit(start + 1)
	}
	return r.unexpected("a value")
}

func (r *Reader) hasPrefix(token string) bool {
	return bytes.HasPrefix(r.src[r.pos:], []byte(token))
}
