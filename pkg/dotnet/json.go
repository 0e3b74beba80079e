package dotnet

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Quote appends a string literal as LlamaBrain's JSON writer does: the short escapes, other controls and the three line
// separators as \u00xx, everything else raw, halves of pairs as U+FFFD (llamabrain.md §0).
func Quote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for len(s) > 0 {
		r, size := decode(s)
		s = s[size:]
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r == 0x85 || r == 0x2028 || r == 0x2029:
			dst = appendEscape(dst, r)
		case r >= highSurrogate && r <= lastSurrogate:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune) []byte {
	const named = "\b\f\n\r\t"
	if i := bytes.IndexRune([]byte(named), r); i >= 0 {
		return append(dst, '\\', "bfnrt"[i])
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// AppendFloat appends the shortest text that is the same binary32 again, always with a decimal point or an exponent:
// 1.0, 0.33333334, 1E-05 (llamabrain.md §0). The runtime writes an exponent below 0.0001, and where the digits end before
// the point does and there are more than 7 places.
func AppendFloat(dst []byte, x float32) []byte {
	text := strconv.AppendFloat(nil, float64(x), 'e', -1, 32)
	mantissa, exponent, _ := bytes.Cut(text, []byte("e"))
	point, _ := strconv.Atoi(string(exponent))
	point++
	digits := len(bytes.Trim(mantissa, "-")) - bytes.Count(mantissa, []byte("."))
	if point > max(digits, 7) || point < -3 {
		return append(append(append(dst, mantissa...), 'E'), exponent...)
	}
	dst = strconv.AppendFloat(dst, float64(x), 'f', -1, 32)
	if digits <= point {
		dst = append(dst, '.', '0')
	}
	return dst
}
