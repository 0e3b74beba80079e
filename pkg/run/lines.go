package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/trace"
)

// lines reads a file line by line, and digests it on the way.
type lines struct {
	file  *trace.RunFile
	in    *os.File
	sum   hash.Hash
	lines *canon.LineReader // nil after the last line
	count int               // lines that were given
}

var errNotWalked = errors.New("not a file that is walked through")

// openLines opens a regular file, which is as it stands: what is compressed has no lines.
func openLines(file *trace.RunFile, limit int64) (*lines, error) {
	if limit <= 0 {
		limit = dialect.DefaultLimit
	}
	info, err := os.Lstat(file.Path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, errNotWalked
	}
	in, err := os.Open(file.Path)
	if err != nil {
		return nil, err
	}
	l := &lines{file: file, in: in, sum: sha256.New()}
	l.lines = canon.NewLineReader(l, 0)
	return l, nil
}

// Read implements io.Reader for what takes the lines apart.
func (l *lines) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	l.sum.Write(p[:n]) // a hash never fails
	l.file.Bytes += int64(n)
	return n, err
}

// next gives the next line without its line feed, valid until the next call. After the last one the error is io.EOF.
func (l *lines) next() ([]byte, error) {
	if l.lines == nil {
		return nil, io.EOF
	}
	text, err := l.lines.Next()
	l.count++
	if errors.Is(err, io.EOF) {
		l.file.SHA256, l.lines = hex.EncodeToString(l.sum.Sum(nil)), nil
		l.close()
	}
	return text, err
}

// close lets go of the file.
func (l *lines) close() { l.in.Close() } // it was only read
