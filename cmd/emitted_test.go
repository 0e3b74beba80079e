package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/pkg/verify"
)

// emittedKinds are what a run can be made of, by the inputs of fixtures/native/inputs that `dmpl run` makes one of.
var emittedKinds = []struct {
	what, inputs string
	args         []string
	refused      []string // by these modes
	link         string   // of a chain: the run that is looked at
}{
	{what: "single turn", inputs: "single"},
	{what: "turns", inputs: "turns", args: []string{"--keep-prompts"}},
	{what: "retry", inputs: "retry", args: []string{"--keep-prompts"}},
	{what: "fallback", inputs: "fallback"},
	{what: "tools", inputs: "tools"},
	{what: "retrieval", inputs: "filters"},
	{what: "retrieval of candidates", inputs: "candidates", refused: []string{"off"}},
	{what: "references", inputs: "references"},
	{what: "aborted by the policy", inputs: "policy-rejected"},
	{what: "aborted by the store", inputs: "validation-failed"},
	{what: "a turn that cannot go on", inputs: "output-missing"},
	{what: "a tool without a result", inputs: "stage-failed"},
	{what: "references refused", inputs: "reference-refused"},
	{what: "admission denied", inputs: "admission-denied"},
	{what: "chain", inputs: "chain", args: []string{"--chain"}, refused: []string{"off", "read_only"}, link: "0001"},
}

// unemitted are the required members that none of these runs has, by the beginning of their rules, and why.
var unemitted = []struct{ rule, why string }{
	{"memory.determinism_trace.v1/$defs/metadata/", "a truncated run supports no claim whatever is removed"},
	{"memory.determinism_trace.v1/required/events", "the parts are this member: one that is gone is run.file_missing"},
	{"memory.determinism_trace.v1/$defs/text_structure/", "the structure of an output is held by its digest (D3)"},
	{"memory.determinism_trace.v1/$defs/error_structure/", "as above"},
	{"memory.determinism_trace.v1/$defs/plan_structure/", "as above"},
	{"memory.determinism_trace.v1/$defs/code_patch_structure/", "as above"},
	{"memory.determinism_trace.v1/$defs/json_structure/", "as above"},
	{"memory.determinism_trace.v1/$defs/tool_calls_structure/", "as above"},
	{"memory.policy_set.v1/$defs/rule/allOf/4/", "a hook, which is code of the agent: `dmpl run` has none"},
}

// V1, V3, V5: a run of each visibility and each kind, as `dmpl run` leaves it, has every required member of every schema and
// passes verify with every claim checked. With any one required member removed, and the manifest made to fit, its claim is
// rejected.
func TestEmittedRunsHaveEveryRequiredMember(t *testing.T) {
	removed := map[string]int{}
	for _, mode := range []string{"off", "read_only", "buffered_write"} {
		for _, kind := range emittedKinds {
			t.Run(mode+", "+kind.what, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "run")
				p := newProcess(t)
				args := []string{"run", "--from", nativeFixture("inputs", kind.inputs), "--out", dir, "--lane", "ci", "--run-id", "run", "--visibility", mode}
				code := p.Run(append(args, kind.args...))
				if refused := slices.Contains(kind.refused, mode); refused || code != 0 {
					if code != map[bool]int{true: 2}[refused] {
						t.Errorf("exit code %d: %s", code, p.errs)
					}
					return
				}
				dir = filepath.Join(dir, kind.link)
				if r, exit := runJSON(t, "verify", dir, "--require-coverage", "100"); exit != 0 || len(r.errors()) > 0 {
					t.Fatalf("exit code %d:%s", exit, inShort(r.errors()))
				}
				for rule, n := range withoutEach(t, dir) {
					removed[rule] += n
				}
				if r, exit := runJSON(t, "verify", dir); exit != 0 {
					t.Fatalf("the run was not put back: %s", inShort(r.errors()))
				}
			})
		}
	}
	total := 0
	for _, name := range schemasOfRuns {
		for _, rule := range everyRule(t, name) {
			excused := slices.ContainsFunc(unemitted, func(u struct{ rule, why string }) bool { return strings.HasPrefix(rule, u.rule) })
			if (removed[rule] == 0) != excused {
				t.Errorf("%s: %d members of this rule were removed, listed as one that no run has: %v", rule, removed[rule], excused)
			}
			total += removed[rule]
		}
	}
	t.Logf("%d members of %d rules were removed", total, len(removed))
}

// schemasOfRuns are the schemas of the files of a run.
var schemasOfRuns = []string{
	"dmpl.run.v1", "memory.commit.v1", "memory.determinism_trace.v1", "memory.policy_set.v1", "memory.retrieval_trace.v1", "memory.snapshot.v1",
	"memory.tool_profile.v1", "pipeline.config.v1", "run.candidates.v1", "run.output.v1", "run.profiles.v1", "run.prompt.v1", "run.tool_result.v1", "run.turn.v1",
}

