package dblgateway

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// store is the SQLite file that is opened: the evidence itself, or a copy with its log.
type store struct {
	*source
	file   string // absolute
	copied bool
	dir    string // the copy's folder, to be removed; "" for none
	inputs []finding.Input
	before stamp // of the evidence when it was opened; zero for a spooled one
}

// Files that lie beside a store and hold a part of it (dbl-gateway.md §2). The -shm file is an index that is built again.
var logs = []string{"-wal", "-journal"}

const attempts = 5

// openStore finds what has to be opened. Without a log the evidence itself is opened, as immutable. With one, opening the
// evidence would write beside it, so that both are copied; a copy during which the gateway moved the log into the store
// is made again.
func openStore(src *source, o dialect.Options) (*store, error) {
	s := &store{source: src}
	input := src.input
	input.Kind = KindTrail
	s.inputs = []finding.Input{input}
	if src.spool != "" {
		s.file = src.spool
		return s, nil
	}
	var err error
	// The log lies beside the file, not beside a link to it.
	if s.file, err = filepath.EvalSymlinks(src.path); err == nil {
		s.file, err = filepath.Abs(s.file)
	}
	if err != nil {
		return nil, dialect.Unreadable(src.path, err)
	}
	for range attempts {
		done, err := s.prepare(o)
		if err != nil {
			s.remove()
			return nil, asProblem(src.path, err)
		}
		if done {
			return s, nil
		}
		s.remove()
	}
	return nil, problem(finding.InputUnreadable, src.path, "is being written: no consistent copy could be made")
}

// prepare makes one attempt; done is false where the store changed meanwhile.
func (s *store) prepare(o dialect.Options) (done bool, err error) {
	before, err := stampOf(s.file)
	if err != nil {
		return false, err
	}
	s.before = before
	if len(before.logs) == 0 {
		return true, nil
	}
	original := s.file
	if s.dir, err = os.MkdirTemp("", "dmpl-trail-"); err != nil {
		return false, noTemporary(s.path, err)
	}
	duplicate := filepath.Join(s.dir, "trail.sqlite")
	inputs := s.inputs[:0:0]
	for _, suffix := range append([]string{""}, before.logs...) {
		input, err := s.copy(original+suffix, duplicate+suffix, suffix, o)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil // the log is gone: the gateway stopped
		}
		if err != nil {
			return false, err
		}
		inputs = append(inputs, input)
	}
	after, err := stampOf(original)
	if err != nil || !before.equal(after) {
		return false, err
	}
	s.file, s.copied, s.inputs = duplicate, true, inputs
	return true, nil
}

func (s *store) copy(from, to, suffix string, o dialect.Options) (finding.Input, error) {
	input := finding.Input{Path: s.path + suffix, Dialect: Name, Kind: KindTrail}
	if suffix != "" {
		input.Kind = KindWAL
	}
	in, err := os.Open(from)
	if err != nil {
		return input, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return input, err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return input, err
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return input, err
	}
	input.Bytes, input.SHA256, err = measure(out, o.Digests)
	return input, err
}

// unchanged says that the evidence is what it was when it was opened: SQLite, told that it is immutable, does not look.
func (s *store) unchanged() error {
	if s.spool != "" || s.copied {
		return nil
	}
	now, err := stampOf(s.file)
	if err != nil {
		return dialect.Unreadable(s.path, err)
	}
	if now.size != s.before.size || !now.modified.Equal(s.before.modified) {
		return problem(finding.InputUnreadable, s.path, "changed while it was read")
	}
	return nil
}

func (s *store) remove() error {
	if s.dir == "" {
		return nil
	}
	dir := s.dir
	s.dir = ""
	return os.RemoveAll(dir)
}

// stamp tells two states of a store apart. A log that only grew is the same: its frames are checked one by one.
type stamp struct {
	size     int64
	modified time.Time
	logs     []string // suffixes of the logs that hold something
	heads    []byte   // the first bytes of those logs: each checkpoint begins a log with another salt
}

func stampOf(file string) (stamp, error) {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}, err
	}
	st := stamp{size: info.Size(), modified: info.ModTime()}
	for _, suffix := range logs {
		head, err := logHead(file + suffix)
		if err != nil {
			return stamp{}, err
		}
		if len(head) > 0 {
			st.logs = append(st.logs, suffix)
			st.heads = append(st.heads, head...)
		}
	}
	return st, nil
}

// logHead gives the first bytes of a log; none where it is empty or not there.
func logHead(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 32)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

func (a stamp) equal(b stamp) bool {
	return a.size == b.size && a.modified.Equal(b.modified) && bytes.Equal(a.heads, b.heads)
}
