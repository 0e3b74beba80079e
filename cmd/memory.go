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

// The memory, in bytes, up to which the heap of a stream stays where it can: one of some thousand events, one of very many.
const (
	streamHeap     = 20 << 20
	longStreamHeap = 256 << 20
)

// manyEvents is when a stream is long: what is kept of its events no longer fits streamHeap.
const manyEvents = 50_000

// collectForStream bounds the heap while a stream of some length is checked. Settings of the environment stand.
func collectForStream(events int) {
	if collectorSet() || events != 0 && events != manyEvents {
		return
	}
	if events == 0 {
		debug.SetMemoryLimit(streamHeap)
		return
	}
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(longStreamHeap)
}
