package cmd_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inputCase is a row of fixtures/input/expected.json.
type inputCase struct {
	Command, File, What string
	Verdict, Code       *string
	Exit                int
	Notes               []string
	Offset              *int
	Pointer             *string
}

// C1, V0, Z1, Z2, Z4: input that is no evidence has one reason, at one place.
func TestInputsHaveTheExpectedOutcome(t *testing.T) {
	var cases []inputCase
	readExpected(t, filepath.Join(fixtures, "input", "expected.json"), &cases)
	if len(cases) == 0 {
		t.Fatal("no inputs")
	}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.Command, " ", "_")+" "+c.File, func(t *testing.T) {
			args := append(strings.Fields(c.Command), filepath.Join(fixtures, "input", c.File))
			if c.Verdict == nil {
				c.checkMessage(t, args)
				return
			}
			c.checkReport(t, args)
		})
	}
}

// checkMessage holds a command without a report to its row: stdout stays empty where the exit code is not 0.
func (c inputCase) checkMessage(t *testing.T, args []string) {
	t.Helper()
	p := newProcess(t)
	if code := p.Run(args); code != c.Exit {
		t.Errorf("%s: exit code %d, want %d; %s", c.What, code, c.Exit, p.errs)
	}
	if c.Code == nil {
		if p.errs.Len() != 0 || p.out.Len() == 0 {
			t.Errorf("%s: %d bytes on stdout, stderr %q", c.What, p.out.Len(), p.errs)
		}
		return
	}
	if p.out.Len() != 0 {
		t.Errorf("%s: stdout %q", c.What, p.out)
	}
	message, _, _ := strings.Cut(p.errs.String(), "\n")
	where := args[len(args)-1] + ": "
	if c.Offset != nil {
		where = fmt.Sprintf("%sbyte %d", where, *c.Offset)
	}
	if !strings.HasPrefix(message, "dmpl: "+where) {
		t.Errorf("%s: %q does not begin with %q", c.What, message, where)
	}
	if !strings.HasSuffix(message, " ("+*c.Code+")") {
		t.Errorf("%s: %q does not end with %s", c.What, message, *c.Code)
	}
	if c.Pointer != nil && !strings.Contains(message, "at "+*c.Pointer+": ") {
		t.Errorf("%s: %q does not name %s", c.What, message, *c.Pointer)
	}
}

// checkReport holds a JSON report to its row: the one error, with its place.
func (c inputCase) checkReport(t *testing.T, args []string) {
	t.Helper()
	r, code := runJSON(t, args...)
	if code != c.Exit || r.Verdict != *c.Verdict {
		t.Errorf("%s: %s, exit %d; want %s, exit %d", c.What, r.Verdict, code, *c.Verdict, c.Exit)
	}
	wantNotes(t, r, c.Notes)
	errs := r.errors()
	if c.Code == nil {
		if len(errs) > 0 {
			t.Errorf("%s: not expected:%s", c.What, describe(errs))
		}
		return
	}
	if len(errs) != 1 || errs[0].Code != *c.Code {
		t.Fatalf("%s: want %s alone, got:%s", c.What, *c.Code, describe(errs))
	}
	if c.Offset != nil && !strings.HasSuffix(errs[0].Detail, fmt.Sprintf(" at byte %d", *c.Offset)) {
		t.Errorf("%s: %q, want byte %d", c.What, errs[0].Detail, *c.Offset)
	}
	if c.Pointer != nil && !strings.HasPrefix(errs[0].Pointer, *c.Pointer) {
		t.Errorf("%s: pointer %q, want %q", c.What, errs[0].Pointer, *c.Pointer)
	}
}

func wantNotes(t *testing.T, r reported, codes []string) {
	t.Helper()
	for _, code := range codes {
		if !slices.ContainsFunc(r.all(), func(f reportedEntry) bool { return f.Code == code && f.Severity != "error" }) {
			t.Errorf("no note or warning %s", code)
		}
	}
}

// runCase is a row of fixtures/runs/expected.json.
type runCase struct {
	Left, Right, Run          string
	What, Verdict             string
	Exit                      int
	Codes, Notes, Absent, May []string
}

func (c runCase) check(t *testing.T, args ...string) {
	t.Helper()
	r, code := runJSON(t, args...)
	if r.Verdict != c.Verdict || code != c.Exit {
		t.Errorf("%s: %s, exit %d; want %s, exit %d", c.What, r.Verdict, code, c.Verdict, c.Exit)
	}
	var got []string
	for _, f := range r.errors() {
		if !slices.Contains(got, f.Code) && !slices.Contains(c.May, f.Code) {
			got = append(got, f.Code)
		}
	}
	if !slices.Equal(got, c.Codes) {
		t.Errorf("%s: codes %q, want %q; findings:%s", c.What, got, c.Codes, describe(r.errors()))
	}
	wantNotes(t, r, c.Notes)
	for _, f := range r.all() {
		if slices.Contains(c.Absent, f.Code) {
			t.Errorf("%s: %s is reported", c.What, f.Code)
		}
	}
}

// runFolders are the fixtures that hold runs: of Orket, folder by folder, and native ones.
var runFolders = []string{"runs", "runs-native"}

// E3, E10, P6, V6, Z1, Z2: run folders compare turn by turn, chains link by link, and all verify as a whole; over several
// traces 2 goes before 1 before 3.
func TestRunsHaveTheExpectedOutcome(t *testing.T) {
	for _, folder := range runFolders {
		var expected struct{ Diff, Verify []runCase }
		dir := filepath.Join(fixtures, folder)
		readExpected(t, filepath.Join(dir, "expected.json"), &expected)
		if len(expected.Diff) == 0 || len(expected.Verify) == 0 {
			t.Fatal("no runs")
		}
		for _, c := range expected.Diff {
			t.Run(folder+" diff "+c.Left+" "+c.Right, func(t *testing.T) {
				c.check(t, "diff", filepath.Join(dir, c.Left), filepath.Join(dir, c.Right))
			})
		}
		for _, c := range expected.Verify {
			t.Run(folder+" verify "+c.Run, func(t *testing.T) { c.check(t, "verify", filepath.Join(dir, c.Run)) })
		}
	}
}

// demoCase is a row of fixtures/demo/expected.json.
type demoCase struct {
	Path, Left, Right string
	wanted
}

// E11, V5: the runs that `make demo` shows have the outcome that it promises.
func TestDemoHasTheExpectedOutcome(t *testing.T) {
	var expected struct{ Diff, Verify []demoCase }
	dir := filepath.Join(fixtures, "demo")
	readExpected(t, filepath.Join(dir, "expected.json"), &expected)
	if len(expected.Diff) == 0 || len(expected.Verify) == 0 {
		t.Fatal("no demo")
	}
	for _, c := range expected.Verify {
		t.Run("verify "+c.Path, func(t *testing.T) {
			r, _ := runJSON(t, append([]string{"verify", filepath.Join(dir, c.Path)}, inFolder(dir, c.Args)...)...)
			compare(t, r, c.wanted, "memory_trace.json")
		})
	}
	for _, c := range expected.Diff {
		t.Run("diff "+c.Left+" "+c.Right, func(t *testing.T) {
			r, _ := runJSON(t, append([]string{"diff", filepath.Join(dir, c.Left), filepath.Join(dir, c.Right)}, inFolder(dir, c.Args)...)...)
			compare(t, r, c.wanted, "memory_trace.json")
		})
	}
}
