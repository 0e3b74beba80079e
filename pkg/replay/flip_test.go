package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/verify"
)

const native = "../../fixtures/native"

// replayRun reads, verifies and replays the run in a folder, as the command does.
func replayRun(t *testing.T, dir string, o replay.RunOptions) (finding.Result, *replay.Replayed) {
	t.Helper()
	r, err := run.Read(dir, nil, 0)
	if err != nil {
		if made, walked := replaySame(dir, o); walked == nil {
			t.Errorf("%s: walked through it is %s, and cannot be read: %v", dir, made.Result.Verdict, err)
		}
		return finding.Result{Verdict: finding.Undecided, Findings: []finding.Finding{{Severity: finding.Error, Artifact: err.Error(), Detail: err.Error()}}}, nil
	}
	o.Findings = verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Findings
	made, err := replay.Run(r.Trace, o)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	sameResult(t, dir, o, made.Result)
	return made.Result, made
}

// unread are the values whose change no stage and no check sees, by file and pointer (* stands for an index), and why.
var unread = []struct{ file, pointer, why string }{
	{"turns.jsonl", "/*/interaction_count", "the counter of a game: the snapshot has the memory's own"},
	{"turns.jsonl", "/*/thread_events/", "columns of an event that its digest does not cover, or of an event that no reference names"},
	{"turns.jsonl", "/*/fallbacks/", "a list that the turn does not come to"},
	{"turns.jsonl", "/*/few_shot/", "an example that the bounds leave out"},
	{"turns.jsonl", "/*/snapshot_time_utc_ticks", "a time that moves no score and writes nothing"},
	{"config.json", "/working_memory/", "a bound that is not reached"},
	{"tool_results.jsonl", "/*/result/took_ms", "no field that the profile selects (D2)"},
	{"snapshot.json", "/next_sequence_number", "a load counts on from the highest number that is there (M9)"},
	{"outputs.jsonl", "/*/truncated", "an answer of whole sentences"},
	{"turns.jsonl", "/*/dialogue/", "a line that the bounds leave out"},
	{"trace.json", "/workflow_id", "stated in one place alone; diff compares it (E2)"},
	{"trace/", "/*/event_id", "linkage (W)"},
}

// listed gives the row of the list that a value has; -1 for none.
func listed(file, pointer string) int {
	pattern := regexp.MustCompile(`/[0-9]+(/|$)`).ReplaceAllString(pointer, "/*$1")
	return slices.IndexFunc(unread, func(u struct{ file, pointer, why string }) bool {
		return strings.HasPrefix(file, u.file) && strings.HasPrefix(pattern, u.pointer)
	})
}

// value is a scalar of a document with its place in the text.
type value struct {
	pointer    string
	start, end int
}

// scalars lists the scalars of a document that begins at an offset of a text.
func scalars(pointer string, v canon.Value, whole []byte) []value {
	var list []value
	for _, m := range v.Members() {
		list = append(list, scalars(canon.AppendToken(pointer, m.Name), m.Value, whole)...)
	}
	for i, e := range v.Elements() {
		list = append(list, scalars(pointer+"/"+strconv.Itoa(i), e, whole)...)
	}
	if kind := v.Kind(); kind != canon.Object && kind != canon.Array && kind != canon.Null {
		start := cap(whole) - cap(v.Raw())
		list = append(list, value{pointer, start, start + len(v.Raw())})
	}
	return list
}

// flipped gives another value of the same type.
func flipped(raw []byte) []byte {
	switch text := string(raw); {
	case text == "true":
		return []byte("false")
	case text == "false":
		return []byte("true")
	case raw[0] == '"' && len(raw) == 66: // a digest stays one
		other := bytes.Clone(raw)
		other[1] = map[bool]byte{true: 'b', false: 'a'}[raw[1] == 'a']
		return other
	case raw[0] == '"':
		return append(append(bytes.Clone(raw[:len(raw)-1]), '~'), '"')
	default:
		n, ok := canon.Integer(raw)
		if !ok {
			return []byte("0.123")
		}
		return strconv.AppendInt(nil, n+1, 10)
	}
}

