package equiv

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
)

// fileComparer collects what the rules see of two files that are no runs of events.
type fileComparer struct {
	left, right string // paths
	result      finding.Result
}

func (c *fileComparer) tally(id string, status finding.Status, reason string) {
	tallyOf(&c.result, id, status, reason, 1)
}

// takeOver makes what breaks a side's format a finding of the comparison (CONTRACT E1). Files of LlamaBrain have no V2 and
// no V3 (V0); what their hashes claim is verify's matter, and the hashes themselves are compared.
func (c *fileComparer) takeOver(id string, found []finding.Finding) {
	status := finding.Passed
	for _, f := range found {
		if f.Rule() != "V1" && f.Rule() != "C1" {
			continue
		}
		if f.Severity == finding.Error {
			status = finding.Failed
		}
		c.result.Findings = append(c.result.Findings, f)
	}
	c.tally(id, status, "")
}

// differ adds a difference.
func (c *fileComparer) differ(code finding.Code, at place, left, right []byte, detail string) *finding.Finding {
	f := finding.New(code)
	f.EventIndex, f.Subject, f.Pointer, f.RightPointer = at.index, at.subject, at.leftPointer, at.rightPointer
	f.Artifact, f.RightArtifact = cmp.Or(at.leftFile, c.left), cmp.Or(at.rightFile, c.right)
	f.Expected, f.Actual = left, right
	f.Detail, f.Hint = cmp.Or(detail, finding.Lookup(code).Title), finding.Lookup(code).Action
	c.result.Findings = append(c.result.Findings, f)
	return &c.result.Findings[len(c.result.Findings)-1]
}

// conclude applies the flags that ignore some findings, orders the rest and names the root (CONTRACT E11).
func (c *fileComparer) conclude(o Options) {
	for _, what := range o.Ignore {
		c.result.Ignored = append(c.result.Ignored, ignoreDifferences(&c.result, what))
	}
	promote(&c.result)
	c.result.Judge(true)
}

// ignoreDifferences takes findings with a code, or differences at or below a pointer, out of the verdict.
func ignoreDifferences(r *finding.Result, what string) finding.Ignored {
	before := len(r.Findings)
	r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool {
		if !strings.HasPrefix(what, "/") {
			return string(f.Code) == what
		}
		return f.RightArtifact != "" && (below(f.Pointer, what) || below(f.RightPointer, what))
	})
	return finding.Ignored{What: what, Reason: "--ignore", Count: before - len(r.Findings)}
}

func quoteText(text string) []byte { return canon.QuoteASCII(nil, []byte(text)) }

// couple is what stands for one thing on both sides; nil where a side has none.
type couple[T any] struct{ left, right *T }

// pairUp pairs by key, repeats in order: the left list in its order with what belongs to each, then what the right has
// alone. What finds nothing under the first key is looked for under the next.
func pairUp[T any](left, right []*T, keys ...func(*T) string) []couple[T] {
	pairs := make([]couple[T], len(left))
	for i, e := range left {
		pairs[i].left = e
	}
	rest := right
	for _, key := range keys {
		waiting := map[string][]int{}
		for i := range pairs {
			if pairs[i].right == nil {
				k := key(pairs[i].left)
				waiting[k] = append(waiting[k], i)
			}
		}
		var alone []*T
		for _, e := range rest {
			k := key(e)
			if places := waiting[k]; len(places) > 0 {
				pairs[places[0]].right, waiting[k] = e, places[1:]
				continue
			}
			alone = append(alone, e)
		}
		rest = alone
	}
	for _, e := range rest {
		pairs = append(pairs, couple[T]{right: e})
	}
	return pairs
}
