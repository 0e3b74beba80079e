package cmd

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/audit"
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

func (f auditFile) hasRecords() bool {
	return f.kind == llamabrain.KindPackage || f.kind == llamabrain.KindLog
}

func (f auditFile) described() string {
	names := map[string]string{
		llamabrain.KindPackage: "a debug package", llamabrain.KindLog: "a rolling log", llamabrain.KindSave: "a save file",
		llamabrain.KindPersona: "a persona snapshot", "": "no file of LlamaBrain",
	}
	return names[f.kind]
}

// diffAudits compares two files of LlamaBrain (CONTRACT E12).
func (a *App) diffAudits(p auditPair, o *diffOptions) (finding.Result, error) {
	name := a.nameOf(p.left.path, p.right.path)
	settings := equiv.Options{Ignore: o.ignore, Timeline: o.format.value == formatJSON}
	read := func(f auditFile) (auditSide, error) {
		a.collectForFile(f.path)
		return readAuditSide(f, dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests})
	}
	left, errLeft := read(p.left)
	right, errRight := read(p.right)
	if errLeft != nil || errRight != nil {
		return troubled(name, true, errLeft, errRight)
	}
	var result finding.Result
	if p.left.hasRecords() {
		result = equiv.CompareAudits(left.audit, right.audit, settings)
	} else {
		result = equiv.CompareSaves(left.save, right.save, settings)
	}
	result.Name, result.Inputs = name, slices.Concat(left.inputs, right.inputs)
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

// auditSide is one file of LlamaBrain as it was read: records, or a save.
type auditSide struct {
	audit  *equiv.Audit
	save   *equiv.Save
	inputs []finding.Input
}

func readAuditSide(f auditFile, more dialect.Options) (auditSide, error) {
	switch f.kind {
	case llamabrain.KindPackage:
		p, err := llamabrain.ReadPackage(f.path, more)
		if err != nil {
			return auditSide{}, err
		}
		side := &equiv.Audit{Path: f.path, Package: &p.Package, Records: p.Records}
		check := verify.NewAudit(verify.AuditOptions{Path: f.path})
		for i := range p.Records {
			check.Record(&p.Records[i])
		}
		side.Findings = check.Package(&p.Package, p.Shape, p.Malformed).Findings
		return auditSide{audit: side, inputs: p.Inputs}, nil
	case llamabrain.KindLog:
		side := &equiv.Audit{Path: f.path}
		check := verify.NewAudit(verify.AuditOptions{Path: f.path})
		log, err := llamabrain.ReadLog(f.path, more, func(r *audit.Record) error {
			check.Record(r)
			side.Records = append(side.Records, *r)
			return nil
		})
		if err != nil {
			return auditSide{}, err
		}
		side.Findings = check.Log(log.Shape).Findings
		return auditSide{audit: side, inputs: log.Inputs}, nil
	}
	s, err := llamabrain.ReadSave(f.path, f.kind, more)
	if err != nil {
		return auditSide{}, err
	}
	alone := f.kind == llamabrain.KindPersona
	source := verify.SaveSource{Save: s.Save, Alone: alone, Shape: s.Shape, Malformed: s.Malformed}
	side := &equiv.Save{
		Save: s.Save, Path: f.path, Alone: alone, Malformed: s.Malformed,
		Findings: verify.Save(source, verify.AuditOptions{Path: f.path}).Findings,
	}
	return auditSide{save: side, inputs: s.Inputs}, nil
}
