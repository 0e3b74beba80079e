package equiv_test

import (
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
)

func flip(v any) bool {
	l, _ := v.(list)
	slices.Reverse(l)
	return len(l) > 1
}

func shuffleEvents(r run) bool { return flip(any(r.events())) }

func shuffleRecords(r run) bool {
	changed := false
	for _, row := range r.rowObjects() {
		changed = flip(row["selected_records"]) || changed
	}
	return changed
}

func shuffleGuardrails(r run) bool {
	changed := false
	for _, e := range r.eventObjects() {
		changed = flip(e["guardrails_triggered"]) || changed
	}
	return changed
}

// shuffleRows moves rows that events link; E6 pairs the others in row order.
func shuffleRows(r run) bool {
	rows, _ := r.rowList()
	linked := map[any]bool{}
	for _, e := range r.eventObjects() {
		for _, link := range e["retrieval_event_ids"].(list) {
			linked[link] = true
		}
	}
	for _, row := range r.rowObjects() {
		if !linked[row["retrieval_event_id"]] {
			return false
		}
	}
	return flip(any(rows))
}

// E1–E8, V2: the order in which a side stores events, records, members and guardrails changes the verdict of no pair.
func TestStoredOrderChangesNoVerdict(t *testing.T) {
	shuffles := []harmless{
		{"events", shuffleEvents}, {"records", shuffleRecords}, {"guardrails", shuffleGuardrails}, {"members", func(run) bool { return true }},
	}
	eachPair(t, func(t *testing.T, dir string, want wanted) {
		left, right, ok := readPair(t, dir, want)
		if !ok {
			return
		}
		o := options(t, dir, want.Args)
		if o.Ignore != nil {
			return // a pointer names places by the stored order
		}
		before := equiv.Compare(left, right, o)
		for _, s := range shuffles {
			r := run{path: dir}
			var err error
			if r.trace, err = decodeFile(right.Trace.Path); err != nil {
				t.Fatal(err)
			}
			if right.Trace.Retrieval != nil {
				if r.rows, err = decodeFile(right.Trace.Retrieval.Path); err != nil {
					t.Fatal(err)
				}
			}
			s.change(r)
			after := equiv.Compare(left, r.side(t, spelling{reversed: s.name == "members"}), o)
			if before.Verdict != after.Verdict || !slices.Equal(codes(errorsOf(before)), codes(errorsOf(after))) {
				t.Errorf("%s: %s %v before, %s %v after", s.name, before.Verdict, codes(errorsOf(before)), after.Verdict, codes(errorsOf(after)))
			}
		}
	})
}
