package canon

import (
	"bytes"
	"math"
	"strconv"
)

// double is a binary64 number; only jcs and py-sorted have them (C2).
type double float64

// plainLiteral is the length up to which the standard library's parser is given a literal as it stands: longer ones may
// hold an exponent that its digit count cuts short.
const plainLiteral = 64

// doubleDigits suffices to round correctly: no decimal that lies half-way between two doubles has more digits.
const doubleDigits = 800

// binary64 gives the double nearest to a number literal, ties to even; infinite on overflow.
func binary64(raw []byte) double {
	if len(raw) > plainLiteral {
		raw = parseDecimal(raw).shortened()
	}
	f, _ := strconv.ParseFloat(string(raw), 64) // the literal is well-formed: the only error is overflow, and f says so
	return double(f)
}

// shortened gives a literal of the same double: enough digits, one more for what is cut off, and a small exponent.
func (d decimal) shortened() []byte {
	text := make([]byte, 0, doubleDigits+16)
	if d.negative {
		text = append(text, '-')
	}
	text = append(text, '0', '.')
	n := min(doubleDigits, len(d.whole)+len(d.fraction))
	for i := range n {
		text = append(text, d.digit(i))
	}
	if !d.zeroFrom(n) {
		text = append(text, '1')
	}
	text = append(text, '0', 'e')
	return strconv.AppendInt(text, min(max(d.point, -9999), 9999), 10)
}

func (f double) infinite() bool { return math.IsInf(float64(f), 0) }

// scientific gives the shortest digits that read back as f, without sign, and the exponent of the first one.
func (f double) scientific(buffer []byte) (digits []byte, exponent int) {
	text := strconv.AppendFloat(buffer, math.Abs(float64(f)), 'e', -1, 64)
	e := bytes.IndexByte(text, 'e')
	exponent, _ = strconv.Atoi(string(text[e+1:])) // written by AppendFloat
	digits = text[:1]
	if e > 2 {
		digits = append(digits, text[2:e]...)
	}
	return digits, exponent
}

// appendPython writes f as Python's repr does: an exponent below 1e-4 and from 1e16 on, else a point always.
func (f double) appendPython(dst []byte) []byte {
	var buffer [32]byte
	_, exponent := f.scientific(buffer[:0])
	if exponent < -4 || exponent >= 16 {
		return strconv.AppendFloat(dst, float64(f), 'e', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, float64(f), 'f', -1, 64)
	if bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, '.', '0')
	}
	return dst
}

// appendES6 writes f as ECMAScript's Number::toString does, which RFC 8785 prescribes.
func (f double) appendES6(dst []byte) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	var buffer [32]byte
	digits, exponent := f.scientific(buffer[:0])
	if exponent > -7 && exponent < 21 {
		return strconv.AppendFloat(dst, float64(f), 'f', -1, 64)
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	dst = append(dst, 'e')
	if exponent > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(exponent), 10)
}