// emittedSchema gives the schema of a file of a run.
func emittedSchema(file string) string {
	known := map[string]string{
		run.ManifestFile: "dmpl.run.v1", run.CommitFile: "memory.commit.v1", run.TraceFile: "memory.determinism_trace.v1", run.PoliciesFile: "memory.policy_set.v1",
		run.SnapshotFile: "memory.snapshot.v1", run.ConfigFile: "pipeline.config.v1", run.CandidatesFile: "run.candidates.v1", run.OutputsFile: "run.output.v1",
		run.ProfilesFile: "run.profiles.v1", run.PromptsFile: "run.prompt.v1", run.ToolResultsFile: "run.tool_result.v1", run.TurnsFile: "run.turn.v1",
		"trace/0000.jsonl": "memory.determinism_trace.v1", "retrieval/0000.jsonl": "memory.retrieval_trace.v1",
	}
	return known[file]
}

// withoutEach removes every member that a schema requires, one after the other and the first of its rule in each file, and
// counts them by rule.
func withoutEach(t *testing.T, dir string) map[string]int {
	t.Helper()
	removed := map[string]int{}
	manifest, err := os.ReadFile(filepath.Join(dir, run.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range filesBelow(t, dir) {
		file := strings.TrimPrefix(filepath.ToSlash(name), "/")
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, line := range documentsOf(file, text) {
			whole := wholeDocument(t, dir, file, line)
			var tree any
			if err := json.Unmarshal(whole, &tree); err != nil {
				t.Fatal(err)
			}
			if violations, err := schema.Validate(emittedSchema(file), whole); err != nil || len(violations) > 0 {
				t.Errorf("%s, document %d: %v %v", file, i, violations, err)
			}
			for _, member := range requiredIn(t, emittedSchema(file), tree) {
				pointer, of := within(file, member.pointer)
				if seen[member.rule] || !of {
					continue
				}
				without := without(t, line, pointer)
				violations, err := schema.Validate(emittedSchema(file), wholeDocument(t, dir, file, without))
				if err != nil {
					t.Fatal(err)
				}
				if len(violations) == 0 { // of a branch that does not apply
					continue
				}
				seen[member.rule] = true
				removed[member.rule]++
				runtest.Put(t, dir, file, bytes.Replace(text, line, without, 1))
				if file != run.ManifestFile {
					runtest.Repair(t, dir)
				}
				if r, err := run.Read(dir, nil, 0); err == nil && verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Verdict == finding.Pass {
					t.Errorf("%s without %s passes", file, member.pointer)
				}
				runtest.Put(t, dir, run.ManifestFile, manifest)
			}
		}
		runtest.Put(t, dir, file, text)
	}
	return removed
}

// documentsOf gives the documents of a file: its lines, or its whole text.
func documentsOf(file string, text []byte) [][]byte {
	if !strings.HasSuffix(file, ".jsonl") {
		return [][]byte{bytes.TrimSpace(text)}
	}
	return slices.DeleteFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return len(line) == 0 })
}

// wholeDocument gives what the schema of a file speaks of: of a line of a part the trace with that line.
func wholeDocument(t *testing.T, dir, file string, line []byte) []byte {
	t.Helper()
	envelope := line
	events := []byte("[]")
	switch {
	case strings.HasPrefix(file, "retrieval/"):
		return slices.Concat([]byte("["), line, []byte("]"))
	case strings.HasPrefix(file, "trace/"):
		var err error
		if envelope, err = os.ReadFile(filepath.Join(dir, run.TraceFile)); err != nil {
			t.Fatal(err)
		}
		events = slices.Concat([]byte("["), line, []byte("]"))
	case file != run.TraceFile:
		return line
	}
	envelope = bytes.TrimSuffix(bytes.TrimSpace(envelope), []byte("}"))
	return slices.Concat(envelope, []byte(`,"events":`), events, []byte("}"))
}

// within gives a pointer into the document of a file from one into the whole; false where the whole has it from elsewhere.
func within(file, pointer string) (string, bool) {
	switch {
	case strings.HasPrefix(file, "retrieval/"):
		return strings.CutPrefix(pointer, "/0")
	case strings.HasPrefix(file, "trace/"):
		return strings.CutPrefix(pointer, "/events/0")
	case file == run.TraceFile:
		return pointer, pointer != "/events"
	}
	return pointer, true
}

// without removes a member of a document.
func without(t *testing.T, text []byte, pointer string) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	tokens := strings.Split(pointer, "/")[1:]
	node := tree
	for _, token := range tokens[:len(tokens)-1] {
		switch v := node.(type) {
		case map[string]any:
			node = v[token] // a schema names no member with a sign to escape
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil {
				t.Fatal(err)
			}
			node = v[n]
		}
	}
	delete(node.(map[string]any), tokens[len(tokens)-1])
	out, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
