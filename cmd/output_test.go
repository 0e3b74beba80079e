package cmd_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/cmd"
	"github.com/dmpl/dmpl/pkg/finding"
)

func verdictReport(verdict finding.Verdict) finding.Report {
	return finding.Report{Command: "verify", Results: []finding.Result{{Name: "a", Verdict: verdict}}}
}

func TestEmitGivesTheExitCodeOfTheVerdict(t *testing.T) {
	trouble := verdictReport(finding.Undecided)
	trouble.Results[0].Trouble = true
	tests := []struct {
		name   string
		report finding.Report
		args   []string
		want   int
	}{
		{"holds", verdictReport(finding.Pass), nil, 0},
		{"fails", verdictReport(finding.Fail), nil, 1},
		{"diverges", verdictReport(finding.Divergent), nil, 1},
		{"undecided", verdictReport(finding.Undecided), nil, 3},
		{"nothing", finding.Report{Command: "verify"}, nil, 3},
		{"trouble", trouble, []string{"--no-fail", "--allow-undecided"}, 2},
		{"fails, no fail", verdictReport(finding.Fail), []string{"--no-fail"}, 0},
		{"fails, undecided allowed", verdictReport(finding.Fail), []string{"--allow-undecided"}, 1},
		{"undecided, allowed", verdictReport(finding.Undecided), []string{"--allow-undecided"}, 0},
		{"undecided, no fail", verdictReport(finding.Undecided), []string{"--no-fail"}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, format := range []string{"text", "json"} {
				p := newProcess(t)
				if got := p.Fail(p.Emit(tt.report, append(tt.args, "--format", format)...)); got != tt.want {
					t.Errorf("%s: exit code %d, want %d", format, got, tt.want)
				}
				if p.errs.Len() != 0 {
					t.Errorf("%s: stderr %q", format, p.errs)
				}
				if p.out.Len() == 0 {
					t.Errorf("%s: no report", format)
				}
			}
		})
	}
}

func TestEmitWritesJSON(t *testing.T) {
	p := newProcess(t)
	if code := p.Fail(p.Emit(verdictReport(finding.Fail), "--format", "json", "--no-fail")); code != 0 {
		t.Errorf("exit code %d", code)
	}
	var got struct {
		SchemaVersion string `json:"schema_version"`
		Verdict       string
		ExitCode      int `json:"exit_code"`
		Tool          struct{ Name, Version string }
	}
	if err := json.Unmarshal(p.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.SchemaVersion != finding.SchemaVersion || got.Verdict != "fail" || got.ExitCode != 0 || got.Tool.Version == "" {
		t.Errorf("%+v", got)
	}
}

func TestReportThatCannotBeWrittenIsTrouble(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		p := newProcess(t)
		p.Out = writerFunc(func([]byte) (int, error) { return 0, errors.New("no space left") })
		if code := p.Fail(p.Emit(verdictReport(finding.Pass), "--format", format)); code != finding.ExitTrouble {
			t.Errorf("%s: exit code %d", format, code)
		}
		if !strings.HasPrefix(p.errs.String(), "dmpl: cannot write the result: no space left\n") {
			t.Errorf("%s: stderr %q", format, p.errs)
		}
	}
}

func TestColourNeedsATerminalThatShowsIt(t *testing.T) {
	tests := []struct {
		name     string
		terminal cmd.Terminal
		flag     string
		want     bool
	}{
		{"pipe", cmd.Terminal{}, "auto", false},
		{"terminal", cmd.Terminal{Out: true}, "auto", true},
		{"only stderr is a terminal", cmd.Terminal{Err: true}, "auto", false},
		{"NO_COLOR or dumb", cmd.Terminal{Out: true, Plain: true}, "auto", false},
		{"CI", cmd.Terminal{Out: true, CI: true}, "auto", false},
		{"never", cmd.Terminal{Out: true}, "never", false},
		{"always beats all", cmd.Terminal{Plain: true, CI: true}, "always", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProcess(t)
			p.Terminal = tt.terminal
			if code := p.Run([]string{"explain", "--color", tt.flag, "canon.duplicate_key"}); code != 0 {
				t.Fatalf("exit code %d: %s", code, p.errs)
			}
			if got := strings.Contains(p.out.String(), "\x1b["); got != tt.want {
				t.Errorf("colour %v, want %v: %q", got, tt.want, p.out)
			}
		})
	}
}

func TestProgressIsDrawnOnlyWhereSomebodyWatches(t *testing.T) {
	tests := []struct {
		name     string
		terminal cmd.Terminal
		total    int
		want     bool
	}{
		{"terminal", cmd.Terminal{Err: true}, 3, true},
		{"pipe", cmd.Terminal{Out: true}, 3, false},
		{"CI", cmd.Terminal{Err: true, CI: true}, 3, false},
		{"one step", cmd.Terminal{Err: true}, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProcess(t)
			p.Terminal = tt.terminal
			step, done := p.Progress(tt.total, "verify")
			for range tt.total {
				step()
			}
			done()
			if got := strings.Contains(p.errs.String(), "verify"); got != tt.want {
				t.Errorf("drawn %v, want %v: %q", got, tt.want, p.errs)
			}
			if p.out.Len() != 0 {
				t.Errorf("stdout %q", p.out)
			}
		})
	}
}

// Of a stream nobody knows how many events will come: the line counts them, and goes when they are there.
func TestProgressOfOneStream(t *testing.T) {
	stream := filepath.Join("..", "fixtures", "thread", "streams", "s01_chat_refs", "snapshot.json")
	config := filepath.Join(filepath.Dir(stream), "context.json")
	for _, args := range [][]string{
		{"verify", stream}, {"replay", stream, "--context-config", config}, {"diff", stream, stream},
	} {
		for _, watched := range []bool{true, false} {
			p := newProcess(t)
			p.Terminal = cmd.Terminal{Err: watched}
			if code := p.Run(args); code != 0 {
				t.Fatalf("%v: exit code %d: %s", args, code, p.errs)
			}
			if got := strings.Contains(p.errs.String(), args[0]); got != watched {
				t.Errorf("%v on a terminal %t: drawn %t: %q", args, watched, got, p.errs)
			}
			if strings.Contains(p.out.String(), "\r") {
				t.Errorf("%v: progress among the results: %q", args, p.out)
			}
		}
	}
}
