package run_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/trace"
)

var opening = run.Opening{RunID: "run-1", Pipeline: memory.DMPLv1, Lane: run.Lane{Name: "ci", Deterministic: true}, Created: 7}

// fill writes a run of a few events; it stops at the first error.
func fill(w *run.Writer) error {
	for _, name := range []string{run.SnapshotFile, run.ConfigFile, run.PoliciesFile, run.ProfilesFile} {
		if err := w.Document(name, []byte(`{}`)); err != nil {
			return err
		}
	}
	for i := range 3 {
		if err := w.Line(run.TurnsFile, fmt.Appendf(nil, `{"turn":%d}`, i)); err != nil {
			return err
		}
		if err := w.Event(fmt.Appendf(nil, `{"index":%d}`, i), []byte(`{"row":1}`)); err != nil {
			return err
		}
	}
	return w.Close([]byte(`{"run_id":"run-1"}`))
}

// V4: whatever the file operation after which the writer dies, what is left says that it is cut short, or is whole.
func TestARunThatWasNotFinishedSaysSo(t *testing.T) {
	whole := &run.Dying{Left: 1 << 20}
	w, err := run.CreateOn(whole, filepath.Join(t.TempDir(), "run"), opening)
	if err == nil {
		err = fill(w)
	}
	if err != nil {
		t.Fatal(err)
	}
	if whole.Done < 40 {
		t.Fatalf("only %d operations: too few to tell", whole.Done)
	}
	complete := 0
	for left := range whole.Done {
		for _, half := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "run")
			w, err := run.CreateOn(&run.Dying{Left: left, Half: half}, dir, opening)
			if err == nil {
				err = fill(w)
				w.Abandon()
			}
			if err == nil {
				t.Fatalf("killed after %d of %d operations, and the writer says that all went well", left, whole.Done)
			}
			if _, err := os.Stat(dir); err != nil {
				continue // nothing was made
			}
			got, err := run.Read(dir, nil, 0)
			if err != nil {
				t.Errorf("killed after %d operations: %v", left, err)
				continue
			}
			if got.Trace.Recording.CutShort == "" {
				complete++
				if left < whole.Done-1 { // the folder alone was not made durable
					t.Errorf("killed after %d of %d operations, and the run says that it is complete", left, whole.Done)
				}
			}
		}
	}
	if complete != 2 {
		t.Errorf("%d runs were complete, want those that died while the folder was synced", complete)
	}
}

