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
		auditFile{path: left, kind: a.auditKind(left, &o.artifactOptions)}, auditFile{path: right, kind: a.auditKind(right, &o.artifactOptions)},
	}
	if pair.left.kind == "" && pair.right.kind == "" {
		return pair, false, nil
	}
	return pair, true, pair.comparable(o)
}

// comparable refuses two files that cannot be compared with each other.
func (p auditPair) comparable(o *diffOptions) error {
	switch {
	case p.left.hasRecords() != p.right.hasRecords() || !p.left.hasRecords() && p.left.kind != p.right.kind:
		return usage("Compare two packages or logs, or two save files, or two snapshots.",
			"%s is %s and %s is %s", p.left.path, p.left.described(), p.right.path, p.right.described())
	case o.leftRetrieval+o.rightRetrieval+o.profiles != "":
		return usage("Leave the flag out.", "retrieval traces and tool profiles belong to traces, and two files of LlamaBrain were given")
	}
	return nil
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
func (a *App) auditsIn(tree *dialect.Tree, o *diffOptions) []auditFile {
	if o.dialect.value == llamabrain.Name {
		tree.Entries, tree.Orphans = nil, nil
	}
	return a.takeAudits(tree, &o.artifactOptions)
}

// placedAudits pairs the files of LlamaBrain of two folders by their places below the roots.
func placedAudits(leftRoot, rightRoot string, left, right []auditFile) []auditPlace {
	var places []auditPlace
	byName := func(files []auditFile) (names []string, all map[string]auditFile) {
		all = map[string]auditFile{}
		for _, f := range files {
			names, all[f.name()] = append(names, f.name()), f
		}
		return names, all
	}
	leftNames, leftFiles := byName(left)
	rightNames, rightFiles := byName(right)
	for _, p := range pairedByPlace(leftRoot, rightRoot, leftNames, rightNames) {
		places = append(places, auditPlace{p.place, auditPair{leftFiles[p.left], rightFiles[p.right]}})
	}
	return places
}

// auditPlace is a place that both folders can have, with the file of each; a side without one has no path.
type auditPlace struct {
	place string
	auditPair
}

// diffAuditPair compares the files of LlamaBrain at one place of two folders.
func (a *App) diffAuditPair(p auditPlace, left, right string, o *diffOptions) (finding.Result, error) {
	switch {
	case p.right.path == "":
		return missing(finding.AuditDiffMissing, p.place, p.left.path, right, "the right folder has no such file"), nil
	case p.left.path == "":
		return missing(finding.AuditDiffMissing, p.place, left, p.right.path, "the left folder has no such file"), nil
	}
	if err := p.comparable(o); err != nil {
		return finding.Result{}, err
	}
	result, err := a.diffAudits(p.auditPair, o)
	result.Name = p.place
	return result, err
}
