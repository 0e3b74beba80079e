package replay

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/jsondiff"
	"github.com/dmpl/dmpl/pkg/trace"
)

// inputs are the documents of a run that its stages read: what they say shows in the trace, or nothing reads it.
var inputs = []struct {
	name string
	of   func(*trace.Recording) []trace.Document
}{
	{"snapshot.json", func(r *trace.Recording) []trace.Document { return []trace.Document{r.Snapshot} }},
	{"config.json", func(r *trace.Recording) []trace.Document { return []trace.Document{r.Config} }},
	{"policies.json", func(r *trace.Recording) []trace.Document { return []trace.Document{r.Policies} }},
	{"profiles.json", func(r *trace.Recording) []trace.Document { return []trace.Document{r.ProfileSet} }},
	{"turns.jsonl", func(r *trace.Recording) []trace.Document { return r.Turns }},
	{"candidates.jsonl", func(r *trace.Recording) []trace.Document { return r.Candidates }},
	{"outputs.jsonl", func(r *trace.Recording) []trace.Document { return r.Outputs }},
	{"tool_results.jsonl", func(r *trace.Recording) []trace.Document { return r.ToolResults }},
}

// Inputs says of two native runs that record the same whether they can be the same (E10): where an input differs, both are
// executed again. If both are what their own inputs make, nothing reads what differs, which is a note; else a recording was
// edited, and nothing can be said.
func Inputs(left, right equiv.Side) []finding.Finding {
	fs := differingInputs(left.Trace.Recording, right.Trace.Recording)
	if len(fs) == 0 {
		return nil
	}
	severity, detail := finding.Note, "nothing reads it: both runs are what their own inputs make"
	for i, side := range []equiv.Side{right, left} { // the left one is told of last, so that it is named where both are
		if why := notReplayed(side); why != "" {
			severity, detail = finding.Error, fmt.Sprintf("the %s run is not what its own inputs make (%s)", []string{"right", "left"}[i], why)
		}
	}
	for i := range fs {
		fs[i].Severity = severity
		fs[i].Detail += ", and no digest shows it; " + detail
	}
	return fs
}

// notReplayed says why a run is not what its inputs make; empty where it is.
func notReplayed(side equiv.Side) string {
	made, err := Run(side.Trace, RunOptions{Findings: side.Findings, Until: All})
	if err != nil {
		return err.Error()
	}
	for _, f := range made.Result.Findings {
		if f.Class == finding.Root || f.Code == finding.ReplayRecordDiffers {
			return fmt.Sprintf("its replay is %s, with %s", made.Result.Verdict, f.Code)
		}
	}
	return ""
}

// differingInputs names the first place of each file where the inputs of two runs differ.
func differingInputs(left, right *trace.Recording) []finding.Finding {
	var fs []finding.Finding
	for _, in := range inputs {
		l, r := in.of(left), in.of(right)
		for i := range max(len(l), len(r)) {
			f := finding.New(finding.EquivInputs)
			switch {
			case i >= len(l):
				f.Artifact, f.RightArtifact, f.RightPointer = left.Dir, r[i].Path, r[i].At
				f.Detail = in.name + " has a line more on the right"
			case i >= len(r):
				f.Artifact, f.Pointer, f.RightArtifact = l[i].Path, l[i].At, right.Dir
				f.Detail = in.name + " has a line more on the left"
			default:
				differences := jsondiff.Compare(l[i].Value, r[i].Value)
				if len(differences) == 0 {
					continue
				}
				first := differences[0]
				f.Artifact, f.Pointer = l[i].Path, l[i].At+first.Pointer
				f.RightArtifact, f.RightPointer = r[i].Path, r[i].At+first.Pointer
				f.Expected, f.Actual = finding.Value(first.Left.Raw()), finding.Value(first.Right.Raw())
				f.Detail = in.name + " differs"
			}
			f.Hint = finding.Lookup(f.Code).Action
			fs = append(fs, f)
			break
		}
	}
	return fs
}
