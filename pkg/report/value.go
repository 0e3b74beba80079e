package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
)

// everything is the room of a value that must not be cut.
const everything = -1

// appendText writes s as a JSON string that is safe to print: what [Visible] would change is an escape.
// A byte that is no UTF-8 has no JSON form and becomes U+FFFD.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		dst = appendRune(dst, r)
	}
	return append(dst, '"')
}

// appendRune writes one character of a JSON string.
func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
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
	case utf8.RuneError:
		return appendEscape(dst, r)
	}
	if isHidden(r) || r >= 0xd800 && r < 0xe000 {
		return appendEscape(dst, r)
	}
	return utf8.AppendRune(dst, r)
}

// appendValue writes a value from an artifact without white space. Number literals stay as they are; strings get one
// spelling, safe to print. What is no JSON is written as a string. At most room characters are written, whole escapes
// only; cut says that some are missing.
func appendValue(dst []byte, v finding.Value, room int) (out []byte, cut bool) {
	if !json.Valid(v) {
		v = appendText(nil, string(v))
	}
	inString := false
	for i := 0; i < len(v); {
		mark := len(dst)
		switch c := v[i]; {
		case c == '"':
			inString = !inString
			dst = append(dst, c)
			i++
		case !inString && c <= ' ':
			i++
		case !inString:
			dst = append(dst, c)
			i++
		default:
			r, size := stringRune(v[i:])
			dst = appendRune(dst, r)
			i += size
		}
		if room == everything {
			continue
		}
		if room -= utf8.RuneCount(dst[mark:]); room < 0 {
			return dst[:mark], true
		}
	}
	return dst, false
}

// stringRune reads one character of a valid JSON string: raw, an escape, or a pair of escapes.
func stringRune(v []byte) (r rune, size int) {
	if v[0] != '\\' {
		return utf8.DecodeRune(v)
	}
	switch v[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hexRune(v[2:])
		if len(v) >= 12 && v[6] == '\\' && v[7] == 'u' {
			if pair := utf16.DecodeRune(r, hexRune(v[8:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6
	}
	return rune(v[1]), 2
}

// hexRune reads four hex digits; -1 where there are none, which is half of no pair.
func hexRune(v []byte) rune {
	n, err := strconv.ParseUint(string(v[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// show gives a value in at most room characters, with its size in bytes where it had to be cut (CONTRACT Z3).
func show(v finding.Value, room int) string {
	if v == nil {
		return "absent"
	}
	whole, cut := appendValue(nil, v, room)
	if !cut {
		return string(whole)
	}
	size := fmt.Sprintf("… (%d bytes)", len(v))
	part, _ := appendValue(nil, v, max(room-utf8.RuneCountInString(size), 8))
	return string(part) + size
}

// text gives what a JSON string says; false for every other value.
func text(v finding.Value) (string, bool) {
	var s string
	if len(v) == 0 || json.Unmarshal(v, &s) != nil || string(v) == "null" {
		return "", false
	}
	return s, true
}
