package cmd

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"slices"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// areStreams says whether two inputs are event streams. One stream and one trace are a usage error; what is neither is left
// to the readers, who say what is wrong with it.
func (a *App) areStreams(left, right string, o *diffOptions) (bool, error) {
	if o.dialect.value != dialectAuto && o.dialect.value != dblgateway.Name {
		return false, nil
	}
	leftIs, rightIs := a.isStream(left, o), a.isStream(right, o)
	switch {
	case !leftIs && !rightIs:
		return false, nil
	case leftIs != rightIs:
		stream, other := left, right
		if rightIs {
			stream, other = right, left
		}
		if a.isTrace(other, o) {
			return false, usage("Compare two streams, or two traces.", "%s is an event stream and %s is none", stream, other)
		}
	}
	if o.leftRetrieval+o.rightRetrieval+o.profiles != "" {
		return false, usage("Leave the flag out.", "retrieval traces and tool profiles belong to traces, and two event streams were given")
	}
	return true, nil
}

// headSize is how many bytes of an input are looked at to see what it is.
const headSize = 64 << 10

// isStream looks at the head of an input, and at the whole where the head holds words of a stream and does not tell.
func (a *App) isStream(path string, o *diffOptions) bool {
	head := a.head(path)
	if ok, err := dblgateway.Detect(&dialect.File{Path: path, Data: head}); ok && err == nil {
		return true
	}
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return false
	}
	holds := func(name string) bool { return bytes.Contains(head, []byte(`"`+name+`"`)) }
	if holds("canon_len") && holds("correlation_id") {
		return true // the events stand before what names a snapshot
	}
	// A large trace is not read twice only to see that it is none.
	if path == stdin || len(head) < headSize || !holds("correlation_id") && !holds("prev_event_digest") {
		return false
	}
	f, err := dialect.ReadFile(path, nil, int64(o.limit))
	if err != nil {
		return false
	}
	ok, err := dblgateway.Detect(f)
	return ok && err == nil
}

// head gives the first bytes of an input, decompressed; none where it cannot be read. Standard input can still be read
// afterwards.
func (a *App) head(path string) []byte {
	var raw io.Reader
	if path == stdin {
		buffered := bufio.NewReaderSize(a.In, headSize)
		a.In = buffered
		peeked, _ := buffered.Peek(headSize) // what cannot be read shows when it is read
		raw = bytes.NewReader(peeked)
	} else {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil // opening a pipe would wait for its writer
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		raw = f
	}
	buffered := bufio.NewReader(raw)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil
		}
		return firstOf(z)
	}
	return firstOf(buffered)
}

// firstOf reads as much of the head as there is.
func firstOf(r io.Reader) []byte {
	head := make([]byte, headSize)
	n, _ := io.ReadFull(r, head)
	return head[:n]
}

// isTrace says that an input is a folder, standard input, or something that another dialect reads.
func (a *App) isTrace(path string, o *diffOptions) bool {
	if path == stdin || isFolder(path) {
		return true
	}
	f, err := dialect.ReadFile(path, nil, int64(o.limit))
	if err != nil {
		return false
	}
	_, err = o.readerOf(f)
	return err == nil
}

// diffStreams compares two event streams (CONTRACT X8).
func (a *App) diffStreams(left, right string, o *diffOptions) (finding.Result, error) {
	name := a.nameOf(left, right)
	leftSide, leftStream, errLeft := a.readStream(left, o)
	if errLeft == nil {
		defer leftStream.Close()
	}
	rightSide, rightStream, errRight := a.readStream(right, o)
	if errRight == nil {
		defer rightStream.Close()
	}
	if errLeft != nil || errRight != nil {
		return troubled(name, true, errLeft, errRight)
	}
	settings := equiv.Options{Ignore: o.ignore, Timeline: o.format.value == formatJSON}
	result, err := equiv.CompareStreams(leftSide, rightSide, settings)
	if err != nil {
		return troubled(name, true, err)
	}
	result.Name, result.Inputs = name, slices.Concat(leftStream.Inputs, rightStream.Inputs)
	return result, nil
}

// readStream reads a stream and keeps what a comparison needs of its events. The caller closes the stream.
func (a *App) readStream(path string, o *diffOptions) (*equiv.Stream, *dblgateway.Stream, error) {
	if info, err := os.Stat(path); err == nil {
		a.collect(int(info.Size()))
	}
	side := &equiv.Stream{Path: path}
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests}
	stream, err := dblgateway.Read(path, more, func(e thread.Event) error {
		side.Add(e)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	side.Payload, side.Findings, side.Partial = stream.Payload, stream.Shape, stream.Reason
	return side, stream, nil
}