// The flip test: one changed value anywhere in a run is seen, with the manifest left alone and with the manifest made to fit,
// and some finding names the file or the stage that reads it. What nothing reads is in the list above.
func TestOneChangedValueIsSeen(t *testing.T) {
	flips, unseen, used := 0, 0, map[int]bool{}
	for _, name := range []string{"turns", "tools", "references", "filters", "candidates", "prompts", "fallback", "policy-rejected"} {
		from := filepath.Join(native, "runs", name)
		dir := runtest.Copy(t, from, filepath.Join(t.TempDir(), name))
		for _, file := range files(t, from) {
			text, err := os.ReadFile(filepath.Join(from, file))
			if err != nil {
				t.Fatal(err)
			}
			text = slices.Clip(text)
			for _, v := range valuesOf(t, file, text) {
				other := slices.Concat(text[:v.start], flipped(text[v.start:v.end]), text[v.end:])
				runtest.Put(t, dir, file, other)
				flips++
				if r, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All}); !names(r, file) {
					t.Errorf("%s/%s%s, manifest left alone: %s:%s", name, file, v.pointer, r.Verdict, told(r))
				}
				runtest.Repair(t, dir)
				if r, _ := replayRun(t, dir, replay.RunOptions{Until: replay.All}); !names(r, file) {
					unseen++
					row := listed(file, v.pointer)
					if used[row] = true; row < 0 {
						t.Errorf("%s/%s%s, manifest repaired: %s:%s", name, file, v.pointer, r.Verdict, told(r))
					}
				}
				manifest, err := os.ReadFile(filepath.Join(from, run.ManifestFile))
				if err != nil {
					t.Fatal(err)
				}
				runtest.Put(t, dir, run.ManifestFile, manifest)
			}
			runtest.Put(t, dir, file, text)
		}
	}
	t.Logf("%d values were changed; %d of them are read by nothing", flips, unseen)
	for i, u := range unread {
		if !used[i] {
			t.Errorf("%s%s is listed as unread, and is seen", u.file, u.pointer)
		}
	}
	if flips < 1000 {
		t.Errorf("only %d values", flips)
	}
}

// valuesOf lists the scalars of a file, of long files those of the first lines.
func valuesOf(t *testing.T, file string, text []byte) []value {
	t.Helper()
	if !strings.HasSuffix(file, ".jsonl") {
		v, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return scalars("", v, text)
	}
	var list []value
	start := 0
	for i, line := range bytes.SplitAfter(text, []byte("\n")) {
		if len(line) == 0 || i >= 6 {
			break
		}
		part := slices.Clip(line)
		v, err := canon.Parse(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scalars("/"+strconv.Itoa(i), v, part) {
			list = append(list, value{s.pointer, s.start + start, s.end + start})
		}
		start += len(line)
	}
	return list
}

// preimages are the files that a digest of the trace is computed over: a mismatch there tells of the file.
var preimages = []struct{ file, pointer string }{
	{run.CommitFile, "/commit/commit_payload_fingerprint"},
	{run.PoliciesFile, "/policy_set_id"},
	{run.ProfilesFile, "/model_config/tool_runtime_profile_hash"},
}

// names says that some finding is about the file, or about the stage that reads it.
func names(r finding.Result, file string) bool {
	known := []string{file}
	if strings.HasPrefix(file, "trace/") {
		known = append(known, run.TraceFile) // the parts of a trace are one document for every finding
	}
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		if f.Code == finding.ReplayPrefix {
			return false
		}
		for _, p := range preimages {
			if p.file == file && f.Code == finding.DigestMismatch && strings.HasPrefix(f.Pointer, p.pointer) {
				return true
			}
		}
		text := filepath.ToSlash(f.Artifact) + "\n" + filepath.ToSlash(f.RightArtifact) + "\n" + f.Hint + "\n" + f.Detail
		return slices.ContainsFunc(known, func(name string) bool { return strings.Contains(text, name) }) ||
			strings.HasPrefix(file, "retrieval/") && strings.Contains(f.Pointer, "retrieval_event_ids") // the link that leads to the row
	})
}

func told(r finding.Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n  %s %s %s%s: %s", f.Severity, f.Code, filepath.Base(f.Artifact), f.Pointer, f.Detail)
	}
	return b.String()
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == run.ManifestFile {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
