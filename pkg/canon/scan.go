package canon

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// traits says what a string literal needs before it is canonical.
type traits uint8

const (
	escaped   traits = 1 << iota // holds a backslash: its text is not its bytes
	respelled                    // holds \/ or \u: C7 writes another escape, or none
	wide                         // holds a rune that NFC may change
)

const (
	everyByte = 0x0101010101010101
	topBits   = 0x80 * everyByte
	blanks    = ' ' * everyByte
	quotes    = '"' * everyByte
	slashes   = '\\' * everyByte
)

// special marks, in the top bit of each byte, the bytes of a string that are not plain ASCII: controls, quote,
// backslash, and all from 0x80. Borrows reach only bytes above a marked one, so the lowest mark is exact.
func special(x uint64) uint64 {
	return (x | (x - blanks) | ((x ^ quotes) - everyByte) | ((x ^ slashes) - everyByte)) & topBits
}

// space passes white space. Indentation is a line feed with a run of blanks, which goes eight bytes at a time.
func (r *Reader) space() {
	src, i := r.src, r.pos
	if i >= len(src) || src[i] > ' ' {
		return
	}
	for i < len(src) && src[i] <= ' ' {
		switch src[i] {
		case ' ', '\t', '\r':
			i++
		case '\n':
			i++
			for i+8 <= len(src) {
				if other := binary.LittleEndian.Uint64(src[i:]) ^ blanks; other != 0 {
					i += bits.TrailingZeros64(other) >> 3
					break
				}
				i += 8
			}
		default:
			r.pos, r.unlike = i, i
			return
		}
	}
	r.pos, r.unlike = i, i
}

// scan passes the string literal at the cursor, which stands on a quote (C1: UTF-8, no control, no lone surrogate).
func (r *Reader) scan() (traits, *Error) {
	var t traits
	src, i := r.src, r.pos+1
	for {
		for i+8 <= len(src) {
			if marks := special(binary.LittleEndian.Uint64(src[i:])); marks != 0 {
				i += bits.TrailingZeros64(marks) >> 3
				break
			}
			i += 8
		}
		if i >= len(src) {
			return 0, r.fail(CodeInvalidJSON, len(src), "expected the rest of a string, found the end of the input")
		}
		switch c := src[i]; {
		case c == '"':
			r.pos = i + 1
			return t, nil
		case c >= utf8.RuneSelf:
			size, more, err := r.rune(i)
			if err != nil {
				return 0, err
			}
			t |= more
			i += size
			r.unlike = i
		case c == '\\':
			size, more, err := r.escape(i)
			if err != nil {
				return 0, err
			}
			t |= more
			i += size
		case c < ' ':
			return 0, r.fail(CodeInvalidJSON, i, "a string holds the raw control character "+found(src, i))
		default:
			i++ // the last bytes of the input, fewer than a word
		}
	}
}

// rune passes one rune beyond ASCII at offset i and says whether NFC may touch it.
func (r *Reader) rune(i int) (int, traits, *Error) {
	src := r.src
	// U+0080 to U+02FF and U+5000 to U+9FFF: common, and always in NFC.
	switch c := src[i]; {
	case c >= 0xC2 && c <= 0xCB && i+1 < len(src) && src[i+1]&0xC0 == 0x80:
		return 2, 0, nil
	case c >= 0xE5 && c <= 0xE9 && i+2 < len(src) && src[i+1]&0xC0 == 0x80 && src[i+2]&0xC0 == 0x80:
		return 3, 0, nil
	}
	c, size := utf8.DecodeRune(src[i:])
	if c == utf8.RuneError && size == 1 {
		return r.malformed(i)
	}
	if stable(c) {
		return size, 0, nil
	}
	return size, wide, nil
}

// malformed judges bytes that are no UTF-8. Python's reader lets encoded surrogates pass, and its writer fails on them.
func (r *Reader) malformed(i int) (int, traits, *Error) {
	src := r.src
	if r.form.Profile == PySorted && i+2 < len(src) && src[i] == 0xED && src[i+1]&0xE0 == 0xA0 && src[i+2]&0xC0 == 0x80 {
		r.postpone(CodeLoneSurrogate, i, "a surrogate cannot be written as UTF-8")
		return 3, 0, nil
	}
	if !utf8.FullRune(src[i:]) {
		return 0, 0, r.fail(CodeInvalidUTF8, len(src), "expected the rest of a UTF-8 sequence, found the end of the input")
	}
	return 0, 0, r.fail(CodeInvalidUTF8, i, "the bytes are no UTF-8")
}

