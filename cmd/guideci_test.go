package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// guideStep is a command of docs/guide-ci.md: a file that is written, or arguments of dmpl with the exit code that is said.
type guideStep struct {
	line       string
	path, text string // of a file
	exit       int
}

// guideSteps reads the blocks of shell commands of the guide.
func guideSteps(t *testing.T) []guideStep {
	t.Helper()
	var steps []guideStep
	inside, file := false, false
	for line := range strings.Lines(string(readFile(t, filepath.Join("..", "docs", "guide-ci.md")))) {
		last := len(steps) - 1
		switch bare := strings.TrimSuffix(line, "\n"); {
		case file && bare == "EOF":
			file = false
		case file:
			steps[last].text += line
		case bare == "```sh":
			inside = true
		case bare == "```":
			inside = false
		case !inside:
		case strings.HasPrefix(bare, "cat > "):
			path, heredoc := strings.CutSuffix(strings.TrimPrefix(bare, "cat > "), " <<'EOF'")
			if file = heredoc; !heredoc {
				t.Fatalf("no file: %s", bare)
			}
			steps = append(steps, guideStep{line: bare, path: path})
		default:
			command, comment, _ := strings.Cut(bare, " # exit code ")
			step := guideStep{line: command}
			if comment != "" {
				step.exit, _ = strconv.Atoi(comment[:1])
			}
			steps = append(steps, step)
		}
	}
	return steps
}

// The guide is followed to the letter by somebody who has an empty folder and dmpl.
func TestTheGuideHolds(t *testing.T) {
	steps := guideSteps(t)
	t.Chdir(t.TempDir())
	t.Setenv("CI", "")
	ran := 0
	for _, s := range steps {
		words := strings.Fields(s.line)
		var err error
		switch {
		case s.path != "":
			err = os.WriteFile(s.path, []byte(s.text), 0o600)
		case words[0] == "mkdir":
			err = os.Mkdir(words[1], 0o755)
		case words[0] == "cp":
			var text []byte
			if text, err = os.ReadFile(words[1]); err == nil {
				err = os.WriteFile(words[2], text, 0o600)
			}
		case words[0] == "dmpl":
			p := newProcess(t)
			p.Dir = "."
			ran++
			if code := p.Run(words[1:]); code != s.exit {
				t.Errorf("%s: exit code %d, want %d\n%s%s", s.line, code, s.exit, p.out, p.errs)
			}
			if s.exit == 1 && !bytes.Contains(p.out.Bytes(), []byte("[-Player-]{+Traveller+}")) {
				t.Errorf("%s does not show the word that changed:\n%s", s.line, p.out)
			}
		default:
			t.Errorf("nobody knows how to run %s", s.line)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands", ran)
	}
}
