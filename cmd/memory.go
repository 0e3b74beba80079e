package cmd

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/dmpl/dmpl/pkg/dialect"
)

// smallHeap is the memory, in bytes, up to which a run on ordinary inputs stays, for each that is read at a time.
const smallHeap = 48 << 20

// collect sets the garbage collector by the size of an input in bytes. On small ones the heap may grow up to a bound
// before anything is collected: a process that reads two traces and ends has little to give back. Beside a large one
// that bound would only cost time. Settings of the environment stand.
func (a *App) collect(size int) {
	mode := collectLate
	if size > smallHeap/3 {
		mode = collectNormally
	}
	if mode <= a.collecting || !a.maySetCollector() {
		return
	}
	a.collecting = mode
	if mode == collectNormally {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		return
	}
	debug.SetGCPercent(1000)
	debug.SetMemoryLimit(int64(max(a.inputs, 1)) * smallHeap)
}

// collectFor is collect for a file before it is read: else reading it is what the collector begins with.
func (a *App) collectFor(path string) {
	if info, err := os.Stat(path); err == nil {
		a.collect(int(info.Size()))
	}
}

// readFile reads an input whole.
func (a *App) readFile(path string, limit int64) (*dialect.File, error) {
	a.collectFor(path)
	f, err := dialect.ReadFile(path, a.In, limit)
	if err == nil {
		a.collect(len(f.Data)) // decompressed it may be larger
	}
	return f, err
}

// collectRun is collect for a native run before its documents are read, or its lines as well.
func (a *App) collectRun(dir string, lines bool) {
	if a.collecting == collectNormally || !a.maySetCollector() {
		return
	}
	size := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read is told by the reader
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() && (lines || filepath.Ext(d.Name()) != ".jsonl") {
			size += int(min(info.Size(), smallHeap))
		}
		return nil
	})
	a.collect(size)
}

// collecting is how the garbage collector was set.
type collecting int

const (
	_ collecting = iota
	collectLate
	collectNormally // once needed, it stays
)

// maySetCollector: not in a process that is not dmpl's own, and not against its environment.
func (a *App) maySetCollector() bool {
	return a.alone && os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == ""
}

// The memory, in bytes, up to which the heap of a stream stays where it can: one of some thousand events, one of very many.
const (
	streamHeap     = 16 << 20
	longStreamHeap = 240 << 20
)

// manyEvents is when a stream is long: what is kept of its events no longer fits streamHeap.
const manyEvents = 50_000

// boundedHeap is step for each event of one stream, and bounds the heap as they are counted.
func (a *App) boundedHeap(step func()) func() {
	events := 0
	return func() {
		a.collectForStream(events)
		events++
		step()
	}
}

// collectForStream bounds the heap while a stream is checked, as its events are counted.
func (a *App) collectForStream(events int) {
	switch {
	case events != 0 && events != manyEvents, !a.maySetCollector():
	case events == 0:
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(streamHeap)
	default:
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(longStreamHeap)
	}
}
