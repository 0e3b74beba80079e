package native

import (
	"regexp"
	"sync"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// ledgerHead is how an exported ledger begins, its members in any order that is written by name or as the schema has them.
var ledgerHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\{\s*(?:"store_id"\s*:\s*"[^"\\]*"\s*,\s*)?` +
		`(?:"schema_version"\s*:\s*"memory\.ledger\.|"rows"\s*:\s*\[\s*\{\s*"(?:digest|row)"\s*:)`)
})

// IsLedger says that a text begins like an exported ledger, of whatever version.
func IsLedger(head []byte) bool { return ledgerHead().Match(head) }

// Ledger is an exported ledger as it was read.
type Ledger struct {
	Document trace.Document
	Shape    []finding.Finding
	Inputs   []finding.Input
}

// ReadLedger reads an exported ledger. Errors are [dialect.Problem].
func ReadLedger(path string, o dialect.Options) (*Ledger, error) {
	f, err := dialect.ReadFile(path, o.Stdin, o.Limit)
	if err != nil {
		return nil, err
	}
	doc, findings, err := shape.Document(memory.LedgerSchema, path, "", f.Data)
	if err != nil {
		return nil, syntax(f, err)
	}
	return &Ledger{doc, findings, []finding.Input{f.Input(Name, "ledger", o.Digests)}}, nil
}
