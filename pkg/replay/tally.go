package replay

import (
	"maps"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
)

// checkID names the comparison of a turn's context with the stored one (X5).
const checkID = "X5.context"

// with adds a later part.
func (t tally) with(later tally) tally {
	sum := tally{
		equal: t.equal + later.equal, changed: t.changed + later.changed, echoes: t.echoes + later.echoes,
		notChecked: maps.Clone(t.notChecked), pins: slices.Clone(t.pins),
	}
	sum.findings.Join(t.findings)
	sum.findings.Join(later.findings)
	for _, reason := range canon.SortedKeys(later.notChecked) {
		sum.notChecked[reason] += later.notChecked[reason]
	}
	for _, p := range later.pins {
		sum.pinned(p)
	}
	return sum
}

// add lists a finding. Its values are copied: they are parts of payloads that nobody keeps.
func (t *tally) add(f finding.Finding) {
	f.Expected, f.Actual = slices.Clone(f.Expected), slices.Clone(f.Actual)
	t.findings.Add(f)
}

// pinned counts the decisions of a configuration.
func (t *tally) pinned(p pin) {
	for i := range t.pins {
		if t.pins[i].digest == p.digest {
			t.pins[i].count += p.count
			return
		}
	}
	t.pins = append(t.pins, p)
}

// turns counts the decisions.
func (t tally) turns() int {
	n := t.equal + t.changed
	for _, reason := range canon.SortedKeys(t.notChecked) {
		n += t.notChecked[reason]
	}
	return n
}

func (t tally) checks() []finding.Check {
	var checks []finding.Check
	checks = appendCount(checks, finding.Passed, t.equal, "")
	checks = appendCount(checks, finding.Failed, t.changed, "")
	for _, reason := range canon.SortedKeys(t.notChecked) {
		checks = appendCount(checks, finding.NotChecked, t.notChecked[reason], reason)
	}
	return checks
}

func appendCount(checks []finding.Check, status finding.Status, n int, reason string) []finding.Check {
	if n == 0 {
		return checks
	}
	return append(checks, finding.Check{ID: checkID, Status: status, Count: n, Reason: reason})
}
