package cmd

import (
	"math"
	"os"
	"runtime/debug"
)

// smallHeap is the memory, in bytes, up to which a run on ordinary traces stays.
const smallHeap = 48 << 20

// collectLate lets the heap grow before the collector runs, up to a bound: a process that reads two traces and ends has
// little to give back. Settings of the environment stand.
func collectLate() {
	const percent = 1000
	if !collectorSet() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(smallHeap)
	}
}

// collectNormally is for inputs, of a size in bytes, beside which that bound would only cost time.
func collectNormally(size int) {
	if size > smallHeap/3 && !collectorSet() {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

func collectorSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
