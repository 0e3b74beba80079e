package cmd

import (
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/verify"
)

// isLedger says whether an input is an exported ledger, by its first bytes.
func (a *App) isLedger(path string, o *artifactOptions) bool {
	return (o.dialect.value == dialectAuto || o.dialect.value == native.Name) && native.IsLedger(a.head(path))
}

// takeLedgers takes the exported ledgers out of the files of a folder that are nothing else.
func (a *App) takeLedgers(tree *dialect.Tree, o *artifactOptions) (ledgers []string) {
	var rest []string
	for _, path := range tree.Skipped {
		if a.isLedger(path, o) {
			ledgers = append(ledgers, path)
			continue
		}
		rest = append(rest, path)
	}
	tree.Skipped = rest
	return ledgers
}

// verifyLedger checks an exported ledger (CONTRACT V0, M8).
func (a *App) verifyLedger(path string, o *verifyOptions, settings verify.Options) (finding.Result, error) {
	if o.retrieval+o.contextFile != "" {
		return finding.Result{}, usage("Leave the flag out.", "--retrieval and --context-config do not belong to %s", path)
	}
	l, err := native.ReadLedger(path, dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests})
	if err != nil {
		return troubled(path, false, err)
	}
	result := verify.Ledger(l.Document, l.Shape, verify.AuditOptions{Path: path, Coverage: settings.Coverage})
	result.Name, result.Inputs = path, l.Inputs
	detach(&result)
	return result, nil
}
