package shape

import (
	"math"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// ledgerSpec is an exported ledger (docs/formats/ledger.md).
func ledgerSpec() spec {
	return spec{
		known("schema_version", memory.LedgerSchema),
		filled("store_id", required),
		list("rows", required, spec{
			digest("digest", required),
			nested("row", required, spec{
				number("row", required, 1, math.MaxInt64),
				number("time_ticks", required, math.MinInt64, math.MaxInt64),
				word("event", required, memory.LedgerEvents()...),
				free("run_id", optional),
				free("memory_snapshot_id", optional),
				free("commit_id", optional),
				free("commit_payload_fingerprint", optional),
				word("reason_code", optional, "policy_rejected", "validation_failed", "storage_apply_failed", "payload_mismatch"),
				free("detail", optional),
				one("previous", required, canon.String, func(r *reader, _ *none, f *trace.Field) {
					if len(f.Raw) != len(`""`) && (len(f.Raw) != 66 || !f.IsDigest()) {
						r.reject(finding.ShapeValue, f, "previous is neither a SHA-256 digest of 64 lowercase hex digits nor empty")
					}
				}),
			}),
		}),
	}
}

// rowed asks for a row: a store has one from the beginning.
func rowed(r *reader, ledger canon.Value) {
	if rows, _ := ledger.Get("rows"); len(rows.Elements()) == 0 {
		r.push(step{name: "rows"})
		r.note(finding.ShapeValue, nil, "there is no row")
		r.pop()
	}
}
