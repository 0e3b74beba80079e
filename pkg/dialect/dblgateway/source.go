package dblgateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// source is the content of one input in a file that can be read at any offset: the evidence itself, or a spooled copy.
type source struct {
	path  string        // as typed
	input finding.Input // without a kind
	file  *os.File
	spool string // name of the copy, to be removed; "" for the evidence itself
}

var gzipMagic = []byte{0x1f, 0x8b}

// open opens the input read-only. What cannot be read at any offset is spooled, decompressed, to a private file.
func open(path string, o dialect.Options) (*source, error) {
	s := &source{path: path, input: finding.Input{Path: path, Dialect: Name}}
	if path == "-" {
		return s.opened(s.spoolStdin(o))
	}
	// Opening as a stream refuses what is no regular file, and recognises gzip.
	stream, err := dialect.Open(path, nil)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if s.file, err = os.Open(path); err != nil {
		return nil, dialect.Unreadable(path, err)
	}
	if s.input.Bytes, s.input.SHA256, err = measure(s.file, o.Digests); err != nil {
		return s.opened(dialect.Unreadable(path, err))
	}
	head, err := s.head()
	if err != nil || !bytes.HasPrefix(head, gzipMagic) {
		return s.opened(err)
	}
	s.file.Close()
	return s.opened(s.spoolFrom(stream))
}

// opened gives the source, or lets go of it.
func (s *source) opened(err error) (*source, error) {
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// measure gives the size of a file in bytes, and its SHA-256 where that is asked for.
func measure(file *os.File, digest bool) (size int64, sum string, err error) {
	if !digest {
		size, err = file.Seek(0, io.SeekEnd)
		return size, "", err
	}
	h := sha256.New()
	size, err = io.Copy(h, file)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// spoolStdin spools standard input, which is measured on its way since it cannot be read twice.
func (s *source) spoolStdin(o dialect.Options) error {
	m := &meter{Hash: sha256.New()}
	raw := io.TeeReader(o.Stdin, m)
	stream, err := dialect.Open(s.path, raw)
	if err != nil {
		return err
	}
	defer stream.Close()
	if err := s.spoolFrom(stream); err != nil {
		return err
	}
	s.input.Bytes = m.bytes
	if o.Digests {
		s.input.SHA256 = hex.EncodeToString(m.Sum(nil))
	}
	return nil
}

func (s *source) spoolFrom(stream io.Reader) error {
	file, err := os.CreateTemp("", "dmpl-spool-")
	if err != nil {
		return noTemporary(s.path, err)
	}
	s.file, s.spool = file, file.Name()
	if _, err := io.Copy(file, stream); err != nil {
		return asProblem(s.path, err)
	}
	return nil
}

// noTemporary is the problem of an input that has to be copied and cannot be. It does not name the place of the copy: a report
// says the same on every machine (Z4).
func noTemporary(path string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return problem(finding.InputUnreadable, path, "needs a temporary copy, which cannot be made: "+err.Error())
}

// asProblem keeps a problem that a stream gave and makes one of any other error.
func asProblem(path string, err error) error {
	var p *dialect.Problem
	if errors.As(err, &p) {
		return p
	}
	return dialect.Unreadable(path, err)
}

// head gives the first bytes of the content.
func (s *source) head() ([]byte, error) {
	head := make([]byte, len(sqliteMagic))
	n, err := s.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, dialect.Unreadable(s.path, err)
	}
	return head[:n], nil
}

func (s *source) close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.spool != "" {
		err = errors.Join(err, os.Remove(s.spool))
	}
	return err
}

// meter counts and digests what is written to it.
type meter struct {
	hash.Hash
	bytes int64
}

// Write implements [io.Writer].
func (m *meter) Write(p []byte) (int, error) {
	m.bytes += int64(len(p))
	return m.Hash.Write(p)
}
