package orket_test

import (
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect/dialecttest"
	"github.com/dmpl/dmpl/pkg/dialect/orket"
)

const fixtures = "../../../fixtures"

// C1, V1: the contract of every reader.
func TestReaderContract(t *testing.T) {
	dialecttest.Run(t, orket.Reader{},
		filepath.Join(fixtures, "demo", "left", "memory_trace.json"),
		filepath.Join(fixtures, "checks", "v1-every-optional-member", "memory_trace.json"),
		filepath.Join(fixtures, "checks", "v1-foreign", "memory_trace.json"),
		filepath.Join(fixtures, "runs", "base", "observability", "sess-a", "issue-1", "001_developer", "memory_trace.json"),
	)
}
