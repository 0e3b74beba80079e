package cmd

import (
	"os"
	"runtime/debug"
)

// collectLate lets the heap grow before the collector runs: a process that reads two traces and ends has nothing to give
// back. The environment's own GOGC stands.
func collectLate() {
	const percent = 300
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// collectNormally is for inputs so large that the memory matters more than the time.
func collectNormally(bytes int) {
	const large = 32 << 20
	if bytes > large && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100)
	}
}
