package cmd

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/thread"
)

// replayLedger projects a stream into an SQLite file, which db names, and replays that. Without db the file is a private one
// and is removed (X5).
func replayLedger(path, db string, settings dialect.Options, o replay.Options, step func()) (*dblgateway.Stream, *replay.Stream, error) {
	if db != "" {
		return replayProjected(path, db, settings, o, step)
	}
	dir, err := os.MkdirTemp("", "dmpl-ledger-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ledger.sqlite")
	stream, run, err := replayProjected(path, file, settings, o, step)
	var problem *dialect.Problem
	if errors.As(err, &problem) && problem.Path == file {
		problem.Path = path // the private file means nothing to anybody
	}
	return stream, run, err
}

// replayProjected projects the stream while it is read, since standard input is read once only.
func replayProjected(path, file string, settings dialect.Options, o replay.Options, step func()) (*dblgateway.Stream, *replay.Stream, error) {
	projection, err := dblgateway.Project(file)
	if err != nil {
		return nil, nil, err
	}
	var refused error
	stream, err := dblgateway.Read(path, settings, func(e thread.Event) error {
		step()
		if refused == nil {
			refused = projection.Add(e)
		}
		return nil
	})
	if err != nil {
		projection.Discard()
		return nil, nil, err
	}
	var run *replay.Stream
	if err = refused; err != nil {
		projection.Discard()
	} else if err = projection.Commit(stream); err == nil {
		run, err = replayFile(file, o)
	}
	if err != nil {
		return nil, nil, errors.Join(err, stream.Close())
	}
	return stream, run, nil
}

// replayFile replays the trail in a file.
func replayFile(file string, o replay.Options) (*replay.Stream, error) {
	trail, run, err := replayTrail(file, dialect.Options{}, o, func() {})
	if err != nil {
		return nil, err
	}
	return run, trail.Close()
}

// replayTrail replays a trail as found.
func replayTrail(path string, settings dialect.Options, o replay.Options, step func()) (*dblgateway.Stream, *replay.Stream, error) {
	trail, err := dblgateway.Read(path, settings, func(thread.Event) error { step(); return nil })
	if err != nil {
		return nil, nil, err
	}
	run, err := replayFrom(trail, o)
	if err != nil {
		return nil, nil, errors.Join(err, trail.Close())
	}
	return trail, run, nil
}

// replayFrom replays the events of a trail, references answered by query.
func replayFrom(trail *dblgateway.Stream, o replay.Options) (*replay.Stream, error) {
	ledger, err := trail.Ledger()
	if err != nil {
		return nil, err
	}
	o.Ledger = ledger
	run := replay.New(o)
	if err := ledger.Events(func(e thread.Event) error { run.Event(e); return nil }); err != nil {
		return nil, err
	}
	return run, run.Compare(trail.Payload)
}
