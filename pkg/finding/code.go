package finding

import (
	"slices"
	"sync"
)

// Code is a reason code, `layer.problem` in snake case. A code is never renamed and never reused.
type Code string

// Effect is what an error with a code does to a verdict.
type Effect string

// The effects.
const (
	None    Effect = "none"    // warnings and notes
	Fails   Effect = "fails"   // verify: fail; in a comparison: undecided (CONTRACT E1)
	Rejects Effect = "rejects" // undecided: the claim cannot be made (CONTRACT V3)
	Differs Effect = "differs" // divergent
	// Incomparable makes a comparison undecided whatever else differs (CONTRACT E2).
	Incomparable Effect = "incomparable"
	Trouble      Effect = "trouble" // exit code 2
)

// Entry is one row of the code table. From it come `dmpl explain`, docs/reasons.md and the rule lists of other formats.
type Entry struct {
	Code     Code
	Rule     string // contract clause
	Severity Severity
	Effect   Effect
	Title    string // a clause in lower case, without full stop
	Meaning  string
	Causes   string
	Action   string
}

// entries and byCode are made when a code is first asked for: most commands start without.
var entries = sync.OnceValue(func() []Entry {
	return slices.Concat(
		evidenceEntries, streamEntries, runEntries, storeEntries, ledgerEntries, auditEntries, equivEntries, stageEntries, streamDiffEntries, auditDiffEntries,
		replayEntries, replayStoreEntries, auditReplayEntries,
	)
})

// Entries gives the whole table in the order of its layers.
func Entries() []Entry { return entries() }

// Lookup gives the row of a code; the zero Entry when there is none.
func Lookup(code Code) Entry {
	if i, ok := byCode()[code]; ok {
		return entries()[i]
	}
	return Entry{}
}

var byCode = sync.OnceValue(func() map[Code]int {
	m := make(map[Code]int, len(entries()))
	for i, e := range entries() {
		m[e.Code] = i
	}
	return m
})

// New makes a finding of the code's own severity, at no event.
func New(code Code) Finding {
	return Finding{Code: code, Severity: Lookup(code).Severity, Class: Independent, EventIndex: NoEvent}
}
