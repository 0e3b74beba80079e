// Package report renders a finding.Report for people and for machines. It knows findings and nothing else.
package report

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// hidden lists what a reader cannot see and a terminal may obey: controls, marks that turn the direction of text,
// characters without width, separators that break a line, tags (CONTRACT Z5). The list is closed and kept here, so that
// reports do not change with the Unicode version of the compiler.
var hidden = [...]struct{ first, last rune }{
	{0x00, 0x1f},
	{0x7f, 0x9f},
	{0xad, 0xad},
	{0x61c, 0x61c},
	{0x180e, 0x180e},
	{0x200b, 0x200f},
	{0x2028, 0x202e},
	{0x2060, 0x206f},
	{0xfeff, 0xfeff},
	{0xfff9, 0xfffb},
	{0xe0000, 0xe0fff},
}

func isHidden(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	for _, span := range hidden {
		if r <= span.last {
			return r >= span.first
		}
	}
	return false
}

// Visible makes text from an artifact safe to print (CONTRACT Z5): each control (C0, DEL, C1), bidi, zero-width and
// separator character becomes `\u` and four lowercase hex digits (a pair of them above U+FFFF), each byte that is no
// UTF-8 becomes `\x` and two. Everything else stays, also a backslash, so the way back is not exact.
func Visible(s string) string {
	first := strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || isHidden(r) })
	if first < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)+16), s[:first]...)
	for i := first; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, '\\', 'x', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		case isHidden(r):
			out = appendEscape(out, r)
		default:
			out = append(out, s[i:i+size]...)
		}
		i += size
	}
	return string(out)
}

// appendEscape writes a character as JSON's \uXXXX, above U+FFFF as a surrogate pair.
func appendEscape(dst []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return appendEscape(appendEscape(dst, high), low)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
