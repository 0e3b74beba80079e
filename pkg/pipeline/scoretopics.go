package pipeline

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// topicSet has the topics of a query, folded for the two ways in which they are looked for.
type topicSet struct {
	raw     []string
	lower   []string   // inside a text
	upper   [][]uint16 // as the domain of a fact; nil until one is asked for
	scratch []byte
}

func topicsOf(raw []string) topicSet {
	ts := topicSet{raw: raw}
	for _, t := range raw {
		ts.lower = append(ts.lower, dotnet.Lower(t))
	}
	return ts
}

func (ts *topicSet) none() bool { return len(ts.lower) == 0 }

// hit says that a text names a topic. llamabrain.md §2: an empty topic is in every text but the empty one.
func (ts *topicSet) hit(text string) bool {
	if ts.none() || text == "" {
		return false
	}
	ts.scratch = appendLower(ts.scratch[:0], text)
	return slices.ContainsFunc(ts.lower, func(t string) bool { return bytes.Contains(ts.scratch, []byte(t)) })
}

// in is hit for a text that is in lower case already.
func (ts *topicSet) in(low string) bool {
	return low != "" && slices.ContainsFunc(ts.lower, func(t string) bool { return strings.Contains(low, t) })
}

// appendLower appends a text in lower case, without allocating where it is ASCII.
func appendLower(dst []byte, text string) []byte {
	start := len(dst)
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return append(dst[:start], dotnet.Lower(text)...)
		}
		dst = append(dst, lowerByte(text[i]))
	}
	return dst
}

// domain says that a domain is one of the topics, ignoring case.
func (ts *topicSet) domain(domain string) bool {
	if ts.none() {
		return false
	}
	if ts.upper == nil {
		for _, t := range ts.raw {
			ts.upper = append(ts.upper, upper(t))
		}
	}
	folded := upper(domain)
	return slices.ContainsFunc(ts.upper, func(t []uint16) bool { return slices.Equal(t, folded) })
}

// upper folds for an ordinal comparison that ignores case: unit by unit, and no letter becomes an ASCII one.
func upper(s string) []uint16 {
	units := dotnet.Units(s)
	for i, u := range units {
		if r := unicode.ToUpper(rune(u)); u < unicode.MaxASCII || r > unicode.MaxASCII {
			units[i] = uint16(r)
		}
	}
	return units
}
