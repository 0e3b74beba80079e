package equiv_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
)

// gatewayFolders lists a folder of the vectors beside the project; nil where it is missing, which is said.
func gatewayFolders(t *testing.T, name string, least int) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(gatewayVectors, name))
	if err != nil {
		t.Skipf("NOT RUN, VECTORS MISSING: %s/%s: %v", gatewayVectors, name, err)
	}
	if len(entries) < least {
		t.Fatalf("%d folders in %s, want %d at least", len(entries), name, least)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

var streamFiles = []string{"snapshot.json", "trail.sqlite"}

// X8: the same requests sent to two gateways give equivalent streams: run ids and clocks count for nothing.
func TestTwoRunsOfTheSameRequestsAreEquivalent(t *testing.T) {
	gatewayFolders(t, "streams", 17)
	for _, tt := range []struct {
		left, right string
		codes       []finding.Code
	}{
		{"s01_chat_refs", "s16_rerun_of_s01", nil},
		{"s05_auto_context", "s17_rerun_of_s05", []finding.Code{finding.StreamDiffObservational}},
	} {
		for _, l := range streamFiles {
			for _, r := range streamFiles {
				left := openStream(t, filepath.Join(gatewayVectors, "streams", tt.left, l))
				right := openStream(t, filepath.Join(gatewayVectors, "streams", tt.right, r))
				got := compareStreams(t, left, right, equiv.Options{})
				if got.Verdict != finding.Equivalent || !slices.Equal(codesOf(got), tt.codes) {
					t.Errorf("%s/%s, %s/%s: %s with %v", tt.left, l, tt.right, r, got.Verdict, codesOf(got))
				}
			}
		}
	}
}

// X8: every stream of the gateway equals itself, from both of its files.
func TestEveryGatewayStreamEqualsItself(t *testing.T) {
	for _, name := range gatewayFolders(t, "streams", 17) {
		dir := filepath.Join(gatewayVectors, "streams", name)
		left := openStream(t, plainOrPacked(t, filepath.Join(dir, "snapshot.json")))
		trail := "trail.sqlite"
		if name == "s14_wal_live" {
			trail = "live.sqlite"
		}
		right := openStream(t, plainOrPacked(t, filepath.Join(dir, trail)))
		r := compareStreams(t, left, right, equiv.Options{})
		if slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule() == "X8" }) || r.Verdict != finding.Equivalent {
			t.Errorf("%s: %s with %+v", name, r.Verdict, r.Findings)
		}
	}
}

// plainOrPacked gives the path of a file that may be there as gzip only.
func plainOrPacked(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return path + ".gz"
}

// tampered says what a comparison with the untouched stream gives for each kind of tampering, and what X8 says of it. What X8
// does not look at leaves the verdict undecided all the same: verify finds it on its side (E1). One kind alone is equivalent.
var tampered = map[string]struct {
	verdict finding.Verdict
	codes   []finding.Code
}{
	"obs_changed": {finding.Equivalent, nil}, // _obs: no check covers it

	"canon_len":              {finding.Undecided, nil}, // stored beside the payload
	"context_digest":         {finding.Undecided, nil}, // a stored digest: contexts are compared themselves
	"lane_column":            {finding.Undecided, nil}, // in no digest
	"prev_event_digest":      {finding.Undecided, nil}, // a chain
	"resolved_refs_reversed": {finding.Undecided, nil}, // the context's normal form sorts them
	"trace_changed":          {finding.Undecided, nil}, // a trace
	"v_digest":               {finding.Undecided, nil}, // a chain
	"intent_index":           {finding.Undecided, []finding.Code{finding.StreamDiffDecisionNote}},
	"exec_output":            {finding.Undecided, []finding.Code{finding.StreamDiffExecutionNote}},
	"exec_text_in_messages":  {finding.Undecided, []finding.Code{finding.StreamDiffObservational}},

	"config_digest":  {finding.Undecided, []finding.Code{finding.StreamDiffConfiguration}},
	"policy_version": {finding.Undecided, []finding.Code{finding.StreamDiffConfiguration}},
	"drop_gap":       {finding.Undecided, []finding.Code{finding.StreamDiffIndexSet}},

	"correlation_id":       {finding.Divergent, []finding.Code{finding.StreamDiffTurn}},
	"cross_thread_ref":     {finding.Divergent, []finding.Code{finding.StreamDiffContext}},
	"drop_renumber":        {finding.Divergent, []finding.Code{finding.StreamDiffEventCount}},
	"duplicate":            {finding.Divergent, []finding.Code{finding.StreamDiffEventCount}},
	"intent_message":       {finding.Divergent, []finding.Code{finding.StreamDiffIntent}},
	"ref_event_digest":     {finding.Divergent, []finding.Code{finding.StreamDiffContext}},
	"reorder":              {finding.Divergent, []finding.Code{finding.StreamDiffKind}},
	"smuggled_exec_digest": {finding.Divergent, []finding.Code{finding.StreamDiffContext}},
	"truncate_tail":        {finding.Divergent, []finding.Code{finding.StreamDiffEventCount}},
	"user_input_byte":      {finding.Divergent, []finding.Code{finding.StreamDiffContext}},
}

// ofVerify says that a finding is an error of one side.
func ofVerify(f finding.Finding) bool { return f.Severity == finding.Error && f.Rule() != "X8" }

// E1, X8: no tampering that changes something that is compared is called equivalent.
func TestTamperedStreamsAgainstTheirBase(t *testing.T) {
	for _, name := range gatewayFolders(t, "tampered", 40) {
		t.Run(name, func(t *testing.T) {
			base, kind, _ := strings.Cut(name, "__")
			kind = strings.TrimSuffix(kind, "__rehashed")
			want, known := tampered[kind]
			if !known {
				t.Fatalf("nobody said what becomes of %s", kind)
			}
			for _, file := range streamFiles {
				left := openStream(t, filepath.Join(gatewayVectors, "streams", base, "snapshot.json"))
				right := openStream(t, filepath.Join(gatewayVectors, "tampered", name, file))
				r := compareStreams(t, left, right, equiv.Options{})
				if r.Verdict != want.verdict {
					t.Errorf("%s: %s with %v, want %s", file, r.Verdict, codesOf(r), want.verdict)
				}
				for _, code := range want.codes {
					if !slices.Contains(codesOf(r), code) {
						t.Errorf("%s: %v, without %s", file, codesOf(r), code)
					}
				}
				if want.verdict == finding.Undecided && !slices.ContainsFunc(r.Findings, ofVerify) {
					t.Errorf("%s: %v, and nothing of verify", file, codesOf(r))
				}
				checkStreamMirror(t, left, right, r)
			}
		})
	}
}
