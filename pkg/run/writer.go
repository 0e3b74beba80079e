package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"path/filepath"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Writer writes one run. Until Close has returned nil the run says that it is cut short, whatever happens to the process
// (CONTRACT V4). Documents are given as JSON texts; a Writer does not change them. After an error every call fails.
type Writer struct {
	disk    disk
	dir     string
	opening Opening
	caps    caps
	open    map[string]*output
	files   []entry
	digests map[string]string // json-v1, of what the manifest pins
	trace   parts
	ranked  parts
	counts  Counts
	dropped hash.Hash
	err     error
}

// caps bound the trace (CONTRACT V4).
type caps struct{ part, run int64 }

// Counts says how much of the trace was written.
type Counts struct {
	Total, Kept int    // events
	Dropped     string // SHA-256 of the dropped events' lines; empty where none was
}

// ErrNotEmpty says that a run cannot be written into a folder.
var ErrNotEmpty = errors.New("the folder is not empty: a run is written once, into a folder of its own")

// Create starts a run in a folder that is empty or not there yet.
func Create(dir string, o Opening) (*Writer, error) {
	most := int64(trace.MaxRun)
	if o.MaxTrace > 0 {
		most = min(most, o.MaxTrace)
	}
	return create(local{}, caps{min(trace.MaxPart, most), most}, dir, o)
}

func create(d disk, c caps, dir string, o Opening) (*Writer, error) {
	w := &Writer{
		disk: d, dir: dir, opening: o, caps: c,
		open: map[string]*output{}, digests: map[string]string{},
		trace: parts{folder: traceParts}, ranked: parts{folder: retrievalParts}, dropped: sha256.New(),
	}
	if err := d.mkdir(dir); err != nil {
		return nil, err
	}
	if empty, err := d.empty(dir); err != nil || !empty {
		return nil, errors.Join(err, fmt.Errorf("%s: %w", dir, ErrNotEmpty))
	}
	if err := w.replaceManifest(nil); err != nil {
		return nil, err
	}
	return w, nil
}

// output is a file that is being written.
type output struct {
	file
	name string
	sum  hash.Hash
	size int64
}

func (o *output) write(text []byte) error {
	o.sum.Write(text) // a hash never fails
	o.size += int64(len(text))
	_, err := o.Write(text)
	return err
}

