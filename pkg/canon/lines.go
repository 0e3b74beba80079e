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

// Lines calls each for every line of a JSONL stream, numbered from 1, without its line feed; a line feed at the end
// opens no further line. A line over maxLine bytes (MaxLine when 0) ends it with a *LineTooLong; memory stays within
// that bound. The data are valid during the call only. Other errors are those of r and of each.
func Lines(r io.Reader, maxLine int, each func(line int, data []byte) error) error {
	if maxLine <= 0 {
		maxLine = MaxLine
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for line := 1; ; line++ {
		long = long[:0]
		piece, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) && len(long)+len(piece) <= maxLine {
			long = append(long, piece...)
			piece, err = in.ReadSlice('\n')
		}
		if len(long) > 0 {
			long = append(long, piece...)
			piece = long
		}
		ended := len(piece) > 0 && piece[len(piece)-1] == '\n'
		if ended {
			piece = piece[:len(piece)-1]
		}
		if len(piece) > maxLine {
			return &LineTooLong{Line: line, Limit: maxLine}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !ended && len(piece) == 0 {
			return nil
		}
		if err := each(line, piece); err != nil {
			return err
		}
	}
}
