package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/report"
)

// dangerous names the first character of a text that a terminal obeys or a reader does not see; "" if there is none.
func dangerous(text string) string {
	if !utf8.ValidString(text) {
		return "a byte that is no UTF-8"
	}
	for _, r := range text {
		if r != '\n' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// hostile are texts that hide, overwrite or fake output where they are written raw.
var hostile = map[string]string{
	"ESC":        "\x1b[2J\x1b]0;title\a",
	"C1":         "\u009b31m\u0090q\u009c",
	"DEL and BS": "\x7f\b\b\b",
	"line":       "x\ndmpl: pass\r\n::error::y\u2028z\u2029",
	"bidi":       "\u202etxt.exe\u2066\u200f\u061c",
	"invisible":  "a\u200bb\ufeffc\u2060\u00ad\U000e0041",
}

// closed are the members whose values are a closed list: with another value the trace is malformed.
var closed = []string{"visibility_mode", "determinism_trace_schema_version", "retrieval_trace_schema_version", "normalization_version", "order"}

// poison adds a text to every string of a document, and to every name inside the arguments; keep leaves members alone.
func poison(value any, text string, keep []string, inArgs bool) any {
	switch v := value.(type) {
	case string:
		return v + text
	case []any:
		for i := range v {
			v[i] = poison(v[i], text, keep, inArgs)
		}
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			if slices.Contains(keep, name) {
				out[name] = member
				continue
			}
			member = poison(member, text, keep, inArgs || name == "normalized_args")
			if inArgs {
				name += text
			}
			out[name] = member
		}
		return out
	}
	return value
}

// poisoned writes a turn of the demo into a folder, with a text in every string.
func poisoned(t *testing.T, folder, text string, keep []string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"memory_trace.json", "memory_retrieval_trace.json"} {
		var doc any
		readExpected(t, filepath.Join(fixtures, "demo", "left", name), &doc)
		data, err := json.Marshal(poison(doc, text, keep, false))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Z5: what stands in a role, a tool name, an argument's name or value, an id or a file name never reaches the output raw.
func TestTextFromArtifactsIsMadeVisible(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		t.Run(name, func(t *testing.T) {
			text, dir := hostile[name], t.TempDir()
			valid, other := filepath.Join(dir, "valid"+text), filepath.Join(dir, "other"+text)
			malformed, broken := filepath.Join(dir, "malformed"+text), filepath.Join(dir, "broken"+text)
			poisoned(t, valid, text, closed)
			poisoned(t, other, text+"2", closed)
			poisoned(t, malformed, text, nil)
			poisoned(t, broken, text, closed)
			cut(t, filepath.Join(broken, "memory_trace.json"))
			p := newProcess(t)
			p.Run([]string{"diff", valid, other})
			if shown := report.Visible(text); strings.Count(p.out.String(), shown) < 10 {
				t.Fatalf("the text is not shown as %s, so nothing is tested: %s", shown, p.out)
			}
			for _, args := range [][]string{
				{"verify", valid},
				{"verify", malformed, other},
				{"verify", broken, filepath.Join(dir, "none"+text)},
				{"diff", valid, other},
				{"diff", valid, malformed},
				{"diff", broken, other},
				{"diff", valid, other, "--ignore", "/" + text},
				{"diff", valid, other, "--ignore", text},
				{"diff", valid, other, "--profiles", text},
				{"verify", "--" + text, valid},
			} {
				for _, more := range [][]string{{"--format", "text"}, {"--format", "json"}, {"-q"}} {
					p := newProcess(t)
					p.Run(append(slices.Clone(args), more...))
					if p.out.Len()+p.errs.Len() == 0 {
						t.Errorf("%q %q: no output", args, more)
					}
					for _, out := range []*bytes.Buffer{p.out, p.errs} {
						if found := dangerous(out.String()); found != "" {
							t.Errorf("%q %q writes %s: %q", args, more, found, out)
						}
					}
				}
			}
		})
	}
}

// Z5: a line break in an artifact makes no line of its own in the report.
func TestLineBreaksMakeNoLine(t *testing.T) {
	dir := t.TempDir()
	poisoned(t, filepath.Join(dir, "a"), hostile["line"], closed)
	poisoned(t, filepath.Join(dir, "b"), hostile["line"]+"2", closed)
	p := newProcess(t)
	if code := p.Run([]string{"diff", filepath.Join(dir, "a"), filepath.Join(dir, "b")}); code == 0 {
		t.Fatalf("exit code 0: %s", p.out)
	}
	for line := range strings.Lines(p.out.String()) {
		if strings.HasPrefix(line, "dmpl: ") || strings.HasPrefix(line, "::error") {
			t.Errorf("a faked line: %q", line)
		}
	}
}

// cut takes the last third of a file away.
func cut(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:2*len(data)/3], 0o600); err != nil {
		t.Fatal(err)
	}
}
