package cmd_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// C1: what the first elements of a list look like must not decide how much memory the rest is given.
func TestTinyFirstEventsDoNotDecideTheMemory(t *testing.T) {
	const size = 8 << 20
	trace := `{"determinism_trace_schema_version":"memory.determinism_trace.v1","events":[` +
		strings.Repeat("5,", 17) + `"` + strings.Repeat("a", size) + `"]}`
	path := filepath.Join(t.TempDir(), "memory_trace.json")
	if err := os.WriteFile(path, []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantExit(t, 1, "verify", path)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 32*size {
		t.Errorf("a file of %d bytes took %d bytes", size, used)
	}
}

// tinyEvents is a trace whose list of events holds no events.
func tinyEvents(count int) []byte {
	return []byte(`{"determinism_trace_schema_version":"memory.determinism_trace.v1","events":[` + strings.Repeat("5,", count) + `5]}`)
}

// C1, V1: a few megabytes can hold millions of faults; what is kept of them is bounded.
func TestManyFaultsAreBounded(t *testing.T) {
	const events = 2_000_000
	path := filepath.Join(t.TempDir(), "memory_trace.json")
	if err := os.WriteFile(path, tinyEvents(events), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantExit(t, 1, "verify", path)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d faults took %d bytes", events, used)
	}
}
