package dialect

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/dmpl/dmpl/pkg/finding"
)

// Open opens the file at path, or stdin for "-", read-only, for reading as a stream without a total limit; gzip is
// recognised by its magic bytes (CONTRACT C1). A folder, a pipe by name and a device are refused. Every error, also one
// while reading, is a [Problem]; the caller closes the stream.
func Open(path string, stdin io.Reader) (io.ReadCloser, error) {
	file, err := openRaw(path, stdin)
	if err != nil {
		return nil, err
	}
	return decompressed(path, file)
}

// OpenMeasured is [Open] for an input that a report describes: once the stream is closed, in has the size, and the digest
// where that is asked for.
func OpenMeasured(path string, stdin io.Reader, in *finding.Input, digest bool) (io.ReadCloser, error) {
	file, err := openRaw(path, stdin)
	if err != nil {
		return nil, err
	}
	m := &measured{ReadCloser: file, in: in}
	if digest {
		m.sum = sha256.New()
	}
	return decompressed(path, m)
}

// measured counts and digests what is read.
type measured struct {
	io.ReadCloser
	in  *finding.Input
	sum hash.Hash // nil: not asked for
}

// Read implements [io.Reader].
func (m *measured) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.in.Bytes += int64(n)
	if m.sum != nil {
		m.sum.Write(p[:n])
	}
	return n, err
}

// Close reads what is left, so that the whole input has been measured.
func (m *measured) Close() error {
	_, err := io.Copy(io.Discard, m)
	if m.sum != nil {
		m.in.SHA256 = hex.EncodeToString(m.sum.Sum(nil))
	}
	return errors.Join(err, m.ReadCloser.Close())
}

func openRaw(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, problem(finding.InputNotAFile, path, "is "+modeName(info.Mode())+", not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	return f, nil
}

// stream gives every error of a read its path and code.
type stream struct {
	io.Reader
	io.Closer
	path string
	code finding.Code
}

// Read reads the content; an error other than [io.EOF] is a [Problem].
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, problem(s.code, s.path, reason(err))
}

func decompressed(path string, file io.ReadCloser) (io.ReadCloser, error) {
	r := bufio.NewReaderSize(file, 64<<10)
	// A failed look ahead is no loss: the first Read meets the same error.
	magic, _ := r.Peek(2)
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return &stream{Reader: r, Closer: file, path: path, code: finding.InputUnreadable}, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		file.Close()
		return nil, problem(finding.InputGzip, path, reason(err))
	}
	return &stream{Reader: z, Closer: file, path: path, code: finding.InputGzip}, nil
}