// V4: events are dropped whole, from the end, one byte over a cap and not one byte before.
func TestEventsAreDroppedOverACap(t *testing.T) {
	event := func(n int) []byte { return []byte(`{"e":"` + strings.Repeat("x", n-len(`{"e":""}`)-1) + `"}`) } // n bytes with the line feed
	row := func(n int) []byte { return []byte(`{"r":"` + strings.Repeat("y", n-len(`{"r":""}`)-1) + `"}`) }
	for _, c := range []struct {
		what      string
		part, all int64
		events    [][2]int // bytes of each event and of its row; 0 for none
		kept      int
		parts     []int64 // sizes of the parts of the trace
	}{
		{"one byte under the part", 100, 1000, [][2]int{{60, 0}, {39, 0}}, 2, []int64{99}},
		{"the part exactly", 100, 1000, [][2]int{{60, 0}, {40, 0}}, 2, []int64{100}},
		{"one byte over the part", 100, 1000, [][2]int{{60, 0}, {41, 0}}, 2, []int64{60, 41}},
		{"an event of a part", 100, 1000, [][2]int{{100, 0}, {100, 0}}, 2, []int64{100, 100}},
		{"an event over a part", 100, 1000, [][2]int{{50, 0}, {101, 0}, {50, 0}}, 1, []int64{50}},
		{"a row over a part", 100, 1000, [][2]int{{50, 0}, {50, 101}, {50, 0}}, 1, []int64{50}},
		{"one byte under the run", 100, 200, [][2]int{{60, 60}, {60, 19}}, 2, []int64{60, 60}},
		{"the run exactly", 100, 200, [][2]int{{60, 60}, {60, 20}}, 2, []int64{60, 60}},
		{"one byte over the run", 100, 200, [][2]int{{60, 60}, {60, 21}}, 1, []int64{60}},
		{"nothing after the first that was dropped", 100, 200, [][2]int{{60, 60}, {60, 21}, {10, 0}}, 1, []int64{60}},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		w, err := run.CreateWithin(c.part, c.all, dir, opening)
		if err != nil {
			t.Fatal(err)
		}
		dropped := sha256.New()
		for i, size := range c.events {
			var rows [][]byte
			if size[1] > 0 {
				rows = append(rows, row(size[1]))
			}
			if err := w.Event(event(size[0]), rows...); err != nil {
				t.Fatal(err)
			}
			if i >= c.kept {
				dropped.Write(append(event(size[0]), '\n'))
			}
		}
		want := run.Counts{Total: len(c.events), Kept: c.kept}
		metadata := fmt.Sprintf(`"metadata":{"truncated":false,"lane":"ci","events_total":%d,"events_kept":%d}`, want.Total, want.Kept)
		if want.Kept < want.Total {
			want.Dropped = hex.EncodeToString(dropped.Sum(nil))
			metadata = fmt.Sprintf(`"metadata":{"truncated":true,"lane":"ci","events_total":%d,"events_kept":%d,"dropped_digest":"%s"}`, want.Total, want.Kept, want.Dropped)
		}
		if got := w.Counts(); got != want {
			t.Errorf("%s: %+v, want %+v", c.what, got, want)
		}
		for _, name := range []string{run.SnapshotFile, run.ConfigFile, run.PoliciesFile, run.ProfilesFile} {
			if err := w.Document(name, []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close([]byte(` { } `)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, run.TraceFile); got != "{"+metadata+"}\n" {
			t.Errorf("%s: %s", c.what, got)
		}
		if got := sizes(t, filepath.Join(dir, "trace")); !slices.Equal(got, c.parts) {
			t.Errorf("%s: parts of %v bytes, want %v", c.what, got, c.parts)
		}
	}
}

// V4: the caps are those of the contract.
func TestCaps(t *testing.T) {
	if trace.MaxPart != 8*1024*1024 || trace.MaxRun != 100*1024*1024 {
		t.Errorf("a part has %d bytes, a run %d", trace.MaxPart, trace.MaxRun)
	}
}

func sizes(t *testing.T, dir string) []int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Size())
	}
	return all
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheWriterRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Create(full, opening); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder with something in it: %v", err)
	}
	for what, call := range map[string]func(*run.Writer) error{
		"a document that is no JSON":   func(w *run.Writer) error { return w.Document(run.ConfigFile, []byte(`{`)) },
		"a file that no run has":       func(w *run.Writer) error { return w.Document("../escape.json", []byte(`{}`)) },
		"a line that is no JSON":       func(w *run.Writer) error { return w.Line(run.TurnsFile, []byte(`{} {}`)) },
		"a line of two lines":          func(w *run.Writer) error { return w.Line(run.TurnsFile, []byte("{\n}")) },
		"an event that is no JSON":     func(w *run.Writer) error { return w.Event([]byte(`nul`)) },
		"a row that is no JSON":        func(w *run.Writer) error { return w.Event([]byte(`{}`), []byte(`[`)) },
		"an envelope that is none":     func(w *run.Writer) error { return w.Close([]byte(`[]`)) },
		"a run without its snapshot":   func(w *run.Writer) error { return w.Close([]byte(`{}`)) },
		"a document twice":             func(w *run.Writer) error { return twice(w, run.ConfigFile) },
		"a line in a file of another":  func(w *run.Writer) error { return w.Line("lines.jsonl", []byte(`{}`)) },
		"anything after the run ended": func(w *run.Writer) error { w.Abandon(); return w.Line(run.TurnsFile, []byte(`{}`)) },
	} {
		w, err := run.Create(filepath.Join(t.TempDir(), "run"), opening)
		if err != nil {
			t.Fatal(err)
		}
		if err := call(w); err == nil {
			t.Errorf("%s: no error", what)
		}
		if err := w.Line(run.TurnsFile, []byte(`{}`)); err == nil {
			t.Errorf("%s: the writer goes on", what)
		}
		w.Abandon()
	}
}

func twice(w *run.Writer, name string) error {
	if err := w.Document(name, []byte(`{}`)); err != nil {
		return nil // the first must go well
	}
	return w.Document(name, []byte(`{}`))
}

// R1, V5: the manifest pins configuration and snapshot, and lists every file with its digest.
func TestManifestOfACompleteRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	chained := opening
	chained.Profiles = map[string]string{"b": "2", "a": "1"}
	chained.Chain = &run.Chain{Index: 1, PreviousRunID: "run-0", PreviousCommitID: "c"}
	w, err := run.Create(dir, chained)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(w); err != nil {
		t.Fatal(err)
	}
	got := read(t, dir, run.ManifestFile)
	for _, want := range []string{
		`"state": "complete"`, `"pipeline_version": "dmpl-v1"`, "\"a\": \"1\",\n      \"b\": \"2\"", `"previous_commit_id": "c"`, `"created_ticks": 7`,
		`"config": "` + digestOf(`{}`) + `"`, "\"path\": \"config.json\",\n      \"bytes\": 3,\n      \"sha256\": \"" + digestOf("{}\n") + `"`,
		`"path": "retrieval/0000.jsonl"`, `"path": "trace/0000.jsonl"`, `"path": "trace.json"`, `"path": "turns.jsonl"`, `"path": "outputs.jsonl"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the manifest does not hold %s:\n%s", want, got)
		}
	}
	if bytes.Contains([]byte(got), []byte(run.ManifestFile)) {
		t.Error("the manifest lists itself")
	}
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
