package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
)

var update = flag.Bool("update", false, "write the golden files and docs/reasons.md")

// golden compares got with a file, or writes the file under -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is rendered now (write it with -update):\n%s", path, got)
	}
}

func asText(t *testing.T, r finding.Report, o report.TextOptions) string {
	t.Helper()
	var out strings.Builder
	if err := report.Text(&out, r, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func asJSON(t *testing.T, r finding.Report) string {
	t.Helper()
	var out strings.Builder
	if err := report.JSON(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRenderedReports(t *testing.T) {
	reports := map[string]finding.Report{
		"divergent":  of("diff", divergent()),
		"reworded":   of("diff", reworded()),
		"equivalent": of("diff", equivalent()),
		"fail":       of("verify", failing()),
		"undecided":  of("verify", unprovable()),
		"trouble":    of("verify", unreadable()),
		"several":    of("verify", passing("a.json"), failing(), passing("b.json"), passing("c.json"), unprovable(), unreadable()),
		"holding":    of("verify", passing("a.json"), passing("b.json")),
		"no-result":  of("verify"),
	}
	options := map[string]report.TextOptions{
		"txt":       {},
		"80.txt":    {Width: 80},
		"color.txt": {Color: true, Width: 100},
		"quiet.txt": {Quiet: true},
	}
	for name, r := range reports {
		t.Run(name, func(t *testing.T) {
			for suffix, o := range options {
				golden(t, filepath.Join("testdata", name+"."+suffix), []byte(asText(t, r, o)))
			}
			golden(t, filepath.Join("testdata", name+".json"), []byte(asJSON(t, r)))
		})
	}
}

func TestExplainedCodes(t *testing.T) {
	for _, code := range []finding.Code{finding.EquivArguments, finding.ClaimUnknown, finding.DigestMismatch, finding.CanonTooDeep, finding.DigestOpaque} {
		var out bytes.Buffer
		if err := report.Explain(&out, finding.Lookup(code), false); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", "explain", string(code)+".txt"), out.Bytes())
	}
}

// X1: an answer is explained as what it is, in both its kinds.
func TestExplainedAnswers(t *testing.T) {
	for _, a := range finding.Answers() {
		if a.Code != "MAX_REFS_EXCEEDED" && a.Code != "thread.unverifiable" {
			continue
		}
		var out bytes.Buffer
		if err := report.ExplainAnswer(&out, a, false); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", "explain", string(a.Code)+".txt"), out.Bytes())
	}
}

func TestExplainPaintsOnlyWhenAsked(t *testing.T) {
	var plain, painted bytes.Buffer
	if err := report.Explain(&plain, finding.Lookup(finding.EquivRole), false); err != nil {
		t.Fatal(err)
	}
	if err := report.Explain(&painted, finding.Lookup(finding.EquivRole), true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(painted.String(), "\x1b[1m") {
		t.Errorf("plain %q, painted %q", plain.String(), painted.String())
	}
}

// docs/reasons.md is written from the code table and must not lag behind it.
func TestReasonsPageIsFresh(t *testing.T) {
	var out bytes.Buffer
	if err := report.Reasons(&out); err != nil {
		t.Fatal(err)
	}
	for _, e := range finding.Entries() {
		if strings.Count(out.String(), "\n### "+string(e.Code)+"\n") != 1 {
			t.Errorf("%s does not stand on the page once", e.Code)
		}
	}
	golden(t, filepath.Join("..", "..", "docs", "reasons.md"), out.Bytes())
}
