package cmd

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// documentOptions are the flags of the commands that print something for each document.
type documentOptions struct {
	jsonl bool
	limit byteCount
	fault fault // nil where a document without a result prints nothing, and a line `error: CODE`
}

// fault appends what a command prints in place of a result.
type fault func(dst []byte, reason *canon.Error) []byte

func (o *documentOptions) bind(c *cobra.Command) {
	instead := "error: CODE for a bad one"
	if o.fault != nil {
		instead = "an object with error for a bad one"
	}
	c.Flags().BoolVar(&o.jsonl, "jsonl", false, "each line is a document; print a line for each ("+instead+")")
	addDocumentLimit(c, &o.limit)
}

// addDocumentLimit declares the flag that raises or lowers the size of a document (CONTRACT C1).
func addDocumentLimit(c *cobra.Command, limit *byteCount) {
	*limit = dialect.DefaultLimit
	c.Flags().Var(limit, "max-document-bytes", "refuse a larger document; a line of a stream has at most 64 MiB")
}

func addProfile(c *cobra.Command, profile *choice) {
	var names []string
	for _, p := range canon.Profiles() {
		names = append(names, p.String())
	}
	addChoice(c, profile, "profile", "canonical profile", names...)
}

// rendering appends what a command prints for one document.
type rendering func(dst, document []byte) ([]byte, error)

// documents prints the rendering of the one document in the file, or of each of its lines (CONTRACT C1).
func (a *App) documents(path string, o documentOptions, render rendering) error {
	out := bufio.NewWriterSize(a.Out, 64<<10)
	var err error
	if o.jsonl {
		err = a.eachLine(out, path, o, render)
	} else {
		err = a.oneDocument(out, path, o, render)
	}
	// What was found before an error is printed, whatever the error.
	if failed := out.Flush(); failed != nil {
		return outputError{failed}
	}
	return err
}

func (a *App) oneDocument(out *bufio.Writer, path string, o documentOptions, render rendering) error {
	file, err := a.readFile(path, int64(o.limit))
	if err != nil {
		return err
	}
	text, err := render(nil, file.Data)
	var bad *canon.Error
	if errors.As(err, &bad) && o.fault != nil {
		text = append(o.fault(nil, bad), '\n')
	} else if err != nil {
		return located(path, err)
	}
	if _, err := out.Write(text); err != nil {
		return outputError{err}
	}
	return located(path, err)
}

// located joins the path to an error about the bytes in it.
func located(path string, err error) error {
	var bad *canon.Error
	if errors.As(err, &bad) {
		p := problemOf(path, bad)
		return &p
	}
	var long *canon.LineTooLong
	if errors.As(err, &long) {
		return &dialect.Problem{Code: finding.InputTooLarge, Path: path, Offset: -1, Detail: long.Error()}
	}
	return err
}
