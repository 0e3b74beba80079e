package canon

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// stable tells, without tables, that a rune is in NFC whatever stands beside it: it has no decomposition, is no
// combining mark, and composes with nothing before it.
func stable(c rune) bool {
	return c < 0x300 || c >= 0x4E00 && c <= 0x9FFF || c >= 0xAC00 && c <= 0xD7A3 || c >= 0xE000 && c <= 0xF8FF
}

// NFC gives text in Unicode Normalization Form C: the same slice when it is so already (C3).
func NFC(text []byte) []byte {
	if norm.NFC.IsNormal(text) {
		return text
	}
	if longRun(text) {
		return compose(text)
	}
	return norm.NFC.Bytes(text)
}

// runLimit keeps well below the 30 combining marks after which the norm package puts in a U+034F of its own
// (the Stream-Safe Text Process, which is no part of NFC). One rune decomposes to four at the most.
const runLimit = 7

// longRun tells whether text has so many runes in a row that join the one before, that norm may break the run.
func longRun(text []byte) bool {
	run := 0
	for i := 0; i < len(text); {
		p := norm.NFD.Properties(text[i:])
		if p.BoundaryBefore() && p.LeadCCC() == 0 && norm.NFC.Properties(text[i:]).BoundaryBefore() {
			run = 0
		} else if run++; run >= runLimit {
			return true
		}
		i += max(p.Size(), 1)
	}
	return false
}

// compose is NFC as the Unicode standard states it (UAX #15): decompose, order the marks, compose with the last
// starter. The norm package answers for single runes and pairs, which no run limit touches.
func compose(text []byte) []byte {
	runes := decompose(text)
	out := runes[:0]
	starter, last := -1, uint8(0)
	for _, c := range runes {
		class := classOf(c)
		if starter >= 0 {
			blocked := len(out)-1 > starter && last >= class
			if joined, ok := pair(out[starter], c); ok && !blocked {
				out[starter] = joined
				continue
			}
		}
		if class == 0 {
			starter = len(out)
		}
		last = class
		out = append(out, c)
	}
	return []byte(string(out))
}

// decompose gives the runes of the canonical decomposition, marks in canonical order.
func decompose(text []byte) []rune {
	var runes []rune
	for i := 0; i < len(text); {
		p := norm.NFD.Properties(text[i:])
		size := max(p.Size(), 1)
		parts := p.Decomposition()
		if parts == nil {
			parts = norm.NFD.Bytes(text[i : i+size]) // Hangul is computed, not tabled
		}
		for len(parts) > 0 {
			c, n := utf8.DecodeRune(parts)
			runes = append(runes, c)
			parts = parts[n:]
		}
		i += size
	}
	for from := 0; from < len(runes); from++ {
		to := from
		for to < len(runes) && classOf(runes[to]) != 0 {
			to++
		}
		slices.SortStableFunc(runes[from:to], func(a, b rune) int { return int(classOf(a)) - int(classOf(b)) })
		from = to
	}
	return runes
}

func classOf(c rune) uint8 {
	if c < 0x300 {
		return 0
	}
	return norm.NFC.PropertiesString(string(c)).CCC()
}

// pair gives the primary composite of two runes, if there is one.
func pair(a, b rune) (rune, bool) {
	both := string(a) + string(b)
	joined := norm.NFC.String(both)
	c, size := utf8.DecodeRuneInString(joined)
	return c, size == len(joined) && joined != both
}
