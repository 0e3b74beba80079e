// Package dotnet gives strings the meaning that they have in the .NET runtime, which LlamaBrain's bytes rest on: lengths
// and slices in UTF-16 units, ordinal order, folding without a culture (llamabrain.md §0).
//
// A text is a Go string in UTF-8. Half of a surrogate pair, which a slice may leave behind, is the three bytes that UTF-8
// would give its code point; UTF8 replaces it where a text leaves the pipeline.
package dotnet

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	highSurrogate = 0xD800
	lowSurrogate  = 0xDC00
	lastSurrogate = 0xDFFF
	beyondBMP     = 0x10000
)

// decode gives the first rune of a text, a lone surrogate as such, and its size in bytes. Bytes that are no text count
// one by one as U+FFFD.
func decode(s string) (rune, int) {
	if s != "" && s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 && len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 {
		return rune(0xD000) | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, size
}

func appendRune(dst []byte, r rune) []byte {
	if r >= highSurrogate && r <= lastSurrogate {
		return append(dst, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
	}
	return utf8.AppendRune(dst, r)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Len gives the length in UTF-16 units (llamabrain.md §0).
func Len(s string) int {
	n := plain(s)
	for i := n; i < len(s); {
		if s[i] < utf8.RuneSelf {
			run := max(1, plain(s[i:]))
			i += run
			n += run
			continue
		}
		r, size := decode(s[i:])
		i += size
		n++
		if r >= beyondBMP {
			n++
		}
	}
	return n
}

// plain gives how many bytes at the start of a text are ASCII for sure: eight are looked at together.
func plain(s string) int {
	const high = 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		if word&high != 0 {
			break
		}
	}
	return i
}

// Units gives the UTF-16 units of a text.
func Units(s string) []uint16 {
	units := make([]uint16, 0, len(s))
	for len(s) > 0 {
		r, size := decode(s)
		s = s[size:]
		if r >= beyondBMP {
			r -= beyondBMP
			units = append(units, uint16(highSurrogate+r>>10), uint16(lowSurrogate+r&0x3FF))
			continue
		}
		units = append(units, uint16(r))
	}
	return units
}

// FromUnits gives the text of UTF-16 units, halves of pairs kept.
func FromUnits(units []uint16) string {
	dst := make([]byte, 0, len(units))
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if r >= highSurrogate && r < lowSurrogate && i+1 < len(units) && units[i+1] >= lowSurrogate && units[i+1] <= lastSurrogate {
			i++
			r = beyondBMP + (r-highSurrogate)<<10 + rune(units[i]) - lowSurrogate
		}
		dst = appendRune(dst, r)
	}
	return string(dst)
}

// Pair makes one rune of each two halves that stand together, as they do when what stood between them is cut out: to the
// runtime they are a pair like any other.
func Pair(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return FromUnits(Units(s))
}

// Cut gives the units from up to but not including to, both in UTF-16 units and within the text. It may split a pair.
func Cut(s string, from, to int) string {
	if ascii(s) {
		return s[from:to]
	}
	return FromUnits(Units(s)[from:to])
}

// Index gives the place of a text in another one, in UTF-16 units; -1 for none. A half of a pair is found in the pair.
func Index(s, text string) int {
	if first, _ := decode(text); first >= lowSurrogate && first <= lastSurrogate || endsHigh(text) {
		return indexUnits(Units(s), Units(text))
	}
	i := strings.Index(s, text)
	if i < 0 {
		return -1
	}
	return Len(s[:i])
}

// Contains tells whether a text stands in another one (llamabrain.md §0).
func Contains(s, text string) bool { return Index(s, text) >= 0 }

// endsHigh tells whether a text ends with the first half of a pair.
func endsHigh(text string) bool {
	n := len(text) - 3
	if n < 0 {
		return false
	}
	r, size := decode(text[n:])
	return size == 3 && r >= highSurrogate && r < lowSurrogate
}

// indexUnits looks for units in one pass: back[i] is how much of text[:i+1] stands at its end as well as at its start.
func indexUnits(s, text []uint16) int {
	back := make([]int, len(text))
	for i, n := 1, 0; i < len(text); i++ {
		for n > 0 && text[i] != text[n] {
			n = back[n-1]
		}
		if text[i] == text[n] {
			n++
		}
		back[i] = n
	}
	n := 0
	for i, u := range s {
		for n > 0 && u != text[n] {
			n = back[n-1]
		}
		if u == text[n] {
			n++
		}
		if n == len(text) {
			return i + 1 - n
		}
	}
	return -1
}

// Compare orders two texts by their UTF-16 units: the ordinal order of ids (CONTRACT P3). It is not the order of the
// UTF-8 bytes: U+1F600 stands before U+E000.
func Compare(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return len(a) - len(b)
	}
	if a[i] < surrogateLead && b[i] < surrogateLead { // below the surrogates bytes and units have one order
		return int(a[i]) - int(b[i])
	}
	return slices.Compare(Units(a), Units(b))
}

// surrogateLead is the first byte of the halves of pairs, and of some code points before them.
const surrogateLead = 0xED

// Lower folds letter by letter without a culture and never changes the length in units: U+0130 stays, a final sigma is
// no special case (llamabrain.md §0).
func Lower(s string) string {
	changed, small := -1, 0
	for small < len(s) && s[small] < utf8.RuneSelf && (s[small] < 'A' || s[small] > 'Z') {
		small++
	}
	for i := small; i < len(s); {
		r, size := decode(s[i:])
		if lower(r) != r {
			changed = i
			break
		}
		i += size
	}
	if changed < 0 {
		return s
	}
	dst := append(make([]byte, 0, len(s)+8), s[:changed]...)
	for i := changed; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, size := decode(s[i:])
		dst = appendRune(dst, lower(r))
		i += size
	}
	return string(dst)
}

func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	if r == 0x130 {
		return r
	}
	return unicode.ToLower(r)
}

// EqualFold tells whether two texts are the same where every letter is its capital: the ordinal comparison that ignores
// case. U+0131 and U+017F keep to themselves, as everywhere where no culture makes them an ASCII letter.
func EqualFold(a, b string) bool {
	for len(a) > 0 && len(b) > 0 {
		ra, na := decode(a)
		rb, nb := decode(b)
		if ra != rb && upper(ra) != upper(rb) {
			return false
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) == len(b)
}

func upper(r rune) rune {
	if r == 0x131 || r == 0x17F {
		return r
	}
	return unicode.ToUpper(r)
}

// IsSpace tells whether a rune is white space: Unicode White_Space (llamabrain.md §0).
func IsSpace(r rune) bool { return unicode.IsSpace(r) }

// Trim takes white space from both ends.
func Trim(s string) string { return strings.TrimFunc(s, IsSpace) }

// TrimEnd takes white space from the end.
func TrimEnd(s string) string { return strings.TrimRightFunc(s, IsSpace) }

// Blank tells whether a text is empty or white space only.
func Blank(s string) bool { return Trim(s) == "" }

// UTF8 gives the text as the runtime writes it: each half of a pair is U+FFFD.
func UTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	dst := make([]byte, 0, len(s))
	for len(s) > 0 {
		r, size := decode(s)
		if r >= highSurrogate && r <= lastSurrogate {
			r = utf8.RuneError
		}
		dst = utf8.AppendRune(dst, r)
		s = s[size:]
	}
	return string(dst)
}
