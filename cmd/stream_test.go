package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/golden"
	"github.com/dmpl/dmpl/pkg/thread/threadtest"
)

// tampering is a small change to one of the streams, and the codes that it must give, no others.
type tampering struct {
	What   string            `json:"what"`
	Stream string            `json:"stream"`
	Edits  []threadtest.Edit `json:"edits"`
	Repair bool              `json:"repair,omitempty"`
	Codes  []string          `json:"codes"`
}

func streamFixture(name, file string) string {
	return filepath.Join(fixtures, "thread", "streams", name, file)
}

const editsFile = fixtures + "/thread/edits.json"

func tamperings(t *testing.T) []tampering {
	t.Helper()
	var all []tampering
	readExpected(t, editsFile, &all)
	if len(all) < 20 {
		t.Fatalf("%d edits, want 20 at least", len(all))
	}
	return all
}

// write writes the changed stream and gives the command that verifies it.
func (c tampering) write(t *testing.T, dir string) []string {
	t.Helper()
	changed := threadtest.Load(t, streamFixture(c.Stream, "snapshot.json")).Apply(c.Edits...)
	if c.Repair {
		changed.Repair()
	}
	path := filepath.Join(dir, strings.ReplaceAll(strings.ReplaceAll(c.What, " ", "_"), ",", "")+".json")
	if err := os.WriteFile(path, changed.JSON(), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"verify", path, "--context-config", streamFixture(c.Stream, "context.json")}
}

// X6: each small change gives the codes stated for it, and no others.
func TestEveryEditOfAStreamGivesItsCodes(t *testing.T) {
	all := tamperings(t)
	for i, c := range all {
		t.Run(c.What, func(t *testing.T) {
			r, _ := runJSON(t, c.write(t, t.TempDir())...)
			got := []string{}
			for _, f := range r.errors() {
				got = append(got, f.Code)
			}
			slices.Sort(got)
			got = slices.Compact(got)
			if os.Getenv(golden.UpdateVariable) == "1" {
				all[i].Codes = got
				return
			}
			if !slices.Equal(got, c.Codes) {
				t.Errorf("codes\n got %v\nwant %v", got, c.Codes)
			}
			if want := map[bool]string{true: "pass", false: "fail"}[len(c.Codes) == 0]; r.Verdict != want {
				t.Errorf("verdict %s, want %s", r.Verdict, want)
			}
		})
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, editsFile, append(text, '\n'))
}

// everyStream verifies the streams of the fixtures with their configurations.
func everyStream(t *testing.T) []invocation {
	t.Helper()
	var all []invocation
	for _, c := range []struct{ stream, file string }{
		{"s01_chat_refs", "snapshot.json"},
		{"s01_chat_refs", "trail.sqlite"},
		{"s03_denies", "snapshot.json"},
		{"s14_wal_live", "snapshot.json"},
		{"s15_lone_surrogates", "trail.sqlite"},
	} {
		all = append(all, invocation{
			"thread/streams/" + c.stream + " verify " + c.file,
			[]string{"verify", streamFixture(c.stream, c.file), "--context-config", streamFixture(c.stream, "context.json")},
		})
	}
	return all
}

