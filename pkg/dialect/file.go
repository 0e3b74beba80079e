// Package dialect turns foreign files into dmpl's one model of a run.
//
// A reader states what it found (the model, with every stored digest beside its preimage) and which fields break their
// schema (CONTRACT V1). It judges nothing else.
package dialect

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/dmpl/dmpl/pkg/finding"
)

// DefaultLimit is the size of the largest document read at once, in bytes (CONTRACT C1).
const DefaultLimit = 256 << 20

// File is one file of evidence in memory.
type File struct {
	Path  string // as typed; "-" is standard input
	Data  []byte // content, decompressed
	Bytes int64  // size as it stands
	raw   []byte // the bytes as they stand
}

// Input describes the file for a report, with the digest of its bytes as they stand where it is asked for.
func (f *File) Input(dialect, kind string, digest bool) finding.Input {
	in := finding.Input{Path: f.Path, Dialect: dialect, Kind: kind, Bytes: f.Bytes}
	if digest {
		sum := sha256.Sum256(f.raw)
		in.SHA256 = hex.EncodeToString(sum[:])
	}
	return in
}

// Problem is an error with a reason code: an input that could not be read or understood.
type Problem struct {
	Code    finding.Code
	Path    string
	Offset  int    // byte offset, or -1
	Pointer string // RFC 6901
	Detail  string
}

// Error gives what, where and why in one line.
func (p *Problem) Error() string {
	where := p.Path
	if p.Offset >= 0 {
		where += fmt.Sprintf(": byte %d", p.Offset)
	}
	if p.Pointer != "" {
		where += ", at " + p.Pointer
	}
	return where + ": " + p.Detail
}

// Finding gives the problem as a finding of a report.
func (p *Problem) Finding() finding.Finding {
	f := finding.New(p.Code)
	f.Artifact, f.Pointer, f.Detail = p.Path, p.Pointer, p.Detail
	if p.Offset >= 0 {
		f.Detail = fmt.Sprintf("%s at byte %d", p.Detail, p.Offset)
	}
	f.Hint = finding.Lookup(p.Code).Action
	return f
}

func problem(code finding.Code, path, detail string) *Problem {
	return &Problem{Code: code, Path: path, Offset: -1, Detail: detail}
}

// Unreadable is the problem of a path that the file system refuses.
func Unreadable(path string, err error) *Problem {
	return problem(finding.InputUnreadable, path, reason(err))
}

// ReadFile reads the file at path, or stdin for "-", whole and read-only. More than limit bytes, a folder, a pipe or a
// device are refused before anything is read; gzip is recognised by its magic bytes and bounded by the same limit.
// Every error is a [Problem].
func ReadFile(path string, stdin io.Reader, limit int64) (*File, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	if path == "-" {
		return readAll(path, stdin, 0, limit)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, problem(finding.InputNotAFile, path, "is "+modeName(info.Mode())+", not a regular file")
	}
	if info.Size() > limit {
		return nil, tooLarge(path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	defer f.Close()
	return readAll(path, f, info.Size(), limit)
}

func readAll(path string, r io.Reader, size, limit int64) (*File, error) {
	data, err := readBounded(r, size, limit)
	if errors.Is(err, errLimit) {
		return nil, tooLarge(path, limit)
	}
	if err != nil {
		return nil, Unreadable(path, err)
	}
	f := &File{Path: path, Data: data, Bytes: int64(len(data)), raw: data}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return f, f.decompress(limit)
	}
	return f, nil
}

// decompress replaces the data by what gzip holds (CONTRACT C1).
func (f *File) decompress(limit int64) error {
	z, err := gzip.NewReader(bytes.NewReader(f.Data))
	if err != nil {
		return problem(finding.InputGzip, f.Path, reason(err))
	}
	data, err := readBounded(z, 0, limit)
	if errors.Is(err, errLimit) {
		return tooLarge(f.Path, limit)
	}
	if err != nil {
		return problem(finding.InputGzip, f.Path, reason(err))
	}
	f.Data = data
	return nil
}

var errLimit = errors.New("over the limit")

func readBounded(r io.Reader, size, limit int64) ([]byte, error) {
	buffer := make([]byte, 0, size+bytes.MinRead)
	hugePages(buffer)
	buf := bytes.NewBuffer(buffer)
	n, err := buf.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, errLimit
	}
	return buf.Bytes(), nil
}

func tooLarge(path string, limit int64) *Problem {
	return problem(finding.InputTooLarge, path, fmt.Sprintf("is larger than %d bytes", limit))
}

// reason takes the path out of a file-system error: the report names it once, as typed.
func reason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return "cannot " + pathErr.Op + ": " + pathErr.Err.Error()
	}
	return err.Error()
}

func modeName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
