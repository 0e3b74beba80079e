package verify

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// group is the fingerprints of the calls that one interceptor recorded.
type group struct {
	interceptor string
	first       trace.Field
	pointer     string
	calls       int
	varies      bool
}

// V6: a fingerprint that is equal for every call says nothing about the results.
func checkConstantFingerprints(c *checker) {
	var groups []group
	c.eachCall(func(e *trace.Event, j int, call *trace.Call) {
		if !call.Result.Ok() || c.t.Recording != nil && e.Interceptor.Is(trace.BeforeTool) {
			return // P7: before the tool ran a native run has the fingerprint of nothing, which is checked
		}
		g := findGroup(groups, e.Interceptor)
		if g == nil {
			pointer, _, _ := place(e, j)
			groups = append(groups, group{interceptor: e.Interceptor.Text(), first: call.Result, pointer: pointer, calls: 1})
			return
		}
		g.calls++
		g.varies = g.varies || !g.first.SameDigest(call.Result)
	})
	if len(groups) == 0 {
		c.tally(finding.NotApplicable, "no tool calls")
		return
	}
	for _, g := range groups {
		if g.varies || g.calls < 2 && !isDigestOf(g.first, `{}`) {
			continue
		}
		c.report(finding.BlindFingerprint, c.t.Path, g.pointer+"/tool_result_fingerprint", finding.NoEvent,
			"all %d calls of %s carry this fingerprint", g.calls, g.interceptor).Actual = finding.Value(g.first.Raw)
	}
	c.tally(finding.Passed, "")
}

func findGroup(groups []group, interceptor trace.Field) *group {
	for i := range groups {
		if interceptor.Is(groups[i].interceptor) || groups[i].interceptor == "" && !interceptor.Ok() {
			return &groups[i]
		}
	}
	return nil
}

// V6: a hash of the type alone, or of the one text section that a runtime writes for every text, cannot vary.
func checkConstantStructure(c *checker) {
	o := c.t.Output
	if !o.ShapeHash.Ok() || !o.Type.Ok() {
		c.tally(finding.NotChecked, "output is malformed")
		return
	}
	structure := append([]byte(`{"type":`), o.Type.Raw...)
	if isDigestOf(o.ShapeHash, string(append(structure, '}'))) ||
		o.Type.Text() == "text" && o.Structure.State == trace.Absent && isDigestOf(o.ShapeHash, `{"sections":["body"],"type":"text"}`) {
		c.report(finding.BlindStructure, c.t.Path, "/output/output_shape_hash", finding.NoEvent,
			"every %s output of this shape has this hash, whatever it says", o.Type.Text()).Actual = finding.Value(o.ShapeHash.Raw)
	}
	c.tally(finding.Passed, "")
}

func isDigestOf(stated trace.Field, document string) bool {
	hex, ok := stated.Digest()
	if !ok {
		return false
	}
	sum, err := canon.Digest(canon.JSONv1, []byte(document))
	return err == nil && sum.Hex() == hex
}

// Folder watches the traces of one folder for checks that cannot fail (CONTRACT V6). The zero value is ready.
type Folder struct {
	traces                       int
	structure                    string
	fingerprint                  string
	calls                        int
	structureVaries, resultsVary bool
}

// Add takes one trace of the folder into account.
func (f *Folder) Add(t *trace.Trace) {
	f.traces++
	hash := t.Output.ShapeHash.Text()
	f.structureVaries = f.structureVaries || f.traces > 1 && hash != f.structure
	f.structure = hash
	for i := range t.Events {
		e := &t.Events[i]
		for j := range e.Calls {
			if !e.Calls[j].Result.Ok() || e.Interceptor.Is(trace.BeforeTool) {
				continue
			}
			text := e.Calls[j].Result.Text()
			f.resultsVary = f.resultsVary || f.calls > 0 && text != f.fingerprint
			f.fingerprint = text
			f.calls++
		}
	}
}

// Findings warns of what was the same in every trace of the folder, at path.
func (f *Folder) Findings(path string) []finding.Finding {
	var fs []finding.Finding
	if f.traces > 1 && !f.structureVaries && f.structure != "" {
		fs = append(fs, folderWarning(finding.BlindStructure, path, "all traces of the folder have one output_shape_hash", f.structure))
	}
	if f.traces > 1 && f.calls > 1 && !f.resultsVary {
		fs = append(fs, folderWarning(finding.BlindFingerprint, path, "all tool results of the folder have one fingerprint", f.fingerprint))
	}
	return fs
}

func folderWarning(code finding.Code, path, detail, text string) finding.Finding {
	f := finding.New(code)
	f.Artifact, f.Detail, f.Actual, f.Hint = path, detail, quoted(text), finding.Lookup(code).Action
	return f
}
