package cmd

import (
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/verify"
)

// verifyAudit checks one file of LlamaBrain (CONTRACT V0).
func (a *App) verifyAudit(f auditFile, o *verifyOptions, settings verify.Options) (finding.Result, error) {
	if o.retrieval+o.contextFile != "" {
		return finding.Result{}, usage("Leave the flag out.", "--retrieval and --context-config do not belong to %s", f.path)
	}
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests}
	read, err := a.readAudit(f, false, more, verify.AuditOptions{Coverage: settings.Coverage})
	if err != nil {
		return troubled(f.path, false, err)
	}
	read.result.Name = f.path
	return read.result, nil
}
