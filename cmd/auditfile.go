package cmd

import (
	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/verify"
)

// auditFile is a file of LlamaBrain and what it is.
type auditFile struct{ path, kind string }

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

// auditKind says which file of LlamaBrain an input is, by its first bytes; "" where it is none. Where the flag says that it
// is one, the whole of it is looked at, and what shows nothing is a package.
func (a *App) auditKind(path string, o *artifactOptions) string {
	forced := o.dialect.value == llamabrain.Name
	if !forced && o.dialect.value != dialectAuto {
		return ""
	}
	kind := llamabrain.Kind(a.head(path))
	if kind != "" || !forced {
		return kind
	}
	if path != stdin {
		if f, err := dialect.ReadFile(path, nil, int64(o.limit)); err == nil {
			kind = llamabrain.Kind(f.Data)
		}
	}
	if kind == "" {
		kind = llamabrain.KindPackage
	}
	return kind
}

// takeAudits takes the files of LlamaBrain out of the files of a folder that are nothing else.
func (a *App) takeAudits(tree *dialect.Tree, o *artifactOptions) []auditFile {
	if o.dialect.value != dialectAuto && o.dialect.value != llamabrain.Name {
		return nil
	}
	var audits []auditFile
	var rest []string
	byContent := artifactOptions{dialect: choice{value: dialectAuto}}
	for _, path := range tree.Skipped {
		if kind := a.auditKind(path, &byContent); kind != "" {
			audits = append(audits, auditFile{path, kind})
			continue
		}
		rest = append(rest, path)
	}
	tree.Skipped = rest
	return audits
}

// auditRead is one file of LlamaBrain as it was read: records, or a save.
type auditRead struct {
	audit  *equiv.Audit // the records of a log only where they are kept
	save   *equiv.Save
	result finding.Result // what verify says of it
}

// readAudit reads a file and verifies it on the way, so that a log need not be kept.
func (a *App) readAudit(f auditFile, keep bool, more dialect.Options, o verify.AuditOptions) (auditRead, error) {
	a.collectFor(f.path)
	o.Path = f.path
	switch f.kind {
	case llamabrain.KindPackage:
		return readPackage(f.path, more, o)
	case llamabrain.KindLog:
		return readLog(f.path, keep, more, o)
	}
	return readSave(f, more, o)
}

func readPackage(path string, more dialect.Options, o verify.AuditOptions) (auditRead, error) {
	p, err := llamabrain.ReadPackage(path, more)
	if err != nil {
		return auditRead{}, err
	}
	check := verify.NewAudit(o)
	for i := range p.Records {
		check.Record(&p.Records[i])
	}
	read := auditRead{
		audit:  &equiv.Audit{Path: path, Package: &p.Package, Records: p.Records},
		result: check.Package(&p.Package, p.Shape, p.Malformed),
	}
	read.audit.Findings, read.result.Inputs = read.result.Findings, p.Inputs
	return read, nil
}

func readLog(path string, keep bool, more dialect.Options, o verify.AuditOptions) (auditRead, error) {
	read := auditRead{audit: &equiv.Audit{Path: path}}
	check := verify.NewAudit(o)
	log, err := llamabrain.ReadLog(path, more, func(r *audit.Record) error {
		check.Record(r)
		if keep {
			read.audit.Records = append(read.audit.Records, *r)
		}
		return nil
	})
	if err != nil {
		return auditRead{}, err
	}
	read.result = check.Log(log.Shape)
	read.audit.Findings, read.result.Inputs = read.result.Findings, log.Inputs
	return read, nil
}

func readSave(f auditFile, more dialect.Options, o verify.AuditOptions) (auditRead, error) {
	s, err := llamabrain.ReadSave(f.path, f.kind, more)
	if err != nil {
		return auditRead{}, err
	}
	alone := f.kind == llamabrain.KindPersona
	read := auditRead{
		save:   &equiv.Save{Save: s.Save, Path: f.path, Alone: alone, Malformed: s.Malformed},
		result: verify.Save(verify.SaveSource{Save: s.Save, Alone: alone, Shape: s.Shape, Malformed: s.Malformed}, o),
	}
	read.save.Findings, read.result.Inputs = read.result.Findings, s.Inputs
	return read, nil
}
