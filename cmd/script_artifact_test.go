package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// fixture FROM TO copies a file or a folder of the fixtures.
func copyFixture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fixture FROM TO")
	}
	here, err := os.Getwd()
	ts.Check(err)
	from, to := filepath.Join(here, fixtures, args[0]), ts.MkAbs(args[1])
	info, err := os.Stat(from)
	ts.Check(err)
	if info.IsDir() {
		ts.Check(os.CopyFS(to, os.DirFS(from)))
		return
	}
	data, err := os.ReadFile(from)
	ts.Check(err)
	ts.Check(os.WriteFile(to, data, 0o600))
}

// refused FILE PATTERN wants verify and diff, with the file on either side of good.json, to end with exit code 2 and a
// report of one line that begins with the file and matches, a hint after it, and no control character (C1, Z2, Z4, Z5).
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: refused FILE PATTERN")
	}
	file, pattern := args[0], args[1]
	for _, command := range [][]string{{"verify", file}, {"diff", "good.json", file}, {"diff", file, "good.json"}} {
		exits(ts, false, append([]string{"2", "dmpl"}, command...))
		if errs := ts.ReadFile("stderr"); errs != "" {
			ts.Fatalf("stderr %q", errs)
		}
		blames(ts, false, []string{file, pattern})
	}
}

// blames FILE PATTERN wants the text report in stdout to have one line `  FILE: …` that matches, and the hint after it.
func blames(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: blames FILE PATTERN")
	}
	text := ts.ReadFile("stdout")
	harmless(ts, text)
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	lines := strings.Split(text, "\n")
	told := 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "  "+args[0]+": ") {
			continue
		}
		told++
		if !pattern.MatchString(line) {
			ts.Fatalf("%q does not match %q", line, args[1])
		}
		if !strings.HasPrefix(lines[i+1], "    hint     ") {
			ts.Fatalf("no hint behind %q, but %q", line, lines[i+1])
		}
	}
	if told != 1 || !strings.HasPrefix(lines[0], "trouble  ") {
		ts.Fatalf("%d lines about %s, want one:\n%s", told, args[0], text)
	}
}

// clean wants stdout and stderr without a character that a terminal obeys or a reader does not see (Z5).
func clean(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: clean")
	}
	harmless(ts, ts.ReadFile("stdout"))
	harmless(ts, ts.ReadFile("stderr"))
}

func harmless(ts *testscript.TestScript, text string) {
	if found := dangerous(text); found != "" {
		ts.Fatalf("%s is written raw: %q", found, text)
	}
}

// oneLine wants stdout to be one line and stderr to be empty.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: oneline")
	}
	text := ts.ReadFile("stdout")
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || ts.ReadFile("stderr") != "" {
		ts.Fatalf("want one line: %q, stderr %q", text, ts.ReadFile("stderr"))
	}
}
