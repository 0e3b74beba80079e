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
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		start, end := longRun(text)
		out = append(out, norm.NFC.Bytes(text[:start])...)
		out = compose(out, text[start:end])
		text = text[end:]
	}
	return out
}

// runLimit keeps well below the 30 combining marks after which the norm package puts in a U+034F of its own
// (the Stream-Safe Text Process, which is no part of NFC). One rune decomposes to four at the most.
const runLimit = 7

// longRun finds the first starter with so many joining runes behind it that norm may break them up, and gives its
// span with theirs: an empty one at the end of text when there is none. Nothing composes across the span's ends.
func longRun(text []byte) (start, end int) {
	run := 0
	for i := 0; i < len(text); {
		p := norm.NFC.Properties(text[i:])
		switch joins := !p.BoundaryBefore() || p.LeadCCC() != 0; {
		case joins:
			run++
		case run >= runLimit:
			return start, i
		default:
			start, run = i, 0
		}
		i += max(p.Size(), 1)
	}
	if run >= runLimit {
		return start, len(text)
	}
	return len(text), len(text)
}

// mark is a rune with its canonical combining class; class 0 is a starter.
type mark struct {
	rune  rune
	class uint8
}

// compose appends the NFC of text as the Unicode standard states it (UAX #15): decompose, order the marks, compose with
// the last starter. The norm package answers for single runes and pairs, which no run limit touches.
func compose(out, text []byte) []byte {
	marks := decompose(text)
	kept, starter, last := marks[:0], -1, uint8(0)
	for _, m := range marks {
		blocked := len(kept)-1 > starter && last >= m.class
		if starter >= 0 && !blocked {
			if joined, ok := pair(kept[starter].rune, m.rune); ok {
				kept[starter].rune = joined
				continue
			}
		}
		if m.class == 0 {
			starter = len(kept)
		}
		last = m.class
		kept = append(kept, m)
	}
	for _, m := range kept {
		out = utf8.AppendRune(out, m.rune)
	}
	return out
}

// decompose gives the runes of the canonical decomposition, marks in canonical order.
func decompose(text []byte) []mark {
	var marks []mark
	for i := 0; i < len(text); {
		p := norm.NFD.Properties(text[i:])
		size := max(p.Size(), 1)
		parts := p.Decomposition()
		if parts == nil {
			parts = norm.NFD.Bytes(text[i : i+size]) // Hangul is computed, not tabled
		}
		for len(parts) > 0 {
			c, n := utf8.DecodeRune(parts)
			marks = append(marks, mark{c, norm.NFC.Properties(parts).CCC()})
			parts = parts[n:]
		}
		i += size
	}
	for from := 0; from < len(marks); from++ {
		to := from
		for to < len(marks) && marks[to].class != 0 {
			to++
		}
		orderMarks(marks[from:to])
		from = to
	}
	return marks
}

// orderMarks sorts marks by class and keeps the order within a class, by counting: runs may be as long as a document.
func orderMarks(run []mark) {
	if len(run) < 2 {
		return
	}
	var next [256]int
	for _, m := range run {
		next[m.class]++
	}
	sum := 0
	for class, n := range next {
		next[class] = sum
		sum += n
	}
	for _, m := range slices.Clone(run) {
		run[next[m.class]] = m
		next[m.class]++
	}
}

// pair gives the primary composite of two runes, if there is one.
func pair(a, b rune) (rune, bool) {
	both := string(a) + string(b)
	joined := norm.NFC.String(both)
	c, size := utf8.DecodeRuneInString(joined)
	return c, size == len(joined) && joined != both
}
