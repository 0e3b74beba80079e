package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sessionPages are the pages whose console blocks are one session each, from the top of the page to its end, in a folder beside
// the fixtures of this repository.
var sessionPages = []string{"policies.md", "runbook.md", "scale.md"}

var pageCommand = regexp.MustCompile(`^\$ dmpl (.*?)(?: > (\S+))?$`)

// The pages for operators show what dmpl prints; … stands for what is another one each time.
func TestSessionsOfThePages(t *testing.T) {
	docs, err := filepath.Abs("../docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range sessionPages {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(docs, page))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.Symlink(filepath.Join(docs, "..", "fixtures"), filepath.Join(dir, "fixtures")); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			runPage(t, dir, string(text))
		})
	}
}

func runPage(t *testing.T, dir, text string) {
	commands := 0
	for _, block := range strings.Split(text, "\n```")[1:] {
		kind, body, _ := strings.Cut(block, "\n")
		switch {
		case kind == "yaml" && strings.HasPrefix(body, "# dmpl.yaml\n"):
			if err := os.WriteFile(filepath.Join(dir, "dmpl.yaml"), []byte(body+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		case kind == "console":
			for _, command := range strings.Split("\n"+body, "\n$ ")[1:] {
				line, want, _ := strings.Cut(command, "\n")
				runLine(t, dir, "$ "+line, want)
				commands++
			}
		}
	}
	if commands == 0 {
		t.Error("the page has no session")
	}
}

func runLine(t *testing.T, dir, line, want string) {
	parts := pageCommand.FindStringSubmatch(line)
	if parts == nil {
		t.Fatalf("no command of a session: %s", line)
	}
	p := newProcess(t)
	p.Dir = dir
	p.Run(strings.Fields(parts[1]))
	if parts[2] != "" {
		if err := os.WriteFile(filepath.Join(dir, parts[2]), p.out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		p.out.Reset()
	}
	got := strings.TrimSuffix(p.out.String()+p.errs.String(), "\n")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSuffix(want, "\n")), "…", ".*")
	if !regexp.MustCompile(`^` + pattern + `$`).MatchString(got) {
		t.Errorf("%s prints\n%s", line, got)
	}
}
