package cmd

import (
	"os"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/verify"
)

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
	if f, err := dialect.ReadFile(path, nil, int64(o.limit)); path != stdin && err == nil {
		kind = llamabrain.Kind(f.Data)
	}
	if kind == "" {
		kind = llamabrain.KindPackage
	}
	return kind
}

// verifyAudit checks one file of LlamaBrain (CONTRACT V0).
func (a *App) verifyAudit(path, kind string, o *verifyOptions, settings verify.Options) (finding.Result, error) {
	if o.retrieval+o.contextFile != "" {
		return finding.Result{}, usage("Leave the flag out.", "--retrieval and --context-config do not belong to %s", path)
	}
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests}
	a.collectForFile(path)
	result, err := verifyAuditFile(path, kind, more, verify.AuditOptions{Path: path, Coverage: settings.Coverage})
	if err != nil {
		return troubled(path, false, err)
	}
	result.Name = path
	return result, nil
}

func verifyAuditFile(path, kind string, more dialect.Options, o verify.AuditOptions) (finding.Result, error) {
	switch kind {
	case llamabrain.KindPackage:
		p, err := llamabrain.ReadPackage(path, more)
		if err != nil {
			return finding.Result{}, err
		}
		check := verify.NewAudit(o)
		for i := range p.Records {
			check.Record(&p.Records[i])
		}
		result := check.Package(&p.Package, p.Shape, p.Malformed)
		result.Inputs = p.Inputs
		return result, nil
	case llamabrain.KindLog:
		check := verify.NewAudit(o)
		log, err := llamabrain.ReadLog(path, more, func(r *audit.Record) error {
			check.Record(r)
			return nil
		})
		if err != nil {
			return finding.Result{}, err
		}
		result := check.Log(log.Shape)
		result.Inputs = log.Inputs
		return result, nil
	}
	s, err := llamabrain.ReadSave(path, kind, more)
	if err != nil {
		return finding.Result{}, err
	}
	result := verify.Save(verify.SaveSource{Save: s.Save, Alone: kind == llamabrain.KindPersona, Shape: s.Shape, Malformed: s.Malformed}, o)
	result.Inputs = s.Inputs
	return result, nil
}

// collectForFile sets the garbage collector by the size of a file.
func (a *App) collectForFile(path string) {
	if info, err := os.Stat(path); err == nil {
		a.collect(int(info.Size()))
	}
}

// auditFile is a file of LlamaBrain in a folder.
type auditFile struct{ path, kind string }

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
