package cmd

import (
	"math"
	"os"
	"runtime/debug"
)

// smallHeap is the memory, in bytes, up to which a run on ordinary inputs stays.
const smallHeap = 48 << 20

// collect sets the garbage collector by the size of an input in bytes. On small ones the heap may grow up to a bound
// before anything is collected: a process that reads two traces and ends has little to give back. Beside a large one
// that bound would only cost time. Settings of the environment stand.
func (a *App) collect(size int) {
	mode := collectLate
	if size > smallHeap/3 {
		mode = collectNormally
	}
	if !a.alone || mode <= a.collecting || os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	a.collecting = mode
	if mode == collectNormally {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		return
	}
	debug.SetGCPercent(1000)
	debug.SetMemoryLimit(smallHeap)
}

// collecting is how the garbage collector was set.
type collecting int

const (
	_ collecting = iota
	collectLate
	collectNormally // once needed, it stays
)
