// Package finding is what dmpl says about evidence: reason codes, findings, verdicts and the report that holds them.
//
// A finding says that dmpl did its job and what it saw. An error says that dmpl could not do its job.
// Nothing here knows a file format or a renderer.
package finding

import (
	"cmp"
	"slices"
	"strings"
)

// Severity is how much a finding weighs: only an [Error] changes a verdict.
type Severity string

// The three severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Class says how a finding relates to the others of its result (CONTRACT E11).
type Class string

// The three classes. The root is the lowest finding by (index, rule, pointer).
const (
	Root        Class = "root"
	Cascade     Class = "cascade"
	Independent Class = "independent"
)

// NoEvent is the event index of a finding that belongs to no event.
const NoEvent = -1

// Value is one JSON text as found in an artifact, or nil where there is no value.
// It is a span of the input wherever possible; renderers compact, cut and make it safe (CONTRACT Z3, Z5).
type Value []byte

// Finding is one thing seen (CONTRACT Z3). For a comparison, Artifact, Pointer and Expected are the left side's.
type Finding struct {
	Code     Code
	Severity Severity
	Class    Class

	Artifact      string // path as typed
	RightArtifact string // comparison only
	EventIndex    int    // the event's index, or NoEvent
	Subject       string // what inside the event, e.g. `tool call 0 (search)`; text from artifacts, untrusted
	Pointer       string // RFC 6901, inside Artifact
	RightPointer  string // RFC 6901, inside RightArtifact; comparison only

	Expected Value  // the left or the stated value
	Actual   Value  // the right or the recomputed value
	Detail   string // what to say in place of the code's title, without the values, e.g. "arguments differ at /q"
	Hint     string // what to do in place of the code's action
}

// Rule gives the contract clause that the finding's code stands for, e.g. "E4".
func (f Finding) Rule() string { return Lookup(f.Code).Rule }

// Sort orders findings by (event index, rule, pointer) and then by the rest, so that equal inputs give equal reports
// (CONTRACT E11). Findings of no event come first for rules up to E2, last for the others: the envelope is judged
// before the events, the output after them.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(position(a), position(b)),
			cmp.Compare(ruleRank(a.Rule()), ruleRank(b.Rule())),
			comparePointers(a.Pointer, b.Pointer),
			strings.Compare(string(a.Code), string(b.Code)),
			strings.Compare(a.Artifact, b.Artifact),
			strings.Compare(a.Detail, b.Detail),
		)
	})
}

func position(f Finding) int {
	if f.EventIndex != NoEvent {
		return f.EventIndex
	}
	switch f.Rule() {
	case "E3", "E6", "E8", "E9", "E10":
		return int(^uint(0) >> 1)
	}
	return -1
}

// ruleRank puts V before E and orders by number: "V2" < "V10" < "E1".
func ruleRank(rule string) int {
	if rule == "" {
		return 1 << 20
	}
	n := 0
	for _, c := range rule[1:] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return strings.IndexByte("CDVMXPRE", rule[0])<<10 + n
}

// comparePointers orders RFC 6901 pointers token by token, digits as numbers: /events/2 before /events/10.
func comparePointers(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a = nextToken(a)
		y, b = nextToken(b)
		if isIndex(x) && isIndex(y) && len(x) != len(y) {
			return cmp.Compare(len(x), len(y))
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func nextToken(p string) (token, rest string) {
	p = p[1:]
	if i := strings.IndexByte(p, '/'); i >= 0 {
		return p[:i], p[i:]
	}
	return p, ""
}

func isIndex(s string) bool {
	if s == "" || len(s) > 1 && s[0] == '0' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
