package report

import (
	"iter"

	"github.com/dmpl/dmpl/pkg/finding"
)

// having walks the findings of one severity; a report may hold very many, so nothing is copied out.
func having(fs []finding.Finding, s finding.Severity) iter.Seq[finding.Finding] {
	return func(yield func(finding.Finding) bool) {
		for _, f := range fs {
			if f.Severity == s && !yield(f) {
				return
			}
		}
	}
}

func countOf(fs []finding.Finding, s finding.Severity) int {
	n := 0
	for range having(fs, s) {
		n++
	}
	return n
}

type counts struct{ passed, failed, notChecked int }

// count adds the checks up (CONTRACT V5). What an artifact's kind does not have counts nowhere (V0).
func count(checks []finding.Check) counts {
	var n counts
	for _, c := range checks {
		switch c.Status {
		case finding.Passed:
			n.passed += c.Count
		case finding.Failed:
			n.failed += c.Count
		case finding.NotChecked:
			n.notChecked += c.Count
		}
	}
	return n
}

func ignoredCount(ignored []finding.Ignored) int {
	n := 0
	for _, i := range ignored {
		n += i.Count
	}
	return n
}

// tally counts texts in the order of their first appearance.
type tally []struct {
	what string
	n    int
}

func (t *tally) add(what string) { t.addN(what, 1) }

func (t *tally) addN(what string, n int) {
	for i := range *t {
		if (*t)[i].what == what {
			(*t)[i].n += n
			return
		}
	}
	*t = append(*t, struct {
		what string
		n    int
	}{what, n})
}
