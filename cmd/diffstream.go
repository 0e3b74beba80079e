package cmd

import (
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
	leftIs, rightIs := a.isStream(left, &o.artifactOptions), a.isStream(right, &o.artifactOptions)
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
	side := &equiv.Stream{Path: path}
	step, done := a.progressOfEvents("diff")
	defer done()
	step = a.boundedHeap(step)
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests}
	stream, err := dblgateway.Read(path, more, func(e thread.Event) error {
		side.Add(e)
		step()
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	side.Payload, side.Findings, side.Partial = stream.Payload, stream.Shape, stream.Reason
	return side, stream, nil
}