// escape passes one escape at offset i.
func (r *Reader) escape(i int) (int, traits, *Error) {
	src := r.src
	if i+1 >= len(src) {
		return 0, 0, r.fail(CodeInvalidJSON, len(src), "expected the rest of an escape, found the end of the input")
	}
	switch src[i+1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2, escaped, nil
	case '/':
		r.unlike = i + 2
		return 2, escaped | respelled, nil
	case 'u':
		return r.unicodeEscape(i)
	}
	return 0, 0, r.fail(CodeInvalidJSON, i, "a backslash cannot stand before "+found(src, i+1))
}

// unicodeEscape passes a \u escape at offset i, or a pair of them.
func (r *Reader) unicodeEscape(i int) (int, traits, *Error) {
	src := r.src
	unit, ok := hexUnit(src[i:])
	if !ok {
		at := i + 2
		for at < len(src) && isHex(src[at]) {
			at++
		}
		return 0, 0, r.fail(CodeInvalidJSON, at, "expected four hexadecimal digits after \\u, found "+found(src, at))
	}
	if !inDBL(src[i:i+6], unit) {
		r.unlike = i + 6
	}
	if !isSurrogate(unit) {
		if stable(unit) {
			return 6, escaped | respelled, nil
		}
		return 6, escaped | respelled | wide, nil
	}
	rest := src[i+6:]
	if low, ok := hexUnit(rest); ok && unit < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF {
		if !inDBL(rest[:6], low) {
			r.unlike = i + 12
		}
		return 12, escaped | respelled | wide, nil
	}
	if unit < 0xDC00 && cutEscape(rest) {
		return 0, 0, r.fail(CodeInvalidJSON, len(src), "expected the second half of a surrogate pair, found the end of the input")
	}
	switch r.form.Profile {
	case DBL:
	case PySorted:
		r.postpone(CodeLoneSurrogate, i, "a lone surrogate cannot be written as UTF-8")
	default:
		return 0, 0, r.fail(CodeLoneSurrogate, i, "a surrogate escape stands alone: "+string(src[i:i+6]))
	}
	return 6, escaped | respelled | wide, nil
}

// cutEscape tells whether the input ends where a second \u escape may still be on its way.
func cutEscape(rest []byte) bool {
	if len(rest) >= 6 || !bytes.HasPrefix([]byte(`\u`), rest[:min(2, len(rest))]) {
		return false
	}
	for _, c := range rest[min(2, len(rest)):] {
		if !isHex(c) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(c byte) bool { return isDigit(c) || (c|0x20)-'a' <= 5 }

func hexValue(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return (c | 0x20) - 'a' + 10
}

// number passes the number literal at the cursor and tells whether it is an integer: no fraction, no exponent (C4).
func (r *Reader) number() (integer bool, err *Error) {
	src, i := r.src, r.pos
	if src[i] == '-' {
		i++
	}
	switch {
	case i < len(src) && src[i] == '0':
		i++
	case i < len(src) && isDigit(src[i]):
		i = digits(src, i)
	default:
		return false, r.notDigit(i)
	}
	integer, large := true, false
	if i < len(src) && src[i] == '.' {
		integer = false
		if i = digits(src, i+1); !isDigit(src[i-1]) {
			return false, r.notDigit(i)
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		integer, large = false, true
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		if i = digits(src, i); !isDigit(src[i-1]) {
			return false, r.notDigit(i)
		}
	}
	if !integer && (large || i-r.pos > maxPoint) && !Finite(src[r.pos:i]) {
		r.beyond = i
	}
	if !integer || i-r.pos == len("-0") && src[r.pos] == '-' && src[i-1] == '0' {
		r.unlike = i
	}
	r.pos = i
	return integer, nil
}

// digits passes digits from offset i.
func digits(src []byte, i int) int {
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	return i
}

func (r *Reader) notDigit(i int) *Error {
	return r.fail(CodeInvalidJSON, i, "expected a digit, found "+found(r.src, i))
}

// word passes the rest of true, false, null or a non-finite token.
func (r *Reader) word(w string) *Error {
	rest := r.src[r.pos:]
	for i := range len(w) {
		if i >= len(rest) {
			return r.fail(CodeInvalidJSON, len(r.src), "expected the rest of "+w+", found the end of the input")
		}
		if rest[i] != w[i] {
			return r.fail(CodeInvalidJSON, r.pos+i, "expected the rest of "+w+", found "+found(r.src, r.pos+i))
		}
	}
	r.pos += len(w)
	return nil
}
