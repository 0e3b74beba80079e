package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// eachLine prints a line for each line of the file, in bounded memory; the error at the end tells of the bad ones.
func (a *App) eachLine(out *bufio.Writer, path string, o documentOptions, render rendering) error {
	instead := o.fault
	if instead == nil {
		instead = printCode
	}
	in, err := dialect.Open(path, a.In)
	if err != nil {
		return err
	}
	defer in.Close()
	var bad badLines
	var text []byte
	err = canon.Lines(in, int(min(int64(o.limit), canon.MaxLine)), func(line int, data []byte) error {
		bad.lines = line
		var failed error
		if text, failed = renderLine(text[:0], data, render); failed != nil {
			text = instead(text[:0], bad.note(line, failed))
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return outputError{err}
		}
		return nil
	})
	if err != nil {
		return located(path, err)
	}
	return bad.err(path)
}

// printCode is the fault of commands whose results are no JSON documents.
func printCode(dst []byte, reason *canon.Error) []byte { return append(dst, "error: "+reason.Code...) }

// renderLine refuses an empty line under every profile: it is no document.
func renderLine(dst, data []byte, render rendering) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return dst, &canon.Error{Code: string(finding.CanonInvalidJSON), Detail: "the line is empty"}
	}
	return render(dst, data)
}

// badLines counts the lines that are no documents and keeps the first.
type badLines struct {
	lines, bad int
	first      *canon.Error
	firstLine  int
}

// note counts a bad line and gives its reason.
func (b *badLines) note(line int, err error) *canon.Error {
	var reason *canon.Error
	if !errors.As(err, &reason) {
		reason = &canon.Error{Code: string(finding.CanonInvalidJSON), Detail: err.Error()}
	}
	if b.bad == 0 {
		b.first, b.firstLine = reason, line
	}
	b.bad++
	return reason
}

func (b *badLines) err(path string) error {
	if b.bad == 0 {
		return nil
	}
	p := problemOf(path, b.first)
	p.Path = fmt.Sprintf("%s: %d of %d lines are bad; line %d", path, b.bad, b.lines, b.firstLine)
	return &p
}
