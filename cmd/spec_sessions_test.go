package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// session is a command of a page with what it prints.
type session struct {
	args  []string
	in    string
	print string
}

var sessionCommand = regexp.MustCompile(`^\$ dmpl (.*) <<< '([^']*)'$`)

// sessions gives the commands that stand in the console blocks of a page: `$ dmpl ARGS <<< 'INPUT'`, and what they print
// below.
func sessions(t *testing.T, text string) []session {
	t.Helper()
	var all []session
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "```console":
			inside = true
		case line == "```":
			inside = false
		case inside && strings.HasPrefix(line, "$ "):
			parts := sessionCommand.FindStringSubmatch(line)
			if parts == nil {
				t.Fatalf("no command of a session: %s", line)
			}
			all = append(all, session{args: strings.Fields(parts[1]), in: parts[2] + "\n"})
		case inside && len(all) > 0:
			all[len(all)-1].print += line + "\n"
		}
	}
	return all
}

// The pages of the rules show what dmpl prints, to the byte; where it prints nothing but an error, that.
func TestSessionsOfTheRules(t *testing.T) {
	pages, err := filepath.Glob("../docs/spec/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions(t, string(text)) {
			found++
			p := newProcess(t)
			p.In = strings.NewReader(s.in)
			p.Run(s.args)
			if got := p.out.String() + p.errs.String(); got != s.print {
				t.Errorf("%s: dmpl %s <<< '%s' prints\n%s", filepath.Base(path), strings.Join(s.args, " "), strings.TrimSuffix(s.in, "\n"), got)
			}
		}
	}
	if found == 0 {
		t.Error("no page has a session")
	}
}
