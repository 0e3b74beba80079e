package cmd_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// rolledLog writes the lines of fixtures/audit/log.jsonl as a rolling log of several files, and something beside it.
func rolledLog(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	lines := bytes.SplitAfter(readFile(t, filepath.Join(fixtures, "audit", "log.jsonl")), []byte("\n"))
	for i, name := range names {
		rest := lines[i : i+1]
		if i == len(names)-1 {
			rest = lines[i:]
		}
		runtest.Put(t, dir, name, bytes.Join(rest, nil))
	}
	return dir
}

// V0, E12: the files of a rolling log are one log, however it was rolled: verified as one, and compared as one with another
// recording, whose names have other times.
func TestARollingLogIsOneLog(t *testing.T) {
	two := rolledLog(t, "audit-20260221-100000-000.jsonl", "audit-20260221-100105-001.jsonl")
	one := rolledLog(t, "audit-20260301-090000-000.jsonl")
	log := "audit-*.jsonl"
	r, exit := runJSON(t, "verify", two)
	if exit != 0 || len(r.Results) != 1 || filepath.Base(r.Results[0].Name) != log {
		t.Errorf("verify: exit code %d, %+v", exit, r.Results)
	}
	for _, args := range [][]string{{"diff", two, one}, {"diff", one, two}} {
		if r, exit := runJSON(t, args...); exit != 0 || len(r.Results) != 1 || r.Results[0].Name != log {
			t.Errorf("diff: exit code %d, %+v", exit, r.Results)
		}
	}
	// What is wrong is said of the file where it stands, by its line there.
	changed := rolledLog(t, "audit-20260221-100000-000.jsonl", "audit-20260221-100105-001.jsonl")
	runtest.Replace(t, changed, "audit-20260221-100105-001.jsonl", `"Seed":`, `"Seed":1`)
	r, exit = runJSON(t, "diff", one, changed)
	if errs := r.errors(); exit != 1 || len(errs) != 1 || errs[0].RightPointer != "/0/Seed" || errs[0].Pointer != "/1/Seed" ||
		!strings.HasSuffix(errs[0].RightArtifact, "audit-20260221-100105-001.jsonl") {
		t.Errorf("diff: exit code %d:%s", exit, describe(errs))
	}
	runtest.Replace(t, changed, "audit-20260221-100105-001.jsonl", `"OutputHash":"`, `"OutputHash":"x`)
	r, exit = runJSON(t, "verify", changed)
	if errs := r.errors(); exit != 1 || errs[0].Pointer != "/0/OutputHash" || !strings.HasSuffix(errs[0].Artifact, "audit-20260221-100105-001.jsonl") {
		t.Errorf("verify: exit code %d:%s", exit, describe(errs))
	}
	// V1: a record stands once in a log, not once in a file.
	again := rolledLog(t, "audit-20260221-100000-000.jsonl", "audit-20260221-100105-001.jsonl")
	runtest.Put(t, again, "audit-20260221-100210-002.jsonl", readFile(t, filepath.Join(again, "audit-20260221-100000-000.jsonl")))
	r, exit = runJSON(t, "verify", again)
	if errs := r.errors(); exit != 1 || errs[0].Code != "audit.record_twice" || !strings.HasSuffix(errs[0].Artifact, "-002.jsonl") {
		t.Errorf("verify of a record twice: exit code %d:%s", exit, describe(errs))
	}
	// Another prefix is another log.
	other := rolledLog(t, "audit-20260221-100000-000.jsonl", "shop-20260221-100105-001.jsonl")
	if r, _ := runJSON(t, "verify", other); len(r.Results) != 2 {
		t.Errorf("two logs: %+v", r.Results)
	}
	if r, exit := runJSON(t, "diff", two, other); exit != 1 || len(r.Results) != 2 {
		t.Errorf("diff with two logs: exit code %d, %+v", exit, r.Results)
	}
}

// V1: what LlamaBrain's own rolling log left is read as one log.
func TestLlamaBrainRolledLogs(t *testing.T) {
	for _, c := range llamaCases(t, "rolling_file.json") {
		var want struct {
			Files []struct{ Path, Content string }
		}
		unmarshal(t, c.Expected, &want)
		dir, lines := t.TempDir(), 0
		for _, f := range want.Files {
			runtest.Put(t, dir, f.Path, []byte(f.Content))
			lines += strings.Count(f.Content, "\n")
		}
		r, exit := runJSON(t, "verify", dir)
		if exit != 3 || len(r.Results) != 1 || len(r.errors()) != lines {
			t.Errorf("%s: exit code %d, %d results, %d findings of %d lines", c.Name, exit, len(r.Results), len(r.errors()), lines)
		}
	}
}
