package cmd

import (
	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/thread"
)

// threadDigests are the digests of event streams. Each takes an object whose other members are ignored.
var threadDigests = []struct {
	name, short, input string
	stage              thread.Stage
}{
	{"context", "Print the digest of a turn's context", "context_spec and assembled_context", thread.DigestContext},
	{"decision", "Print the digest of a decision", "decision", thread.DigestDecision},
	{"event", "Print the digest of an event", "kind, correlation_id and payload", thread.DigestEvent},
	{"config", "Print the digest of a context configuration", "config", thread.DigestConfig},
}

func (a *App) threadDigestCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, d := range threadDigests {
		o := documentOptions{fault: answerFault}
		c := &cobra.Command{
			Use:   d.name + " [FILE|-]",
			Short: d.short,
			Long: d.name + ` takes a JSON object with the members ` + d.input + `; other members are ignored.
It prints {"digest":…,"canon_len":…} under the profile dbl, or {"error":{"code":…,"detail":…}}.`,
			Example: `  dmpl digest ` + d.name + ` ` + d.name + `.json
  dmpl digest ` + d.name + ` --jsonl < many.jsonl`,
			Args: fileArgument,
			RunE: func(_ *cobra.Command, args []string) error { return a.answer(fileOf(args), o, d.stage) },
		}
		o.bind(c)
		commands = append(commands, c)
	}
	return commands
}
