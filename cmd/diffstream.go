package cmd

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/verify"
)

// areStreams says whether two inputs are event streams. One stream and one trace are a usage error; what is neither is left
// to the readers, who say what is wrong with it.
func (a *App) areStreams(left, right string, o *diffOptions) (bool, error) {
	if o.dialect.value != dialectAuto && o.dialect.value != dblgateway.Name || isFolder(left) && isFolder(right) {
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
	bound := a.boundedHeap(func() {}) // of both: the left side is kept while the right one is read
	leftSide, leftStream, errLeft := a.readStream(left, o, bound)
	if errLeft == nil {
		defer leftStream.Close()
	}
	rightSide, rightStream, errRight := a.readStream(right, o, bound)
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

// streamsIn takes the streams out of a folder. Where streams alone are asked for, nothing else of it counts.
func (a *App) streamsIn(tree *dialect.Tree, o *diffOptions) []string {
	if o.dialect.value == dblgateway.Name {
		tree.Entries, tree.Orphans = nil, nil
	}
	return a.takeStreams(tree, &o.artifactOptions)
}

// placedPair is a place that both folders can have, with the file of each; "" where there is none.
type placedPair struct{ place, left, right string }

// pairedByPlace pairs files of two folders by their places below the roots.
func pairedByPlace(leftRoot, rightRoot string, left, right []string) []placedPair {
	pairs := map[string]placedPair{}
	for _, path := range left {
		place := placeBelow(leftRoot, path)
		pairs[place] = placedPair{place: place, left: path}
	}
	for _, path := range right {
		place := placeBelow(rightRoot, path)
		pairs[place] = placedPair{place, pairs[place].left, path}
	}
	var sorted []placedPair
	for _, place := range slices.Sorted(maps.Keys(pairs)) {
		sorted = append(sorted, pairs[place])
	}
	return sorted
}

// placeBelow names a file of a folder the same in every copy of the folder.
func placeBelow(root, path string) string {
	place, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(place)
}

// diffStreamPair compares the streams at one place of two folders.
func (a *App) diffStreamPair(p placedPair, left, right string, o *diffOptions) (finding.Result, error) {
	switch {
	case p.right == "":
		return missing(finding.StreamDiffMissing, p.place, p.left, right, "the right folder has no such stream"), nil
	case p.left == "":
		return missing(finding.StreamDiffMissing, p.place, left, p.right, "the left folder has no such stream"), nil
	}
	result, err := a.diffStreams(p.left, p.right, o)
	result.Name = p.place
	return result, err
}

// readStream reads a stream and verifies it on the way, and keeps what a comparison needs of its events: a side that is not
// what it claims to be proves nothing (CONTRACT E1). No configuration is given, so no context is assembled again. The
// caller closes the stream.
func (a *App) readStream(path string, o *diffOptions, bound func()) (*equiv.Stream, *dblgateway.Stream, error) {
	step, done := a.progressOfEvents("diff")
	defer done()
	side, check := &equiv.Stream{Path: path}, verify.NewStream(verify.StreamOptions{Path: path})
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests}
	stream, err := dblgateway.Read(path, more, func(e thread.Event) error {
		bound()
		check.Add(e)
		step()
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	result, err := check.Result(streamSource(stream))
	if err != nil {
		stream.Close()
		return nil, nil, err
	}
	check.Events(side.Add) // now that verify has let go of the rest
	side.Payload, side.Findings, side.Partial = stream.Payload, result.Findings, stream.Reason
	return side, stream, nil
}