// Document writes one of the files that hold a single document.
func (w *Writer) Document(name string, text []byte) error {
	return w.step(func() error {
		sum, err := canon.Digest(canon.JSONv1, text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, written := w.digests[name]; written {
			return fmt.Errorf("%s is written already", name)
		}
		w.digests[name] = sum.Hex()
		out, err := w.file(name)
		if err != nil {
			return err
		}
		return out.write(append(bytes.Clone(text), '\n'))
	})
}

// Line adds a document to one of the files that hold a document a line.
func (w *Writer) Line(name string, text []byte) error {
	return w.step(func() error {
		line, err := lineOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out, err := w.file(name)
		if err != nil {
			return err
		}
		return out.write(line)
	})
}

// Event adds an event with the retrieval rows that it names. An event that would take the trace over a cap is dropped with
// every event after it: whole events, from the end, never fields (CONTRACT V4).
func (w *Writer) Event(event []byte, rows ...[]byte) error {
	return w.step(func() error {
		line, err := lineOf(event)
		if err != nil {
			return fmt.Errorf("event %d: %w", w.counts.Total, err)
		}
		ranked := make([][]byte, len(rows))
		for i := range rows {
			if ranked[i], err = lineOf(rows[i]); err != nil {
				return fmt.Errorf("event %d, retrieval row %d: %w", w.counts.Total, i, err)
			}
		}
		w.counts.Total++
		if w.counts.Kept < w.counts.Total-1 || !w.fits(line, ranked) {
			w.dropped.Write(line)
			return nil
		}
		w.counts.Kept++
		if err := w.trace.add(w, line); err != nil {
			return err
		}
		for _, row := range ranked {
			if err := w.ranked.add(w, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// fits says that an event and its rows stay within both caps.
func (w *Writer) fits(line []byte, rows [][]byte) bool {
	all := w.trace.total + w.ranked.total + int64(len(line))
	fits := int64(len(line)) <= w.caps.part
	for _, row := range rows {
		all += int64(len(row))
		fits = fits && int64(len(row)) <= w.caps.part
	}
	return fits && all <= w.caps.run
}

// Counts gives what is written of the trace so far.
func (w *Writer) Counts() Counts {
	c := w.counts
	if c.Kept < c.Total {
		c.Dropped = hex.EncodeToString(w.dropped.Sum(nil))
	}
	return c
}

// Close writes the trace's envelope, to which it adds the metadata, makes every file durable and then says, as the last
// step, that the run is complete.
func (w *Writer) Close(envelope []byte) error {
	all := metadata(w.Counts(), w.opening.Lane.Name)
	return w.step(func() error {
		text, err := withMember(envelope, "metadata", all)
		if err != nil {
			return fmt.Errorf("%s: %w", TraceFile, err)
		}
		out, err := w.file(TraceFile)
		if err != nil {
			return err
		}
		if err := out.write(append(text, '\n')); err != nil {
			return err
		}
		for _, k := range kinds {
			if k.required && k.lines != nil {
				if _, err := w.file(k.name); err != nil { // also where it has no line
					return err
				}
			}
		}
		for _, name := range canon.SortedKeys(w.open) {
			if err := w.finish(w.open[name]); err != nil {
				return err
			}
		}
		for _, folder := range []string{traceParts, retrievalParts, ""} {
			if folder == traceParts && w.trace.count == 0 || folder == retrievalParts && w.ranked.count == 0 {
				continue
			}
			if err := w.disk.syncFolder(filepath.Join(w.dir, folder)); err != nil {
				return err
			}
		}
		for _, p := range pinned {
			if w.digests[p.file] == "" {
				return fmt.Errorf("%s was never written: a complete run has it", p.file)
			}
		}
		return w.replaceManifest(w.files)
	})
}

// metadata says how much of the trace there is.
func metadata(c Counts, lane string) []byte {
	m := document.NewWriter(document.Style{})
	m.Object("", func() {
		m.Bool("truncated", c.Dropped != "")
		m.Text("lane", lane)
		m.Integer("events_total", int64(c.Total))
		m.Integer("events_kept", int64(c.Kept))
		if c.Dropped != "" {
			m.Text("dropped_digest", c.Dropped)
		}
	})
	return m.Bytes()
}

// Abandon gives up the open files and leaves a run that says it is cut short. After Close it does nothing.
func (w *Writer) Abandon() {
	for _, name := range canon.SortedKeys(w.open) {
		w.open[name].Close() // nothing is lost: nobody reads a run that is cut short
		delete(w.open, name)
	}
	if w.err == nil {
		w.err = errors.New("the run was closed or given up")
	}
}

// step runs one call, unless one has failed before: what is on disk then is no longer what the writer thinks.
func (w *Writer) step(do func() error) error {
	if w.err == nil {
		w.err = do()
	}
	return w.err
}

// file gives the file of that name, new or still open.
func (w *Writer) file(name string) (*output, error) {
	if out, ok := w.open[name]; ok {
		return out, nil
	}
	if !known(name) {
		return nil, fmt.Errorf("a run has no file %s", name)
	}
	f, err := w.disk.create(filepath.Join(w.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	out := &output{file: f, name: name, sum: sha256.New()}
	w.open[name] = out
	return out, nil
}

// finish makes a file durable and lists it.
func (w *Writer) finish(out *output) error {
	delete(w.open, out.name)
	w.files = append(w.files, entry{path: out.name, bytes: out.size, sha256: hex.EncodeToString(out.sum.Sum(nil))})
	return errors.Join(out.Sync(), out.Close())
}

// replaceManifest puts a manifest in the place of the one before, so that a reader finds either, and never half of one.
func (w *Writer) replaceManifest(files []entry) error {
	f, err := w.disk.create(filepath.Join(w.dir, Unfinished))
	if err != nil {
		return err
	}
	_, err = f.Write(w.opening.manifest(w.digests, files))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := w.disk.rename(filepath.Join(w.dir, Unfinished), filepath.Join(w.dir, ManifestFile)); err != nil {
		return err
	}
	return w.disk.syncFolder(w.dir)
}
