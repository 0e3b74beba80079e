package verify_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

// onlyReplay are the values of a run that verify alone cannot know to be wrong once the manifest fits them, with the reason.
// Everything else is held to something else in the run.
var onlyReplay = map[string]string{
	"snapshot.json /next_sequence_number":                 "on load the next is max + 1 (M9)",
	"trace/0000.jsonl /event_id":                          "linkage, of an event that names no retrieval",
	"turns.jsonl /npc_name":                               "input of assemble",
	"turns.jsonl /system_prompt":                          "input of assemble",
	"turns.jsonl /dialogue/*":                             "input of assemble",
	"turns.jsonl /trigger/reason":                         "picks the fallback",
	"turns.jsonl /fallbacks/trigger/*":                    "is the fallback",
	"turns.jsonl /interaction_count":                      "input of mutate",
	"turns.jsonl /snapshot_time_utc_ticks":                "the clock of every stage",
	"turns.jsonl /references/*/ref_id":                    "input of the references",
	"turns.jsonl /references/*/ref_type":                  "input of the references",
	"turns.jsonl /thread_events/*/kind":                   "input of the references",
	"turns.jsonl /thread_events/*/turn_id":                "input of the references",
	"outputs.jsonl /text":                                 "input of parse",
	"outputs.jsonl /truncated":                            "input of parse",
	"tool_results.jsonl /args/at":                         "the profile does not select it",
	"tool_results.jsonl /result/took_ms":                  "the profile does not select it",
	"trace.json /workflow_id":                             "an identity that nothing is computed from",
	"trace.json /output/output_type":                      "the digest covers the structure, which names the type itself",
	"trace/0000.jsonl /guardrails_triggered/*":            "made by gate",
	"trace/0000.jsonl /stage/constraints_digest":          "of a retry: made by the pipeline",
	"trace/0000.jsonl /stage/context_digest":              "made by the references",
	"trace/0000.jsonl /stage/parse_digest":                "made by parse",
	"trace/0000.jsonl /stage/gate_digest":                 "made by gate",
	"trace/0000.jsonl /stage/mutation_batch_digest":       "made by mutate",
	"trace/0000.jsonl /stage/state_digest":                "of a turn: made by mutate",
	"trace/0000.jsonl /stage/dispatched_intents/*/type":   "made by dispatch",
	"retrieval/0000.jsonl /policy_id":                     "made by retrieve",
	"retrieval/0000.jsonl /policy_version":                "made by retrieve",
	"retrieval/0000.jsonl /candidate_count":               "made by retrieve",
	"retrieval/0000.jsonl /selected_records/*/score":      "made by retrieve",
	"retrieval/0000.jsonl /selected_records/*/confidence": "made by retrieve",
	"manifest.json /created_ticks":                        "linkage",
	"manifest.json /lane/deterministic":                   "retention reads it",
	"manifest.json /chain/index":                          "dmpl verify of the chain's folder holds it to the other links",
	"manifest.json /chain/previous_run_id":                "as above",
	"manifest.json /chain/previous_commit_id":             "as above",
}

// R1, V5: with the manifest left alone every change of any value is found. With the manifest made to fit, every change is found
// but those of values that only replay can make again; the table of these is exact.
func TestEveryChangedValueIsFoundOrReplays(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	missed := map[string]bool{}
	changed := 0
	for _, file := range runFiles(t, base) {
		text := textOf(t, base, file)
		for _, line := range sampleOf(file, strings.Split(strings.TrimSuffix(text, "\n"), "\n")) {
			for pointer, value := range leaves(t, line) {
				after := change(t, line, pointer, func(o map[string]any, name string) { o[name] = other(value) })
				runtest.Put(t, base, file, []byte(strings.Replace(text, line, after, 1)))
				changed++
				if file != run.ManifestFile {
					if passes(base) {
						t.Errorf("%s %s: changed, with the manifest left alone, and the run passes", file, pointer)
					}
					runtest.Repair(t, base)
				}
				if passes(base) {
					missed[file+" "+digits.ReplaceAllString(pointer, "/*$1")] = true
				}
			}
			runtest.Put(t, base, file, []byte(text))
		}
		runtest.Repair(t, base)
	}
	for _, at := range slices.Sorted(maps.Keys(missed)) {
		if onlyReplay[at] == "" {
			t.Errorf("%s: changed, and the run passes", at)
		}
	}
	for at := range onlyReplay {
		if !missed[at] {
			t.Errorf("%s is found: it must not be listed", at)
		}
	}
	if changed < 500 {
		t.Errorf("only %d values were changed: too few to tell", changed)
	}
	t.Logf("%d values were changed, %d kinds are replay's", changed, len(missed))
}

func passes(dir string) bool {
	r, err := run.Read(dir, nil, 0)
	return err == nil && verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Verdict == finding.Pass
}

// leaves gives the values of a document that hold no others.
func leaves(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	walk("", tree, func(pointer string, value any, _ bool) {
		switch value.(type) {
		case map[string]any, []any:
		default:
			all[pointer] = value
		}
	})
	return all
}

// other gives another value of the same type; of a digest another digest.
func other(value any) any {
	switch v := value.(type) {
	case bool:
		return !v
	case json.Number:
		n, err := strconv.ParseFloat(v.String(), 64)
		if err != nil || n != float64(int64(n)) {
			return json.Number("0.25")
		}
		return json.Number(strconv.FormatInt(int64(n)+1, 10))
	case string:
		if len(v) == 64 {
			return strings.Repeat("0123456789abcdef", 4)
		}
		return v + "x"
	}
	return "x"
}
