package canon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the most bytes that one JSONL line may have: 64 MiB (C1).
const MaxLine = 64 << 20

// MaxDocument is the most bytes that one document may have unless a flag raises it: 256 MiB (C1).
const MaxDocument = 256 << 20

// LineTooLong is the error of Lines for a line over the limit (C1).
type LineTooLong struct {
	Line  int // from 1
	Limit int // bytes
}

// Error gives one line with the number of the line and the limit.
func (e *LineTooLong) Error() string {
	return fmt.Sprintf("line %d is longer than %d bytes", e.Line, e.Limit)
}

// LineReader gives the lines of a JSONL stream one after the other, within bounded memory.
type LineReader struct {
	in    *bufio.Reader
	long  []byte // a line that the reader's own memory does not hold
	line  int
	limit int
}

// NewLineReader reads the lines of r. A line may have maxLine bytes, MaxLine when 0.
func NewLineReader(r io.Reader, maxLine int) *LineReader {
	if maxLine <= 0 {
		maxLine = MaxLine
	}
	return &LineReader{in: bufio.NewReaderSize(r, 64<<10), limit: maxLine}
}

// Next gives the next line without its line feed, valid until the next call; a line feed at the end opens no further line. The
// error is io.EOF after the last line, a *LineTooLong, or that of r.
func (l *LineReader) Next() ([]byte, error) {
	l.long = l.long[:0]
	l.line++
	piece, err := l.in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) && len(l.long)+len(piece) <= l.limit {
		l.long = append(l.long, piece...)
		piece, err = l.in.ReadSlice('\n')
	}
	if len(l.long) > 0 {
		l.long = append(l.long, piece...)
		piece = l.long
	}
	ended := len(piece) > 0 && piece[len(piece)-1] == '\n'
	if ended {
		piece = piece[:len(piece)-1]
	}
	switch {
	case len(piece) > l.limit:
		return nil, &LineTooLong{Line: l.line, Limit: l.limit}
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case !ended && len(piece) == 0:
		return nil, io.EOF
	}
	return piece, nil
}

// Lines calls each for every line of a JSONL stream, numbered from 1, as [LineReader] gives them. An error of each ends it.
func Lines(r io.Reader, maxLine int, each func(line int, data []byte) error) error {
	in := NewLineReader(r, maxLine)
	for {
		data, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = each(in.line, data)
		}
		if err != nil {
			return err
		}
	}
}
