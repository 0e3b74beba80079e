package canon

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Text decodes one string literal, quotes included, to UTF-8. Without escapes the result is a part of raw.
// It takes what a Reader gives as the span of a string; anything else is an *Error with offsets in raw (C1).
func Text(raw []byte) ([]byte, error) {
	r := NewReader(raw)
	if r.Kind() != String || r.pos != 0 {
		return nil, r.unexpected("a string")
	}
	t, err := r.scan()
	if err != nil {
		return nil, err
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	inner := raw[1 : r.pos-1]
	if t&escaped == 0 {
		return inner, nil
	}
	return unescape(make([]byte, 0, len(inner)), inner), nil
}

// unescape appends the text of a scanned literal's inside. A surrogate that stands alone is kept as the three bytes
// that UTF-8 would give its code point, which sort as code points do (dbl).
func unescape(dst, inner []byte) []byte {
	for i := 0; i < len(inner); {
		run := bytes.IndexByte(inner[i:], '\\')
		if run < 0 {
			return append(dst, inner[i:]...)
		}
		dst = append(dst, inner[i:i+run]...)
		i += run
		unit, ok := hexUnit(inner[i:])
		if !ok {
			dst = append(dst, shortEscape(inner[i+1]))
			i += 2
			continue
		}
		i += 6
		if !isSurrogate(unit) {
			dst = utf8.AppendRune(dst, unit)
			continue
		}
		if low, ok := hexUnit(inner[min(i, len(inner)):]); ok && unit < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF {
			dst = utf8.AppendRune(dst, 0x10000+(unit-0xD800)<<10+(low-0xDC00))
			i += 6
			continue
		}
		dst = append(dst, 0xED, 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F)
	}
	return dst
}

func shortEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// Quote appends the string literal of UTF-8 text with the escapes of C7 and no others.
func Quote(dst, text []byte) []byte {
	dst = append(dst, '"')
	for {
		end := wholeEnd(text)
		dst = append(dst, text[:end]...)
		if end == len(text) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, text[end])
		text = text[end+1:]
	}
}

// wholeEnd gives the end of the characters at the start of a text that C7 writes as they are.
func wholeEnd(text []byte) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		// As special, but nothing is marked from 0x80 on.
		x := binary.LittleEndian.Uint64(text[i:])
		quote, slash := x^quotes, x^slashes
		if marks := ((x-blanks)&^x | (quote-everyByte)&^quote | (slash-everyByte)&^slash) & topBits; marks != 0 {
			return i + bits.TrailingZeros64(marks)>>3
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

const hexDigits = "0123456789abcdef"

// appendEscape writes the escape of a quote, a backslash or a control character (C7).
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return appendUnit(dst, rune(c))
}

const dels = 0x7F * everyByte

// plainEnd gives the end of the run of characters from offset i that the gateway's form writes as they are.
func plainEnd(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		if marks := special(x) | (x^dels-everyByte)&topBits; marks != 0 {
			return i + bits.TrailingZeros64(marks)>>3 // as of special, the lowest mark is exact
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] < 0x7F && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

func appendUnit(dst []byte, unit rune) []byte {
	return append(dst, '\\', 'u', hexDigits[unit>>12&0xF], hexDigits[unit>>8&0xF], hexDigits[unit>>4&0xF], hexDigits[unit&0xF])
}

// QuoteASCII appends the string literal of the gateway's form (C2, dbl): everything outside U+0020 to U+007E is escaped,
// runes beyond U+FFFF as a surrogate pair, surrogates that stand alone (as Value.Text gives them) as they are.
func QuoteASCII(dst, text []byte) []byte {
	dst = append(dst, '"')
	start := plainEnd(text, 0)
	dst = append(dst, text[:start]...)
	for i := start; i < len(text); {
		c := text[i]
		switch {
		case c == '"' || c == '\\' || c < ' ':
			dst = appendEscape(dst, c)
			i++
		case c < 0x7F:
			end := plainEnd(text, i+1)
			dst = append(dst, text[i:end]...)
			i = end
		case c == 0xED && i+2 < len(text) && text[i+1] >= 0xA0:
			dst = appendUnit(dst, 0xD000|rune(text[i+1]&0x3F)<<6|rune(text[i+2]&0x3F))
			i += 3
		default:
			unit, size := utf8.DecodeRune(text[i:])
			if unit >= 0x10000 {
				dst = appendUnit(dst, 0xD800+(unit-0x10000)>>10)
				unit = 0xDC00 + (unit-0x10000)&0x3FF
			}
			dst = appendUnit(dst, unit)
			i += size
		}
	}
	return append(dst, '"')
}

// writeString writes the string literal from start to the cursor. A literal that is canonical already is copied.
func (r *Reader) writeString(start int, t traits) {
	raw := r.src[start:r.pos]
	profile := r.form.Profile
	if profile != DBL && t&respelled == 0 && (t&wide == 0 || profile != JSONv1) {
		r.out = append(r.out, raw...)
		return
	}
	text := raw[1 : len(raw)-1]
	if t&escaped != 0 {
		r.parts = unescape(r.parts[:0], text)
		text = r.parts
	}
	switch {
	case profile == DBL:
		r.out = QuoteASCII(r.out, text)
	case profile == JSONv1 && t&wide != 0:
		r.out = Quote(r.out, NFC(text))
	default:
		r.out = Quote(r.out, text)
	}
}

// hexUnit reads a \u escape at the start of b.
func hexUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range b[2:6] {
		if !isHex(c) {
			return 0, false
		}
		unit = unit<<4 | rune(hexValue(c))
	}
	return unit, true
}

func isSurrogate(unit rune) bool { return unit >= 0xD800 && unit <= 0xDFFF }
