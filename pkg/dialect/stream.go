package dialect

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"

	"github.com/dmpl/dmpl/pkg/finding"
)

// Open opens the file at path, or stdin for "-", read-only, for reading as a stream without a total limit; gzip is
// recognised by its magic bytes (CONTRACT C1). A folder, a pipe by name and a device are refused. Every error, also one
// while reading, is a [Problem]; the caller closes the stream.
func Open(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return decompressed(path, io.NopCloser(stdin))
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
	return decompressed(path, f)
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
