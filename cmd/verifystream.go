package cmd

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/verify"
)

// headBytes is how much of an input is looked at to tell a stream, which can be larger than memory, from other artifacts.
const headBytes = 64 << 10

// contextConfig reads the file of --context-config; nil without the flag (CONTRACT X4). The error is a [dialect.Problem].
func (a *App) contextConfig(o *verifyOptions) (*thread.Config, error) {
	if o.contextFile == "" {
		return nil, nil
	}
	c, err := readContextConfig(o.contextFile, dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests})
	if err != nil {
		return nil, err
	}
	o.contextInput = []finding.Input{c.input}
	return &c.Config, nil
}

// isStream says whether an input is the event stream of a gateway, by its dialect flag or by its first bytes.
func (a *App) isStream(path string, o *artifactOptions) bool {
	if o.dialect.value != dialectAuto {
		return o.dialect.value == dblgateway.Name
	}
	return startsStream(path, a.head(path))
}

// head gives the first bytes of an input, decompressed; none where it cannot be read, which is met again by who reads it.
func (a *App) head(path string) []byte {
	if path == stdin {
		in := bufio.NewReaderSize(a.In, headBytes)
		a.In = in
		head, _ := in.Peek(headBytes)
		return inflated(head)
	}
	f, err := dialect.Open(path, nil)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(f, head) // what is shorter is read whole
	return head[:n]
}

// inflated gives what the start of a compressed input holds.
func inflated(head []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return head
	}
	plain, _ := io.ReadAll(io.LimitReader(z, headBytes)) // the input is cut off on purpose
	return plain
}

var errEvents = errors.New("events")

// startsStream looks at the head of an input. A snapshot whose events come first is known by the members of its first event.
func startsStream(path string, head []byte) bool {
	// The head of a document is no document: an error says nothing.
	if ok, _ := dblgateway.Detect(&dialect.File{Path: path, Data: head}); ok {
		return true
	}
	r := canon.NewReader(head)
	if r.Kind() != canon.Object {
		return false
	}
	err := r.Members(func(name []byte) error {
		if string(name) == "events" {
			return errEvents
		}
		_, err := r.Skip()
		return err
	})
	return errors.Is(err, errEvents) && bytes.Contains(head, []byte(`"prev_event_digest"`))
}

// verifyStream checks one event stream (CONTRACT V0, X6). It calls step after each event.
func (a *App) verifyStream(path string, o *verifyOptions, settings verify.Options, step func()) (finding.Result, error) {
	if o.retrieval != "" {
		return finding.Result{}, usage("Streams have no retrieval trace.", "--retrieval belongs to a trace, and %s is an event stream", path)
	}
	check := verify.NewStream(verify.StreamOptions{Path: path, Config: o.context, Coverage: settings.Coverage})
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.digests}
	step = a.boundedHeap(step)
	stream, err := dblgateway.Read(path, more, func(e thread.Event) error {
		step()
		check.Add(e)
		return nil
	})
	if err != nil {
		return troubled(path, false, err)
	}
	defer stream.Close()
	result, err := check.Result(streamSource(stream))
	if err != nil {
		return troubled(path, false, err)
	}
	result.Name, result.Inputs = path, slices.Concat(stream.Inputs, o.contextInput)
	return result, nil
}

// streamSource tells verify what the reader knows of a stream.
func streamSource(s *dblgateway.Stream) verify.StreamSource {
	return verify.StreamSource{Length: s.Length, VDigest: s.VDigest, Whole: s.Whole, Reason: s.Reason, Shape: s.Shape, Payload: s.Payload}
}

// takeStreams takes the streams out of the files of a folder that are no traces.
func (a *App) takeStreams(tree *dialect.Tree, o *artifactOptions) []string {
	if o.dialect.value != dialectAuto && o.dialect.value != dblgateway.Name {
		return nil
	}
	var streams, rest []string
	byContent := artifactOptions{dialect: choice{value: dialectAuto}}
	for _, path := range tree.Skipped {
		if a.isStream(path, &byContent) {
			streams = append(streams, path)
		} else {
			rest = append(rest, path)
		}
	}
	tree.Skipped = slices.DeleteFunc(rest, func(path string) bool { // an input of the stream that it belongs to
		base, isLog := strings.CutSuffix(path, "-wal")
		return isLog && slices.Contains(streams, base)
	})
	return streams
}
