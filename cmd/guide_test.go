package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// step is a command of a guide and what stands below it.
type step struct{ command, prints string }

// blocks gives the fenced blocks of a page in a language.
func blocks(text, language string) (all []string) {
	_, rest, found := strings.Cut(text, "```"+language+"\n")
	for found {
		var block string
		block, rest, _ = strings.Cut(rest, "```")
		all = append(all, block)
		_, rest, found = strings.Cut(rest, "```"+language+"\n")
	}
	return all
}

func stepsOf(t *testing.T, text string) (all []step) {
	t.Helper()
	for _, block := range blocks(text, "console") {
		for line := range strings.Lines(block) {
			if command, is := strings.CutPrefix(line, "$ dmpl "); is {
				all = append(all, step{command: strings.TrimSpace(command)})
				continue
			}
			all[len(all)-1].prints += line
		}
	}
	return all
}

// The guide of a shared memory can be followed as it stands.
func TestTheGuideOfASharedMemoryHolds(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "guide-store.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := runtest.Copy(t, nativeFixture("inputs", "storage-failed"), filepath.Join(dir, "in"))
	for _, file := range []string{run.SnapshotFile, run.CommitFile} {
		if err := os.Remove(filepath.Join(in, file)); err != nil {
			t.Fatal(err)
		}
	}
	for _, yaml := range blocks(string(text), "yaml") {
		runtest.Put(t, dir, "dmpl.yaml", []byte(yaml))
	}
	t.Chdir(dir)
	t.Setenv("DMPL_ENV", "")
	all := stepsOf(t, string(text))
	if len(all) < 10 {
		t.Fatalf("only %d commands", len(all))
	}
	for _, s := range all {
		p := newProcess(t)
		p.Dir = dir
		p.Run(strings.Fields(s.command))
		if got := p.out.String() + p.errs.String(); got != s.prints && s.prints != "…\n" {
			t.Errorf("dmpl %s prints\n%s\nwant\n%s", s.command, got, s.prints)
		}
	}
}
