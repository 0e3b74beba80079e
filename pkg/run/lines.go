package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/trace"
)

// chunk is how many bytes of a file are read at a time.
const chunk = 64 << 10

// lines reads a file line by line, and digests it on the way. After an error it gives no further line.
type lines struct {
	file   *trace.RunFile
	in     *os.File
	sum    hash.Hash
	buffer []byte // what was read and not given yet
	room   []byte // that buffer lies in
	count  int    // lines that were given
	err    error
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
	if !info.Mode().IsRegular() || info.Mode()&fs.ModeSymlink != 0 || info.Size() > limit {
		return nil, errNotWalked
	}
	in, err := os.Open(file.Path)
	if err != nil {
		return nil, err
	}
	return &lines{file: file, in: in, sum: sha256.New(), room: make([]byte, min(int64(chunk), info.Size()+1))}, nil
}

// next gives the next line without its line feed, valid until the next call. After the last one the error is io.EOF.
func (l *lines) next() ([]byte, error) {
	seen := 0
	for {
		if end := bytes.IndexByte(l.buffer[seen:], '\n'); end >= 0 {
			return l.take(seen+end, 1), nil
		}
		seen = len(l.buffer)
		switch {
		case l.err == nil && seen <= canon.MaxLine:
			l.fill()
		case l.err == nil:
			l.err = errNotWalked
		case errors.Is(l.err, io.EOF) && seen > 0:
			return l.take(seen, 0), nil
		default:
			l.room, l.buffer = nil, nil
			return nil, l.err
		}
	}
}

// take gives the first n bytes of the buffer, and leaves out what follows them.
func (l *lines) take(n, after int) []byte {
	line := l.buffer[:n:n]
	l.buffer = l.buffer[n+after:]
	l.count++
	return line
}

// fill reads more of the file, behind what is there.
func (l *lines) fill() {
	have := len(l.buffer)
	if have > len(l.room)/2 {
		l.room = make([]byte, max(2*len(l.room), chunk))
	}
	copy(l.room, l.buffer)
	n, err := l.in.Read(l.room[have:])
	l.sum.Write(l.room[have : have+n]) // a hash never fails
	l.buffer, l.err = l.room[:have+n], err
	l.file.Bytes += int64(n)
	if errors.Is(l.err, io.EOF) {
		l.file.SHA256 = hex.EncodeToString(l.sum.Sum(nil))
		l.close()
	}
}

// close lets go of the file.
func (l *lines) close() { l.in.Close() } // it was only read
