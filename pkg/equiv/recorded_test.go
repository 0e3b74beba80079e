package equiv_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	native "github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// W, R2: the answers of two runs are compared verbatim where no digest shows that they differ.
func TestAnswersAreCompared(t *testing.T) {
	base := runtest.Write(t, filepath.Join(t.TempDir(), "base"), runtest.Features{Turns: 2})
	for _, c := range []struct {
		what          string
		want          finding.Verdict
		found         bool
		pointer       string
		before, after string
	}{
		{"an answer", finding.Divergent, true, "/0/text", "I guard the gate.", "I guard the king."},
		{"the same answer, spelt otherwise", finding.Equivalent, false, "", "I guard the gate.", `I guard the \u0067ate.`},
		{"a flag", finding.Equivalent, false, "", `"truncated":false`, `"truncated":true`},
		{"an answer without a text", finding.Undecided, false, "", `"text":"I guard the gate."`, `"text":7`},
		{"an answer of another attempt", finding.Divergent, true, "", `"attempt":0`, `"attempt":1`},
	} {
		dir := runtest.Copy(t, base, filepath.Join(t.TempDir(), "run"))
		runtest.Replace(t, dir, native.OutputsFile, c.before, c.after)
		runtest.Repair(t, dir)
		for _, sides := range [][2]string{{base, dir}, {dir, base}} {
			got := equiv.Compare(nativeSide(t, sides[0]), nativeSide(t, sides[1]), equiv.Options{})
			f, found := find(got, finding.StageOutput)
			if got.Verdict != c.want || found != c.found || c.pointer != "" && (f.Pointer != c.pointer || f.EventIndex != 1) {
				t.Errorf("%s: %s, %v, %+v", c.what, got.Verdict, codes(got.Findings), f)
			}
		}
	}
	other := runtest.Write(t, filepath.Join(t.TempDir(), "other"), runtest.Features{Turns: 2, Say: "Nobody guards it."})
	if got := equiv.Compare(nativeSide(t, base), nativeSide(t, other), equiv.Options{}); slices.Contains(codes(got.Findings), string(finding.StageOutput)) ||
		!slices.Contains(codes(got.Findings), string(finding.StageParse)) {
		t.Errorf("what parse_digest shows is said once: %v", codes(got.Findings))
	}
}

// V4, R5: that a side dropped its last events is no difference; what both kept is compared.
func TestATruncatedSideIsComparedAsFarAsItGoes(t *testing.T) {
	features := runtest.Features{Turns: 3, Retrieval: true}
	whole := runtest.Write(t, filepath.Join(t.TempDir(), "whole"), features)
	short := runtest.Copy(t, whole, filepath.Join(t.TempDir(), "short"))
	events := strings.SplitAfter(fileText(t, short, "trace/0000.jsonl"), "\n")
	rows := strings.SplitAfter(fileText(t, short, "retrieval/0000.jsonl"), "\n")
	runtest.Put(t, short, "trace/0000.jsonl", []byte(strings.Join(events[:7], "")))
	runtest.Put(t, short, "retrieval/0000.jsonl", []byte(strings.Join(rows[:8], "")))
	runtest.Replace(t, short, native.TraceFile, `"truncated":false`, `"truncated":true`)
	runtest.Replace(t, short, native.TraceFile, `"events_kept":15`, `"events_kept":7`)
	runtest.Repair(t, short)
	changed := runtest.Copy(t, short, filepath.Join(t.TempDir(), "changed"))
	runtest.Replace(t, changed, "trace/0000.jsonl", `"parse_digest":"`, `"parse_digest":"0123456789012345678901234567890123456789012345678901234567890123","was":"`)
	runtest.Repair(t, changed)
	for _, c := range []struct {
		left, right string
		want        finding.Verdict
	}{
		{whole, short, finding.Undecided},
		{short, whole, finding.Undecided},
		{short, short, finding.Undecided},
		{whole, changed, finding.Divergent},
		{changed, short, finding.Divergent},
	} {
		if got := equiv.Compare(nativeSide(t, c.left), nativeSide(t, c.right), equiv.Options{}); got.Verdict != c.want {
			t.Errorf("%s and %s: %s, %v", filepath.Base(c.left), filepath.Base(c.right), got.Verdict, codes(got.Findings))
		}
	}
}

func fileText(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
