package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/thread"
)

const (
	modeStream = "stream"
	modeLedger = "ledger"
)

type replayOptions struct {
	reportOptions
	config string
	mode   choice
	db     string
	until  int
	state  string
	limit  byteCount

	overrides overrides
}

func (a *App) replayCommand() *cobra.Command {
	var o replayOptions
	c := &cobra.Command{
		Use:   "replay RUN... | STREAM --context-config FILE | PACKAGE --state SAVEFILE [FLAGS]",
		Short: "Make a recorded run or stream again and compare",
		Long: `replay executes native runs again from their start snapshot and the recorded model outputs, and says by event index where the
run that is made leaves the recorded one, and why: the first stage that differs, the words of the prompt that changed, the
reason of another ranking. No model is called. RUN is the folder of a run, or a folder to look for runs in; chains are followed.
With --config, --policies, --snapshot, --profiles or --context-config the working tree's file takes the place of the recorded
one, so that the answer is what a change alters. With --store the start snapshot is taken by its id from the store that the run
was on, and the run's commit is held to the one that the store has: same commit id, same payload. What other runs have committed
does not matter.

Of an event stream of a gateway replay builds the context of every turn again from the events before it, under the context
configuration that is given, and compares it with the context that the decision stores. With the recorded configuration this
tests the recording; with another one it says what would change, turn by turn. No model and no policy is asked. STREAM is a
snapshot or a trail of the gateway, or - for standard input.

Of a debug package or a rolling log of LlamaBrain it runs the turns again that it can: those whose memory before is that of
the save file, or what the turns before made of it. The recorded output stands for the model, and dialogue, gate and
mutations are compared.`,
		Example: `  dmpl replay runs/
  dmpl replay runs/ --config pipeline.json
  dmpl replay runs/ --config pipeline.json --update
  dmpl replay runs/ --store sqlite:memory.db
  dmpl replay snapshot.json --context-config context.json
  dmpl replay trail.sqlite --context-config stricter.json
  dmpl replay snapshot.json --context-config context.json --mode ledger --db ledger.sqlite
  dmpl replay package.json --state before.llamasave`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case isRuns(args):
				return a.replayRuns(c.Context(), &o, distinct(args))
			case len(args) != 1:
				return usage("Run it once for each stream; several arguments are folders of native runs.",
					"%s takes one stream, and %d were given", c.CommandPath(), len(args))
			}
			return a.replay(&o, args[0])
		},
	}
	o.bind(c)
	c.Flags().StringVar(&o.config, "context-config", "", "context configuration (context.config.v1); required for a stream")
	addChoice(c, &o.mode, "mode", "what answers references: the events in memory, or queries to an SQLite file", modeStream, modeLedger)
	c.Flags().StringVar(&o.db, "db", "", "with --mode ledger: project the stream into this new SQLite file and keep it")
	c.Flags().IntVar(&o.until, "until", replay.All, "index of the last event to replay; -1 for all")
	o.overrides.bind(c)
	c.Flags().StringVar(&o.state, "state", "", "save file or persona snapshot that the turns of a debug package start from")
	addDocumentLimit(c, &o.limit)
	return c
}

// distinct gives each path once, as it is compared with those that are found: a shell completes a folder with a slash.
func distinct(args []string) []string {
	var paths []string
	for _, path := range args {
		if path = filepath.Clean(path); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func (a *App) replay(o *replayOptions, path string) error {
	if kind := a.auditKind(path, &artifactOptions{dialect: choice{value: dialectAuto}}); o.state != "" || kind != "" {
		return a.replayAudit(o, auditFile{path: path, kind: kind})
	}
	if _, err := os.Stat(path); err != nil && path != stdin {
		return dialect.Unreadable(path, err)
	}
	if err := fileOfRun(path); err != nil {
		return err
	}
	switch {
	case o.overrides.given():
		return usage("Name the folder of a run, or leave the flag out.", "%s is no folder of native runs, which --config, --policies, --snapshot, --profiles, --max-age and --update belong to", path)
	case o.config == "":
		return usage("Give the configuration of the gateway, context.json.", "--context-config is required")
	case o.db != "" && o.mode.value != modeLedger:
		return usage("Add --mode ledger.", "--db is for ledger replay")
	case o.until < replay.All:
		return usage("Give the index of an event.", "--until %d is no index", o.until)
	case o.config == stdin && path == stdin:
		return usage("Name one of them.", "the stream and its configuration cannot both be standard input")
	}
	result, err := a.replayStream(o, path)
	if err != nil {
		if result, err = troubled(path, true, err); err != nil {
			return err
		}
	}
	detach(&result)
	return a.emit(finding.Report{Command: "replay", Results: []finding.Result{result}}, o.reportOptions, path, o.config)
}

func (a *App) replayStream(o *replayOptions, path string) (finding.Result, error) {
	settings := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.format.value == formatJSON}
	config, err := readContextConfig(o.config, settings)
	if err != nil {
		return finding.Result{}, err
	}
	options := replay.Options{Config: config.Config, Unknown: config.unknown, Until: o.until}
	step, done := a.progressOfEvents("replay")
	defer done()
	step = a.boundedHeap(step)
	var stream *dblgateway.Stream
	var run *replay.Stream
	switch {
	case o.mode.value != modeLedger:
		stream, run, err = replayEvents(path, settings, options, step)
	case o.db == "" && dblgateway.IsTrail(a.head(path)):
		settings.Stdin = a.In // of which the head has been looked at
		stream, run, err = replayTrail(path, settings, options, step)
	default:
		settings.Stdin = a.In
		stream, run, err = replayLedger(path, o.db, settings, options, step)
	}
	if err != nil {
		return finding.Result{}, err
	}
	result := run.Result(stream.Whole, stream.Reason, stream.Shape...)
	result.Name, result.Inputs = path, append(stream.Inputs, config.input)
	for i := range result.Findings {
		result.Findings[i].Artifact = path
		if result.Findings[i].Code == finding.ReplayConfigDiffers {
			result.Name = path + " under another configuration" // X4: said first
		}
	}
	return result, stream.Close()
}

// replayEvents replays the events of a stream, references answered by the events themselves. It calls step for each event.
func replayEvents(path string, settings dialect.Options, o replay.Options, step func()) (*dblgateway.Stream, *replay.Stream, error) {
	run := replay.New(o)
	stream, err := dblgateway.Read(path, settings, func(e thread.Event) error {
		step()
		run.Event(e)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if err := run.Compare(stream.Payload); err != nil {
		return nil, nil, errors.Join(err, stream.Close())
	}
	return stream, run, nil
}
