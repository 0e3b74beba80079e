package memory_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// D9: each rule lets one buffer pass and rejects another; the first rule that says no decides.
func TestEachCommitRuleAppliesAndRejects(t *testing.T) {
	good := memory.Write{Op: memory.Append, Record: memory.Record{Type: "note", Content: []byte(`{}`)}}
	good.Record.Source, good.Record.Namespace = memory.ValidatedOutput, "town"
	with := func(change func(*memory.Write)) []memory.Write {
		w := good
		change(&w)
		return []memory.Write{good, w}
	}
	hooks := map[string]func([]memory.Write) string{"never": func([]memory.Write) string { return "never" }, "ever": func([]memory.Write) string { return "" }}
	tests := []struct {
		rule   memory.CommitRule
		writes []memory.Write
		gate   bool
		want   string
	}{
		{memory.CommitRule{Rule: "record_types", Values: []string{"note"}}, with(func(*memory.Write) {}), true, ""},
		{memory.CommitRule{Rule: "record_types", Values: []string{"note"}}, with(func(w *memory.Write) { w.Record.Type = "Note" }), true, `write 1 is of the type "Note"`},
		{memory.CommitRule{Rule: "record_types"}, with(func(*memory.Write) {}), true, `write 0 is of the type "note"`},
		{memory.CommitRule{Rule: "namespaces", Values: []string{"town"}}, with(func(*memory.Write) {}), true, ""},
		{memory.CommitRule{Rule: "namespaces", Values: []string{"town"}}, with(func(w *memory.Write) { w.Record.Namespace = "" }), true, `write 1 is in the namespace ""`},
		{memory.CommitRule{Rule: "least_trust", Limit: 50}, with(func(*memory.Write) {}), true, ""},
		{memory.CommitRule{Rule: "least_trust", Limit: 50}, with(func(w *memory.Write) { w.Record.Trust = ptr(49) }), true, "write 1 has the trust 49, and 50 is the least"},
		{memory.CommitRule{Rule: "least_trust", Limit: 50}, with(func(w *memory.Write) { w.Op, w.Record.Trust, w.Record.Source = memory.Delete, ptr(90), 25 }), true, "write 1 has the trust 25, and 50 is the least"},
		{memory.CommitRule{Rule: "most_writes", Limit: 2}, with(func(*memory.Write) {}), true, ""},
		{memory.CommitRule{Rule: "most_writes", Limit: 1}, with(func(*memory.Write) {}), true, "2 writes, and at most 1 are allowed"},
		{memory.CommitRule{Rule: "gate_passed"}, nil, true, ""},
		{memory.CommitRule{Rule: "gate_passed"}, nil, false, "the gate did not pass"},
		{memory.CommitRule{Rule: "hook", Hook: "ever"}, nil, true, ""},
		{memory.CommitRule{Rule: "hook", Hook: "never"}, nil, true, "never"},
	}
	for _, tt := range tests {
		tt.rule.ID = "id"
		set := memory.PolicySet{Commit: []memory.CommitRule{{ID: "first", Rule: "most_writes", Limit: 9}, tt.rule, {ID: "last", Rule: "hook", Hook: "ever"}}}
		got, err := set.JudgeCommit(tt.writes, tt.gate, hooks)
		want := memory.Judged{}
		if tt.want != "" {
			want = memory.Judged{RuleID: "id", Detail: tt.want}
		}
		if err != nil || got != want || got.Rejected() != (tt.want != "") {
			t.Errorf("%+v: %+v, %v", tt.rule, got, err)
		}
	}
	for _, rule := range []memory.CommitRule{{Rule: "hook", Hook: "none"}, {Rule: "no_rule"}} {
		set := memory.PolicySet{Commit: []memory.CommitRule{rule}}
		if got, err := set.JudgeCommit(nil, true, hooks); err == nil {
			t.Errorf("%+v: %+v", rule, got)
		}
	}
}

// M2: never more than was asked for, and nothing that is misspelt.
func TestVisibilityIsNeverMoreThanAsked(t *testing.T) {
	tests := []struct {
		access memory.Access
		want   memory.Visibility // empty: refused
	}{
		{memory.Access{}, memory.ReadOnly},
		{memory.Access{Environment: "ci", BufferedWrite: []string{"ci"}, NonDeterministic: true}, memory.ReadOnly},
		{memory.Access{Mode: "off"}, memory.VisibilityOff},
		{memory.Access{Mode: "read_only"}, memory.ReadOnly},
		{memory.Access{Mode: "Read_Only"}, ""},
		{memory.Access{Mode: " read_only"}, ""},
		{memory.Access{Mode: "write"}, ""},
		{memory.Access{Mode: "buffered_write"}, ""},
		{memory.Access{Mode: "buffered_write", Environment: "ci"}, ""},
		{memory.Access{Mode: "buffered_write", BufferedWrite: []string{"ci", ""}}, ""},
		{memory.Access{Mode: "buffered_write", Environment: "CI", BufferedWrite: []string{"ci"}}, ""},
		{memory.Access{Mode: "buffered_write", Environment: "prod", BufferedWrite: []string{"ci"}, NonDeterministic: true}, ""},
		{memory.Access{Mode: "buffered_write", Environment: "ci", BufferedWrite: []string{"dev", "ci"}}, memory.BufferedWrite},
		{memory.Access{Mode: "buffered-write", Environment: "ci", BufferedWrite: []string{"ci"}}, ""},
		{memory.Access{Mode: "live_read_write"}, ""},
		{memory.Access{Mode: "live_read_write", Environment: "ci", BufferedWrite: []string{"ci"}}, ""},
		{memory.Access{Mode: "live_read_write", NonDeterministic: true}, ""},
		{memory.Access{Mode: "live_read_write", Environment: "prod", BufferedWrite: []string{"ci"}, NonDeterministic: true}, ""},
		{memory.Access{Mode: "live_read_write", Environment: "ci", BufferedWrite: []string{"ci"}, NonDeterministic: true}, memory.LiveReadWrite},
		{memory.Access{Mode: "live-read-write", Environment: "ci", BufferedWrite: []string{"ci"}, NonDeterministic: true}, ""},
	}
	for _, tt := range tests {
		got, err := tt.access.Visibility()
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v: %q, %v", tt.access, got, err)
		}
	}
}
