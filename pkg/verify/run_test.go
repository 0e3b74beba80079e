package verify_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

// verifyRun reads and checks the run in a folder.
func verifyRun(t *testing.T, dir string) finding.Result {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true, Coverage: 100})
}

// everything is a run with each thing that a run can have.
var everything = runtest.Features{
	Visibility: "buffered_write", Turns: 2, Retry: true, Tools: true, Retrieval: true, Candidates: true, References: true, Topics: true, Prompts: true,
	Chain: &run.Chain{Index: 1, PreviousRunID: "run-0", PreviousCommitID: "c"},
}

// V1, V3: with any one member removed that a schema or the catalogue of events requires, a run is no evidence of anything: its
// claim is rejected, although the manifest was made to fit. The table of what `dmpl run` emits is a test of cmd.
func TestWithoutARequiredMemberTheClaimIsRejected(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	removed := 0
	for _, file := range runFiles(t, base) {
		text, err := os.ReadFile(filepath.Join(base, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range sampleOf(file, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")) {
			for _, pointer := range members(t, line) {
				if optional(file, pointer) {
					continue
				}
				without := strings.Replace(string(text), line, remove(t, line, pointer), 1)
				runtest.Put(t, base, file, []byte(without))
				if file != run.ManifestFile {
					runtest.Repair(t, base)
				}
				removed++
				if r, err := run.Read(base, nil, 0); err == nil {
					if v := verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Verdict; v == finding.Pass {
						t.Errorf("%s without %s passes", file, pointer)
					}
				}
			}
			runtest.Put(t, base, file, text)
		}
		runtest.Put(t, base, file, text)
		runtest.Repair(t, base)
	}
	if result := verifyRun(t, base); result.Verdict != finding.Pass {
		t.Fatalf("the run was not put back: %+v", result.Findings)
	}
	if removed < 300 {
		t.Errorf("only %d members were removed: too few to tell", removed)
	}
	t.Logf("%d members were removed", removed)
}

// optional are the members that no schema requires and no check needs, by file, a pointer's beginning and why.
var optionalMembers = []struct{ file, pointer, why string }{
	{"manifest.json", "/chain/previous_run_id", "the first run of a chain has none; dmpl verify holds the runs of a folder to one another"},
	{"manifest.json", "/chain/previous_commit_id", "as above"},
	{"manifest.json", "/chain", "a run on its own"},
	{"snapshot.json", "/records/*/content/", "a record says what its type says"},
	{"policies.json", "/commit/rules/*/", "refused by its reader: a rule is whole"},
	{"profiles.json", "/nothing", "every member is required"},
	{"turns.jsonl", "/references/", "replay resolves references"},
	{"turns.jsonl", "/thread_events/", "as above"},
	{"turns.jsonl", "/topics", "changes the query where something was retrieved"},
	{"commit.json", "/reason_code", "null and absent mean the same (M3)"},
	{"commit.json", "/writes/*/record/content/", "a record says what its type says"},
	{"trace.json", "/commit/reason_code", "null and absent mean the same (M3)"},
	{"trace.json", "/metadata/truncated", "absent and false mean the same (V4)"},
	{"trace.json", "/metadata/events_", "only of a truncated trace"},
	{"trace/", "/stage/dispatched_intents/*/", "an intent is as the answer had it: replay makes it again"},
	{"trace/", "/tool_calls/*/normalized_args/", "changes the arguments"},
	{"retrieval/", "/candidates", "a ranking may rest on the snapshot alone (R7)"},
	{"retrieval/", "/order", "absent means score,record_id"},
	{"outputs.jsonl", "/model_config/provider_guarantee", "recorded where there is one"},
	{"tool_results.jsonl", "/args/", "raw arguments that the profile may not select"},
	{"tool_results.jsonl", "/result/", "fields that the profile may not select"},
	{"tool_results.jsonl", "/side_effects/", "as above"},
}

func optional(file, pointer string) bool {
	pattern := digits.ReplaceAllString(pointer, "/*$1")
	return slices.ContainsFunc(optionalMembers, func(m struct{ file, pointer, why string }) bool {
		return strings.HasPrefix(file, m.file) && (pattern == m.pointer || strings.HasPrefix(pattern, m.pointer) && strings.HasSuffix(m.pointer, "/") ||
			strings.HasSuffix(m.pointer, "_") && strings.HasPrefix(pattern, m.pointer) || strings.HasPrefix(pattern, m.pointer+"/"))
	})
}

// sampleOf keeps the first lines of long files: later ones are alike.
func sampleOf(file string, lines []string) []string {
	if !strings.HasSuffix(file, ".jsonl") {
		return []string{strings.Join(lines, "\n")}
	}
	return lines[:min(len(lines), 20)]
}

func runFiles(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for _, f := range mustRead(t, dir).Trace.Recording.Files {
		names = append(names, f.Name)
	}
	return append(names, run.ManifestFile)
}

func mustRead(t *testing.T, dir string) *run.Run {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// members gives the pointers of all members of a JSON text.
func members(t *testing.T, text string) []string {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	var all []string
	walk("", tree, func(pointer string, _ any, member bool) {
		if member {
			all = append(all, pointer)
		}
	})
	slices.Sort(all)
	return all
}

func walk(at string, value any, visit func(pointer string, value any, member bool)) {
	switch v := value.(type) {
	case map[string]any:
		for name, below := range v {
			pointer := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			visit(pointer, below, true)
			walk(pointer, below, visit)
		}
	case []any:
		for i, below := range v {
			visit(fmt.Sprintf("%s/%d", at, i), below, false)
			walk(fmt.Sprintf("%s/%d", at, i), below, visit)
		}
	}
}

func remove(t *testing.T, text, pointer string) string {
	return change(t, text, pointer, func(o map[string]any, name string) { delete(o, name) })
}

// change edits the object or the list that a pointer leads into.
func change(t *testing.T, text, pointer string, edit func(o map[string]any, name string)) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	tokens := strings.Split(pointer, "/")[1:]
	node := tree
	for i, token := range tokens {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := node.(type) {
		case map[string]any:
			if i == len(tokens)-1 {
				edit(v, token)
			}
			node = v[token]
		case []any:
			var n int
			if _, err := fmt.Sscan(token, &n); err != nil {
				t.Fatal(err)
			}
			if i == len(tokens)-1 {
				holder := map[string]any{"": v[n]}
				edit(holder, "")
				v[n] = holder[""]
				continue
			}
			node = v[n]
		}
	}
	out, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var digits = regexp.MustCompile(`/[0-9]+(/|$)`)
