package replay

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/jsondiff"
	"github.com/dmpl/dmpl/pkg/trace"
)

// linkage are the members of events and rows that are run-local: what they link is compared, never they themselves (W).
var linkage = []string{"/event_id", "/run_id", "/retrieval_event_id"}

// remarks compare what no rule of E compares: a replay makes every member of an event and of a row again, the keys of a ranking
// and its candidates among them (P3, R7). Where something else is said about the event already, this says nothing.
func (r *replayed) remarks(fs []finding.Finding) []finding.Finding {
	var more []finding.Finding
	told := map[int]bool{}
	for i := range fs {
		if finding.Lookup(fs[i].Code).Effect == finding.Differs {
			told[fs[i].EventIndex] = true
		}
	}
	was, is := r.recorded, r.rebuilt
	for i := range min(len(was.Events), len(is.Events)) {
		if e := &was.Events[i]; e.Index == is.Events[i].Index && !told[e.Index] {
			more = append(more, remark(was.Path, e.Pointer(), e.Index, e.Field, is.Events[i].Field)...)
		}
	}
	if was.Retrieval == nil || is.Retrieval == nil {
		return more
	}
	indices := map[string]int{} // of the events that were made, by their ids as they were written
	for i := range is.Events {
		indices[string(is.Events[i].ID.Raw)] = is.Events[i].Index
	}
	for i := range min(len(was.Retrieval.Rows), len(is.Retrieval.Rows)) {
		row, made := &was.Retrieval.Rows[i], &is.Retrieval.Rows[i]
		index, ok := indices[string(made.EventID.Raw)]
		if !ok {
			index = finding.NoEvent
		}
		if !told[index] {
			more = append(more, remark(was.Retrieval.Path, was.Retrieval.RowPointer(row.Position), index, row.Field, made.Field)...)
		}
	}
	return more
}

// remark names the first member that differs, if there is one.
func remark(path, pointer string, index int, was, is trace.Field) []finding.Finding {
	if bytes.Equal(was.Raw, is.Raw) {
		return nil
	}
	left, errLeft := canon.Parse(was.Raw)
	right, errRight := canon.Parse(is.Raw)
	if errLeft != nil || errRight != nil {
		return nil
	}
	differences := slices.DeleteFunc(jsondiff.Compare(left, right), func(d jsondiff.Difference) bool { return slices.Contains(linkage, d.Pointer) })
	if len(differences) == 0 {
		return nil
	}
	first := differences[0]
	f := finding.New(finding.ReplayRecordDiffers)
	f.Artifact, f.RightArtifact, f.EventIndex = path, path, index
	f.Pointer, f.RightPointer = pointer+first.Pointer, pointer+first.Pointer
	f.Expected, f.Actual = finding.Value(first.Left.Raw()), finding.Value(first.Right.Raw())
	f.Detail = fmt.Sprintf("%s is recorded otherwise than it is made", first.Pointer)
	if len(differences) > 1 {
		f.Detail += " (and " + strconv.Itoa(len(differences)-1) + " more)"
	}
	f.Hint = "Edited after the run; or what it is made of was: turns.jsonl, candidates.jsonl, snapshot.json, policies.json, config.json."
	return []finding.Finding{f}
}
