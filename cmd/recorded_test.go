package cmd_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/golden"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
)

// recordedRun is a row of fixtures/native/runs.json: a run that `dmpl run` makes of the inputs of its name.
type recordedRun struct {
	Name, What string
	Args       []string
	Undecided  bool // it proves nothing, and stands apart from those that do
}

func recordedRuns(t *testing.T) []recordedRun {
	t.Helper()
	var runs []recordedRun
	readExpected(t, filepath.Join(fixtures, "native", "runs.json"), &runs)
	if len(runs) < 12 {
		t.Fatalf("only %d runs", len(runs))
	}
	return runs
}

// folder gives the folder of a recorded run.
func (r recordedRun) folder() string {
	if r.Undecided {
		return nativeFixture("undecided", r.Name)
	}
	return nativeFixture("runs", r.Name)
}

// record records the run again.
func (r recordedRun) record(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), r.Name)
	p := newProcess(t)
	args := append([]string{"run", "--from", filepath.Join(fixtures, "native", "inputs", r.Name), "--out", out, "--lane", "ci", "--run-id", r.Name}, r.Args...)
	if code := p.Run(args); code != 0 {
		t.Fatalf("%s: exit code %d: %s", r.Name, code, p.errs)
	}
	return out
}

// P1, P6, P7: a run is what its inputs make of it, to the byte. `make golden` records the fixtures again.
func TestRecordedRunsAreFresh(t *testing.T) {
	for _, r := range recordedRuns(t) {
		t.Run(r.Name, func(t *testing.T) {
			out := r.record(t)
			var made []string
			err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				name := strings.TrimPrefix(path, out)
				made = append(made, name)
				golden.Assert(t, r.folder()+name, text)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range filesBelow(t, r.folder()) {
				if !slices.Contains(made, name) {
					t.Errorf("%s%s is not made any more", r.folder(), name)
				}
			}
		})
	}
}

func filesBelow(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, root))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// V5, R1: each recorded run passes verify with every claim checked, and is equivalent to itself made again.
func TestRecordedRunsHold(t *testing.T) {
	root := filepath.Join(fixtures, "native", "runs")
	decided := slices.DeleteFunc(recordedRuns(t), func(r recordedRun) bool { return r.Undecided })
	for _, args := range [][]string{{"verify", root, "--require-coverage", "100"}, {"replay", root}, {"replay", root, "--jobs", "3"}} {
		r, exit := runJSON(t, args...)
		if exit != 0 || len(r.errors()) > 0 || len(r.Results) < len(decided) {
			t.Errorf("dmpl %s: exit code %d, %d results:%s", strings.Join(args, " "), exit, len(r.Results), inShort(r.errors()))
		}
	}
}

// P7: the recorded runs have every row of the event catalogue.
func TestRecordedRunsCoverTheCatalogue(t *testing.T) {
	seen := map[string]string{}
	for _, name := range filesBelow(t, filepath.Join(fixtures, "native", "runs")) {
		if filepath.Base(filepath.Dir(name)) != "trace" {
			continue
		}
		f, err := os.Open(filepath.Join(fixtures, "native", "runs", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e struct {
				Interceptor string
				Decision    string `json:"decision_type"`
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			seen[e.Interceptor+"/"+e.Decision] = name
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range trace.Catalogue() {
		if seen[kind.Name()] == "" {
			t.Errorf("no recorded run has an event %s", kind.Name())
		}
	}
}

// recordedEdit is a row of fixtures/native/edits.json: a change of a copy of a run, and what replay says of it.
type recordedEdit struct {
	What, Run, File, Before, After string
	Repair                         bool // the manifest is made to fit
	Args                           []string
	Verdict                        string
	Exit                           int
	Root                           string   // code of the root; empty for none
	Codes                          []string // further codes of errors
	Says                           string   // what some finding's text holds
}

func recordedEdits(t *testing.T) []recordedEdit {
	t.Helper()
	var edits []recordedEdit
	readExpected(t, filepath.Join(fixtures, "native", "edits.json"), &edits)
	return edits
}

// write makes the edited copy and gives the command line that replays it.
func (e recordedEdit) write(t *testing.T) []string {
	t.Helper()
	dir := runtest.Copy(t, filepath.Join(fixtures, "native", "runs", e.Run), filepath.Join(t.TempDir(), "run"))
	if e.File != "" {
		runtest.Replace(t, dir, e.File, e.Before, e.After)
	}
	if e.Repair {
		runtest.Repair(t, dir)
	}
	return append([]string{"replay", dir}, inFolder(filepath.Join(fixtures, "native"), e.Args)...)
}

// R1–R7: each edit of a recorded run has its verdict, its root and its words.
func TestReplayOfAnEditedRunHasItsOutcome(t *testing.T) {
	runs := map[string]bool{}
	for _, e := range recordedEdits(t) {
		t.Run(e.What, func(t *testing.T) {
			r, exit := runJSON(t, e.write(t)...)
			if r.Verdict != e.Verdict || exit != e.Exit {
				t.Errorf("%s, exit %d; want %s, exit %d:%s", r.Verdict, exit, e.Verdict, e.Exit, inShort(r.errors()))
			}
			codes, root, said := []string{}, "", e.Says == ""
			for _, f := range r.all() {
				if f.Severity == "error" {
					codes = append(codes, f.Code)
				}
				if f.Class == "root" {
					root = f.Code
				}
				said = said || strings.Contains(f.Detail+f.Pointer+f.Hint, e.Says)
			}
			if root != e.Root {
				t.Errorf("the root is %q, want %q:%s", root, e.Root, inShort(r.errors()))
			}
			for _, code := range e.Codes {
				if !slices.Contains(codes, code) {
					t.Errorf("no %s:%s", code, inShort(r.errors()))
				}
			}
			if !said {
				t.Errorf("nothing says %q:%s", e.Says, inShort(r.errors()))
			}
		})
		runs[e.Run] = true
	}
	for _, r := range recordedRuns(t) {
		if !r.Undecided && !runs[r.Name] && !runs[r.Name+"/0001"] {
			t.Errorf("no edit of %s", r.Name)
		}
	}
}

// inShort names findings by class, code and event.
func inShort(fs []reportedEntry) string {
	var b strings.Builder
	for _, f := range fs {
		at := "-"
		if f.EventIndex != nil {
			at = strconv.Itoa(*f.EventIndex)
		}
		b.WriteString("\n  " + f.Class + " " + f.Code + " " + at + " " + filepath.Base(f.Artifact) + f.Pointer + ": " + f.Detail)
	}
	return b.String()
}
