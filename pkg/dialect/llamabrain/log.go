package llamabrain

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// Log is what ReadLog found besides the records.
type Log struct {
	Inputs []finding.Input
	Shape  []finding.Finding
}

// ReadLog reads a rolling log, one record a line, and calls each for every record in order. A line holds at most 64 MiB,
// the log has no limit (C1). An error is a [dialect.Problem], or what each returned.
func ReadLog(path string, o dialect.Options, each func(*audit.Record) error) (*Log, error) {
	log := &Log{Inputs: []finding.Input{{Path: path, Dialect: Name, Kind: KindLog}}}
	in, err := dialect.OpenMeasured(path, o.Stdin, &log.Inputs[0], o.Digests)
	if err != nil {
		return nil, err
	}
	s := shape{path: path}
	start := int64(0)
	err = canon.Lines(in, 0, func(line int, data []byte) error {
		at := place{line - 1, "/" + strconv.Itoa(line-1)}
		record, err := s.line(data, at)
		if err != nil {
			return misread(path, err, line, start)
		}
		start += int64(len(data)) + 1
		return each(&record)
	})
	if failed := in.Close(); err == nil && failed != nil {
		err = dialect.Unreadable(path, failed)
	}
	var long *canon.LineTooLong
	switch {
	case errors.As(err, &long):
		return nil, problem(finding.InputTooLarge, path, long.Error())
	case err != nil:
		return nil, err
	}
	log.Shape = s.found()
	return log, nil
}

// line reads one line. An empty one is no record: a log that was cut off or edited is told so.
func (s *shape) line(data []byte, at place) (audit.Record, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return audit.Record{}, &canon.Error{Code: canon.CodeInvalidJSON, Detail: "the line is empty"}
	}
	return s.record(data, at)
}

// misread places a reading error of a line in its file.
func misread(path string, err error, line int, start int64) error {
	var bad *canon.Error
	if !errors.As(err, &bad) {
		return err
	}
	p := &dialect.Problem{
		Code: finding.Code(bad.Code), Path: path, Offset: -1, Pointer: "/" + strconv.Itoa(line-1) + bad.Pointer,
		Detail: fmt.Sprintf("line %d: %s", line, bad.Detail),
	}
	if offset := start + int64(bad.Offset); offset <= math.MaxInt {
		p.Offset = int(offset)
	}
	return p
}
