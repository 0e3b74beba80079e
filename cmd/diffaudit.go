package cmd

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/verify"
)

// auditPair is two files of LlamaBrain and what they are.
type auditPair struct{ left, right auditFile }

// areAudits says whether two inputs are files of LlamaBrain. Two that cannot be compared with each other are a usage error.
func (a *App) areAudits(left, right string, o *diffOptions) (pair auditPair, are bool, err error) {
	if isFolder(left) || isFolder(right) {
		return auditPair{}, false, nil
	}
	pair = auditPair{
		auditFile{left, a.auditKind(left, &o.artifactOptions)}, auditFile{right, a.auditKind(right, &o.artifactOptions)},
	}
	switch {
	case pair.left.kind == "" && pair.right.kind == "":
		return pair, false, nil
	case pair.left.hasRecords() != pair.right.hasRecords() || !pair.left.hasRecords() && pair.left.kind != pair.right.kind:
		return pair, false, usage("Compare two packages or logs, or two save files, or two snapshots.",
			"%s is %s and %s is %s", left, pair.left.described(), right, pair.right.described())
	case o.leftRetrieval+o.rightRetrieval+o.profiles != "":
		return pair, false, usage("Leave the flag out.", "retrieval traces and tool profiles belong to traces, and two files of LlamaBrain were given")
	}
	return pair, true, nil
}

// diffAudits compares two files of LlamaBrain (CONTRACT E12).
func (a *App) diffAudits(p auditPair, o *diffOptions) (finding.Result, error) {
	name := a.nameOf(p.left.path, p.right.path)
	settings := equiv.Options{Ignore: o.ignore, Timeline: o.format.value == formatJSON}
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests}
	left, errLeft := a.readAudit(p.left, true, more, verify.AuditOptions{})
	right, errRight := a.readAudit(p.right, true, more, verify.AuditOptions{})
	if errLeft != nil || errRight != nil {
		return troubled(name, true, errLeft, errRight)
	}
	var result finding.Result
	if p.left.hasRecords() {
		result = equiv.CompareAudits(left.audit, right.audit, settings)
	} else {
		result = equiv.CompareSaves(left.save, right.save, settings)
	}
	result.Name, result.Inputs = name, slices.Concat(left.result.Inputs, right.result.Inputs)
	return result, nil
}

// auditsIn takes the files of LlamaBrain out of a folder. Where they alone are asked for, nothing else of it counts.
func (a *App) auditsIn(tree *dialect.Tree, o *diffOptions) []string {
	if o.dialect.value == llamabrain.Name {
		tree.Entries, tree.Orphans = nil, nil
	}
	var paths []string
	for _, f := range a.takeAudits(tree, &o.artifactOptions) {
		paths = append(paths, f.path)
	}
	return paths
}

// diffAuditPair compares the files of LlamaBrain at one place of two folders.
func (a *App) diffAuditPair(p placedPair, left, right string, o *diffOptions) (finding.Result, error) {
	switch {
	case p.right == "":
		return missing(finding.AuditDiffMissing, p.place, p.left, right, "the right folder has no such file"), nil
	case p.left == "":
		return missing(finding.AuditDiffMissing, p.place, left, p.right, "the left folder has no such file"), nil
	}
	pair, _, err := a.areAudits(p.left, p.right, o)
	if err != nil {
		return finding.Result{}, err
	}
	result, err := a.diffAudits(pair, o)
	result.Name = p.place
	return result, err
}