// V0: a stream is known by its content, from a path, from standard input and in a folder.
func TestStreamsAreFoundByContent(t *testing.T) {
	text, err := os.ReadFile(streamFixture("s01_chat_refs", "snapshot.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(t)
	p.In = bytes.NewReader(text)
	if code := p.Run([]string{"verify", "-"}); code != 0 {
		t.Errorf("from standard input: exit %d: %s%s", code, p.out.String(), p.errs.String())
	}
	r, code := runJSON(t, "verify", filepath.Join(fixtures, "thread", "streams", "s01_chat_refs"),
		"--context-config", streamFixture("s01_chat_refs", "context.json"))
	if code != 0 || len(r.Results) != 3 { // two streams, and the folder with its skipped file
		t.Errorf("in a folder: exit %d, %d results", code, len(r.Results))
	}
}

// V0: events before the members that tell a snapshot hide nothing.
func TestSnapshotWithItsEventsFirstIsAStream(t *testing.T) {
	c := tampering{What: "sorted members", Stream: "s01_chat_refs"} // written again, the members are sorted
	r, code := runJSON(t, c.write(t, t.TempDir())...)
	if code != 0 || r.Verdict != "pass" {
		t.Errorf("exit %d, verdict %s", code, r.Verdict)
	}
}

// X4, Z2: a wrong configuration is exit code 2 and names its member; a configuration without a stream is a usage error.
func TestContextConfigIsJudged(t *testing.T) {
	for _, tt := range []struct{ text, pointer, code string }{
		{`{"schema_version":"1","context":{"max_refs":0,"empty_refs_policy":"DENY"}}`, "/context/max_refs", "shape.value"},
		{`{"schema_version":"1","context":{"max_refs":3,"empty_refs_policy":"SOMETIMES"}}`, "/context/empty_refs_policy", "shape.value"},
		{`{"schema_version":"1","x":1.5,"context":{"max_refs":3,"empty_refs_policy":"DENY"}}`, "/x", "canon.float_refused"},
		{`{"schema_version":`, "/schema_version", "canon.invalid_json"},
	} {
		path := filepath.Join(t.TempDir(), "context.json")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, code := runJSON(t, "verify", streamFixture("s01_chat_refs", "snapshot.json"), "--context-config", path)
		if fs := r.errors(); code != 2 || len(fs) != 1 || fs[0].Code != tt.code || fs[0].Pointer != tt.pointer {
			t.Errorf("%s: exit %d, %+v", tt.text, code, fs)
		}
	}
	p := newProcess(t)
	trace := filepath.Join(fixtures, "demo", "left", "memory_trace.json")
	if code := p.Run([]string{"verify", trace, "--context-config", streamFixture("s01_chat_refs", "context.json")}); code != 2 {
		t.Errorf("a trace with a context configuration: exit %d", code)
	}
}

// dbl-gateway.md §2: evidence is never altered: its bytes, its time and its folder stay.
func TestVerifyLeavesStreamsAlone(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"snapshot.json", "trail.sqlite"} {
		text, err := os.ReadFile(streamFixture("s01_chat_refs", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := folderState(t, dir)
	for _, file := range []string{"snapshot.json", "trail.sqlite", "."} {
		if _, code := runJSON(t, "verify", filepath.Join(dir, file), "--context-config", streamFixture("s01_chat_refs", "context.json")); code != 0 {
			t.Errorf("%s: exit %d", file, code)
		}
	}
	if after := folderState(t, dir); after != before {
		t.Errorf("the folder was\n%s\nand is\n%s", before, after)
	}
}

// Z5: a stream with surrogates that stand alone, and with values out of every range, gives a report that is strict JSON.
func TestReportOfAHostileStreamIsStrictJSON(t *testing.T) {
	text, err := os.ReadFile(streamFixture("s15_lone_surrogates", "snapshot.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"thread_id": "`, `"thread_id": "\udc00`},
		{`"event_index": `, `"event_index": -9999999999999999999999`},
		{`"digest": "sha256:`, `"digest": "\ud801`},
		{`"kind": "EXECUTION"`, `"kind": "\udfff"`},
		{`"index": 4,`, `"index": 2147483647,`},
		{`"intent_index": `, `"intent_index": 9999999999999999999`},
	} {
		changed := strings.ReplaceAll(string(text), change[0], change[1])
		if changed == string(text) {
			changed = strings.ReplaceAll(string(text), strings.ReplaceAll(change[0], `": `, `":`), strings.ReplaceAll(change[1], `": `, `":`))
		}
		if changed == string(text) {
			t.Fatalf("nothing to change: %s", change[0])
		}
		path := filepath.Join(t.TempDir(), "hostile.json")
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		p := newProcess(t)
		code := p.Run([]string{"verify", path, "--format", "json", "--context-config", streamFixture("s15_lone_surrogates", "context.json")})
		if err := canon.Valid(p.out.Bytes()); code != 1 || err != nil {
			t.Errorf("%s: exit %d, report: %v", change[1], code, err)
		}
	}
}

// folderState gives names, times and contents of a folder as one text.
func folderState(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Name() + " " + info.ModTime().String() + " " + info.Mode().String() + " " + string(text) + "\n")
	}
	return b.String()
}
