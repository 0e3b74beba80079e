package verify_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// V4, V3, R5: a run whose last events were dropped is well formed and supports no claim.
func TestATruncatedRunIsUndecided(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	lines := strings.SplitAfter(textOf(t, dir, "trace/0000.jsonl"), "\n")
	for _, kept := range []int{len(lines) - 3, 20, 3, 1} {
		runtest.Put(t, dir, "trace/0000.jsonl", []byte(strings.Join(lines[:kept], "")))
		if kept < 16 { // the rows that later events named are dropped with them
			runtest.Put(t, dir, "retrieval/0000.jsonl", []byte(strings.Join(strings.SplitAfter(textOf(t, dir, "retrieval/0000.jsonl"), "\n")[:4], "")))
		}
		runtest.Put(t, dir, "trace.json", []byte(change(t, textOf(t, dir, "trace.json"), "/metadata/truncated", func(o map[string]any, name string) { o[name] = true })))
		runtest.Repair(t, dir)
		var codes []finding.Code
		result := verifyRun(t, dir)
		for _, f := range result.Findings {
			if f.Severity == finding.Error {
				codes = append(codes, f.Code)
			}
		}
		if result.Verdict != finding.Undecided || !slices.Equal(codes, []finding.Code{finding.ClaimTruncated}) {
			t.Errorf("%d events kept: %s, %q; %s", kept, result.Verdict, codes, said(result))
		}
	}
}

// V4: one byte under, at and over the cap of a part and of a run. No marker excuses a part; one over the run's is no whole trace.
func TestCapsOfARunsTrace(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{})
	const fullParts = trace.MaxRun / trace.MaxPart // and 4 MiB
	for _, c := range []struct {
		what      string
		parts     int
		last      int64
		truncated bool
		over      int
	}{
		{"a part one byte under", 0, trace.MaxPart - 1, false, 0},
		{"a part at the cap", 0, trace.MaxPart, false, 0},
		{"a part one byte over", 0, trace.MaxPart + 1, false, 1},
		{"a part one byte over, marked", 0, trace.MaxPart + 1, true, 1},
		{"a run one byte under", fullParts, trace.MaxRun - fullParts*trace.MaxPart - 1, false, 0},
		{"a run at the cap", fullParts, trace.MaxRun - fullParts*trace.MaxPart, false, 0},
		{"a run one byte over", fullParts, trace.MaxRun - fullParts*trace.MaxPart + 1, false, 1},
		{"a run one byte over, marked", fullParts, trace.MaxRun - fullParts*trace.MaxPart + 1, true, 0},
	} {
		r := mustRead(t, dir)
		files := []trace.RunFile{{Name: "snapshot.json", Bytes: 1 << 40}}
		for range c.parts {
			files = append(files, trace.RunFile{Part: true, Bytes: trace.MaxPart})
		}
		r.Trace.Recording.Files = append(files, trace.RunFile{Part: true, Bytes: c.last})
		if c.truncated {
			r.Trace.Truncated = trace.Field{Raw: []byte("true"), State: trace.Present}
		}
		over := 0
		for _, f := range verify.Trace(r.Trace, r.Shape, verify.Options{InFolder: true}).Findings {
			if f.Code == finding.SizeOverCap {
				over++
			}
		}
		if over != c.over {
			t.Errorf("%s: %d findings, want %d", c.what, over, c.over)
		}
	}
}
