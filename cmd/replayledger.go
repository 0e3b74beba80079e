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

// replayLedger replays a trail as found; a snapshot is projected into an SQLite file first, and so is a trail where db
// names that file. Without db the file is a private one and is removed (X5).
func replayLedger(path, db string, settings dialect.Options, o replay.Options, step func()) (*dblgateway.Stream, *replay.Stream, error) {
	if db != "" {
		return replayProjected(path, db, settings, o, false, step)
	}
	dir, err := os.MkdirTemp("", "dmpl-ledger-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ledger.sqlite")
	stream, run, err := replayProjected(path, file, settings, o, true, step)
	var problem *dialect.Problem
	if errors.As(err, &problem) && problem.Path == file {
		problem.Path = path // the private file means nothing to anybody
	}
	return stream, run, err
}

// replayProjected projects the stream while it is read, since standard input is read once only. A trail is found out then:
// where asFound allows, it answers itself.
func replayProjected(path, file string, settings dialect.Options, o replay.Options, asFound bool, step func()) (*dblgateway.Stream, *replay.Stream, error) {
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
	switch {
	case asFound && stream.Kind == dblgateway.KindTrail:
		projection.Discard()
		run, err = replayFrom(stream, o)
	case refused != nil:
		projection.Discard()
		err = refused
	default:
		if err = projection.Commit(stream); err == nil {
			run, err = replayFile(file, o)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, stream.Close())
	}
	return stream, run, nil
}

// replayFile replays the trail in a file.
func replayFile(file string, o replay.Options) (*replay.Stream, error) {
	trail, err := dblgateway.Read(file, dialect.Options{}, func(thread.Event) error { return nil })
	if err != nil {
		return nil, err
	}
	run, err := replayFrom(trail, o)
	return run, errors.Join(err, trail.Close())
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
