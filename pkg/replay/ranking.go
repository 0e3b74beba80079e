package replay

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/trace"
)

// explainRankings says of each retrieval whose records differ why: policy version, candidate set, filter, limit, score or tie.
func (r *replayed) explainRankings(fs []finding.Finding) {
	if r.recorded.Retrieval == nil || r.rebuilt.Retrieval == nil {
		return
	}
	for i := range fs {
		f := &fs[i]
		if f.Code != finding.EquivRecords {
			continue
		}
		left, okLeft := rowAt(r.recorded.Retrieval, f.Pointer)
		right, okRight := rowAt(r.rebuilt.Retrieval, f.RightPointer)
		if okLeft && okRight {
			f.Detail += ": " + whyRanked(left, right)
		}
	}
}

// rowAt gives the row that a pointer leads into.
func rowAt(t *trace.Retrieval, pointer string) (*trace.Row, bool) {
	rest, ok := strings.CutPrefix(pointer, t.Prefix+"/")
	number, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(number)
	for i := range t.Rows {
		if t.Rows[i].Position == n && ok && err == nil {
			return &t.Rows[i], true
		}
	}
	return nil, false
}

// whyRanked gives the first reason that holds, from what the ranking is made of to the ranking itself.
func whyRanked(was, is *trace.Row) string {
	if !was.PolicyID.Same(is.PolicyID) || !was.PolicyVersion.Same(is.PolicyVersion) {
		return fmt.Sprintf("policy version: %s %s was applied, now %s %s",
			was.PolicyID.Text(), was.PolicyVersion.Text(), is.PolicyID.Text(), is.PolicyVersion.Text())
	}
	if changes := pipeline.CompareCandidates(candidates(was), candidates(is)); len(changes) > 0 {
		return fmt.Sprintf("candidate set: the search gave something else for %q", changes[0].RecordID)
	}
	if !was.Filters.Same(is.Filters) {
		return fmt.Sprintf("filter: %s was applied, now %s", was.Filters.Raw, is.Filters.Raw)
	}
	if !was.Order.Same(is.Order) && was.Order.Ok() && is.Order.Ok() {
		return fmt.Sprintf("order: by %s, now by %s", was.Order.Text(), is.Order.Text())
	}
	return whyOrdered(was, is)
}

func whyOrdered(was, is *trace.Row) string {
	before, now := byID(was), byID(is)
	for _, record := range was.Records {
		id := record.ID.Text()
		if other, ok := now[id]; ok && !record.Score.Same(other.Score) {
			return fmt.Sprintf("score: %q had %s, and has %s now", id, record.Score.Raw, other.Score.Raw)
		}
	}
	short := min(len(was.Records), len(is.Records))
	same := true
	for i := range short {
		same = same && was.Records[i].ID.Same(is.Records[i].ID)
	}
	switch {
	case same && len(was.Records) != len(is.Records) && was.CandidateCount.Same(is.CandidateCount):
		return fmt.Sprintf("limit: %s taken of %s, now %d", finding.Counted(len(was.Records), "record"), was.CandidateCount.Raw, len(is.Records))
	case len(before) == len(now) && containsAll(before, now):
		return "tie: equal scores are ordered otherwise"
	case !was.CandidateCount.Same(is.CandidateCount):
		return fmt.Sprintf("memory: %s records were ranked, now %s", was.CandidateCount.Raw, is.CandidateCount.Raw)
	}
	return "memory: other records were ranked"
}

func byID(w *trace.Row) map[string]trace.Record {
	m := make(map[string]trace.Record, len(w.Records))
	for _, record := range w.Records {
		m[record.ID.Text()] = record
	}
	return m
}

func containsAll(a, b map[string]trace.Record) bool {
	for _, id := range canon.SortedKeys(a) {
		if _, ok := b[id]; !ok {
			return false
		}
	}
	return true
}

// candidates gives what a row says that a backend returned (R7).
func candidates(w *trace.Row) []pipeline.Candidate {
	value, err := canon.Parse(w.Raw)
	if err != nil {
		return nil
	}
	var list []pipeline.Candidate
	document.Open(value).Each("candidates", func(o *document.Object) {
		list = append(list, pipeline.Candidate{RecordID: o.Text("record_id", ""), Score: o.Real("score", 0)})
	})
	return list
}
