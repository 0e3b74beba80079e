package cmd_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/golden"
	"github.com/dmpl/dmpl/pkg/schema"
)

// invocation is one command line that reads fixtures.
type invocation struct {
	name string
	args []string
}

// everyReport lists the command lines of all fixtures that give a report, in a fixed order.
func everyReport(t *testing.T) []invocation {
	t.Helper()
	all := slices.Concat(everyPairAndCheck(t), everyInput(t), everyRun(t), everyReplay(t), everyStream(t), everyAudit(t), everyLedger(t))
	if len(all) < 500 {
		t.Fatalf("only %d invocations: fixtures are missing", len(all))
	}
	return all
}

func everyPairAndCheck(t *testing.T) []invocation {
	t.Helper()
	files := map[string][]string{"pairs": {"left.memory_trace.json", "right.memory_trace.json"}, "checks": {"memory_trace.json"}}
	command := map[string]string{"pairs": "diff", "checks": "verify"}
	var all []invocation
	for _, folder := range []string{"checks", "pairs"} {
		entries, err := os.ReadDir(filepath.Join(fixtures, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			dir := filepath.Join(fixtures, folder, e.Name())
			var want wanted
			readExpected(t, filepath.Join(dir, "expected.json"), &want)
			args := []string{command[folder]}
			for _, file := range files[folder] {
				args = append(args, filepath.Join(dir, file))
			}
			all = append(all, invocation{folder + "/" + e.Name(), append(args, inFolder(dir, want.Args)...)})
		}
	}
	return all
}

func everyInput(t *testing.T) []invocation {
	t.Helper()
	var cases []inputCase
	readExpected(t, filepath.Join(fixtures, "input", "expected.json"), &cases)
	var all []invocation
	for _, c := range cases {
		if c.Verdict != nil {
			args := append(strings.Fields(c.Command), filepath.Join(fixtures, "input", c.File))
			all = append(all, invocation{"input/" + c.File, args})
		}
	}
	return all
}

func everyRun(t *testing.T) []invocation {
	t.Helper()
	var all []invocation
	add := func(dir, command string, paths, args []string) {
		in := invocation{dir + " " + command + " " + strings.Join(slices.Concat(paths, args), " "), []string{command}}
		for _, path := range paths {
			in.args = append(in.args, filepath.Join(fixtures, dir, path))
		}
		in.args = append(in.args, inFolder(filepath.Join(fixtures, dir), args)...)
		all = append(all, in)
	}
	for _, folder := range runFolders {
		var runs struct{ Diff, Verify []runCase }
		readExpected(t, filepath.Join(fixtures, folder, "expected.json"), &runs)
		for _, c := range runs.Diff {
			add(folder, "diff", []string{c.Left, c.Right}, nil)
		}
		for _, c := range runs.Verify {
			add(folder, "verify", []string{c.Run}, nil)
		}
	}
	var demo struct{ Diff, Verify []demoCase }
	readExpected(t, filepath.Join(fixtures, "demo", "expected.json"), &demo)
	for _, c := range demo.Diff {
		add("demo", "diff", []string{c.Left, c.Right}, c.Args)
	}
	for _, c := range demo.Verify {
		add("demo", "verify", []string{c.Path}, c.Args)
	}
	return all
}

// reportOf runs a command line in the test's own process and gives its report.
func reportOf(t *testing.T, in invocation, format string) []byte {
	t.Helper()
	p := newProcess(t)
	p.Now = func() time.Time {
		t.Error("the clock was read")
		return time.Time{}
	}
	p.Run(append(slices.Clone(in.args), "--format", format))
	if p.out.Len() == 0 || p.errs.Len() != 0 {
		t.Fatalf("%s: %d bytes of report, stderr %q", in.name, p.out.Len(), p.errs)
	}
	return p.out.Bytes()
}

// Z3, Z4: every report is what its schema says.
func TestEveryReportIsValid(t *testing.T) {
	for _, in := range everyReport(t) {
		violations, err := schema.Validate("dmpl.report.v1", reportOf(t, in, "json"))
		if err != nil || len(violations) > 0 {
			t.Errorf("%s: %v %v", in.name, err, violations)
		}
	}
}

// Z4: no report tells where, when or on which machine it was made.
func TestNoReportTellsItsMachine(t *testing.T) {
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	forbidden := []string{here, os.TempDir() + string(filepath.Separator), time.Now().Format(time.DateOnly)}
	if host, err := os.Hostname(); err == nil && len(host) > len("local") {
		forbidden = append(forbidden, host)
	} else {
		t.Logf("NOT CHECKED: the name of this machine (%q) is too short to be looked for", host)
	}
	for _, in := range everyReport(t) {
		for _, format := range []string{"json", "text"} {
			text := string(reportOf(t, in, format))
			for _, word := range forbidden {
				if strings.Contains(text, word) {
					t.Errorf("%s, %s: the report holds %q", in.name, format, word)
				}
			}
		}
	}
}

// Z4: the reports of all fixtures have these digests on every platform. `GOARCH=386 go test` compares with the same file.
func TestReportsAreTheSameOnEveryPlatform(t *testing.T) {
	var list bytes.Buffer
	for _, in := range everyReport(t) {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(unversioned(reportOf(t, in, "json"))), in.name)
	}
	golden.Assert(t, filepath.Join("testdata", "report_digests.txt"), list.Bytes())
}

// unversioned takes out the line that names dmpl's own version.
func unversioned(report []byte) []byte {
	start := bytes.Index(report, []byte("\n  \"tool\": "))
	end := start + 1 + bytes.IndexByte(report[start+1:], '\n')
	return slices.Concat(report[:start], report[end:])
}

// Z4: neither language, time zone nor the number of processors changes a byte.
func TestReportsDoNotDependOnTheEnvironment(t *testing.T) {
	environments := [][]string{
		{"LANG=C", "TZ=UTC", "GOMAXPROCS=1"},
		{"LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "TZ=Pacific/Apia", "GOMAXPROCS=1"},
		{"LANG=tr_TR.UTF-8", "LC_ALL=tr_TR.UTF-8", "TZ=Pacific/Apia", "GOMAXPROCS=8"},
	}
	// Each process costs some milliseconds: all of the runs, and every fortieth of the rest.
	var some []invocation
	for i, in := range everyReport(t) {
		if i%40 == 0 || strings.HasPrefix(in.name, "demo ") || strings.HasPrefix(in.name, "runs ") {
			some = append(some, in)
		}
	}
	for _, in := range some {
		for _, format := range []string{"json", "text"} {
			want := reportIn(t, in, format, environments[0])
			for _, env := range environments[1:] {
				if got := reportIn(t, in, format, env); !bytes.Equal(got, want) {
					t.Errorf("%s, %s: another report under %s", in.name, format, env)
				}
			}
		}
	}
}

// reportIn runs a command line as a process of its own, in an environment of its own.
func reportIn(t *testing.T, in invocation, format string, env []string) []byte {
	t.Helper()
	c := exec.Command("dmpl", append(slices.Clone(in.args), "--format", format)...)
	c.Env = append(env, "PATH="+os.Getenv("PATH"), "GOCOVERDIR="+t.TempDir())
	if runtime.GOOS == "windows" {
		c.Env = append(c.Env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	if out.Len() == 0 || errs.Len() != 0 {
		t.Fatalf("%s: %d bytes of report, stderr %q", in.name, out.Len(), &errs)
	}
	return out.Bytes()
}
