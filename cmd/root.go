package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

const rootLong = `dmpl proves or refutes that runs of an AI agent are deterministic, from their recorded traces.

Exit codes: 0 it holds; 1 divergent, or a check failed; 2 usage, unreadable or malformed input;
3 undecided; 130 interrupted.

Every flag can also be set by an environment variable (--max-bytes: DMPL_MAX_BYTES; lists are separated
by commas) or in dmpl.yaml in the working directory (max-bytes: 1000000). A flag beats the environment,
the environment beats the file. --update and --abort are taken from the command line alone.`

const rootExample = `  dmpl verify observability/         # is every trace complete, every digest right?
  dmpl diff monday/ tuesday/         # are two runs equivalent?
  dmpl replay snapshot.json --context-config context.json   # is every context what the events give?
  dmpl canon trace.json              # canonical bytes of a document
  dmpl digest canonical trace.json   # their SHA-256
  dmpl explain canon.duplicate_key   # what a reason code means and what to do`

// rootCommand builds the command tree anew: no state survives from one run to the next. Where the arguments begin with the
// name of a command, the tree has that one alone: to start is most of what a short command does.
func (a *App) rootCommand(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:                   "dmpl COMMAND [FLAGS]",
		Short:                 "Prove or refute that agent runs are deterministic",
		Long:                  rootLong,
		Example:               rootExample,
		DisableFlagsInUseLine: true,

		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          a.missingCommand,

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(a.In)
	root.SetErr(a.Err)
	root.SetHelpFunc(a.help)
	root.SetHelpCommand(a.helpCommand())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(helpHint(c), "%s", err) })
	a.color = choice{value: colorAuto, allowed: []string{colorAuto, colorAlways, colorNever}}
	root.PersistentFlags().Var(&a.color, "color", "colour in text output")
	completeWords(root, "color", a.color.allowed)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "print one line, and no progress")
	commands := a.commands()
	if i := slices.IndexFunc(commands, func(c command) bool { return len(args) > 0 && c.name == args[0] }); i >= 0 {
		commands = commands[i : i+1]
		root.CompletionOptions.DisableDefaultCmd = true
	}
	for _, c := range commands {
		built := c.build()
		a.prepare(built, c.run)
		root.AddCommand(built)
	}
	if len(commands) > 1 {
		root.InitDefaultCompletionCmd()
		if completion, _, err := root.Find([]string{"completion"}); err == nil {
			a.group(completion)
		}
	}
	return root
}

// command is a command that is built where it is needed.
type command struct {
	name  string
	build func() *cobra.Command
	run   func(do func() error) error // how what it does is run
}

// commands lists all commands. A new command is one line here.
func (a *App) commands() []command {
	// What ends at once is not watched for an interruption, for which nobody would wait.
	watched, atOnce := a.interruptible, func(do func() error) error { return do() }
	return []command{
		{"verify", a.verifyCommand, watched},
		{"diff", a.diffCommand, watched},
		{"run", a.runCommand, watched},
		{"replay", a.replayCommand, watched},
		{"runs", a.runsCommand, watched},
		{"store", a.storeCommand, watched},
		{"canon", a.canonCommand, watched},
		{"digest", a.digestCommand, watched},
		{"step", a.stepCommand, watched},
		{"explain", a.explainCommand, atOnce},
		{"version", a.versionCommand, atOnce},
	}
}

// prepare makes a command, or each of a group, read the environment and dmpl.yaml before it runs.
func (a *App) prepare(c *cobra.Command, run func(do func() error) error) {
	c.DisableFlagsInUseLine = true
	if c.HasSubCommands() {
		a.group(c)
		for _, sub := range c.Commands() {
			a.prepare(sub, run)
		}
		return
	}
	do := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := a.fillFlags(c); err != nil {
			return err
		}
		return run(func() error { return do(c, args) })
	}
}

// group makes a command that only holds others refuse to run.
func (a *App) group(c *cobra.Command) {
	c.Args, c.RunE = knownCommand, a.missingCommand
	c.SuggestionsMinimumDistance = 2
}

// knownCommand refuses what is left where a command's name was expected.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := c.CommandPath() + " --help lists the commands."
	if near := c.SuggestionsFor(args[0]); args[0] != "" && len(near) > 0 {
		hint = fmt.Sprintf("Did you mean %s?", strings.Join(near, " or "))
	}
	return usage(hint, "unknown command %q for %q", args[0], c.CommandPath())
}

// missingCommand keeps a script with an empty variable from passing: nothing was asked, so nothing holds.
func (a *App) missingCommand(c *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usage(helpHint(c), "%s needs a command: %s", c.CommandPath(), strings.Join(names, ", "))
}

// help writes to Out: asked for, it is the result.
func (a *App) help(c *cobra.Command, _ []string) {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	fmt.Fprintf(a.Out, "%s\n\n%s", text, c.UsageString())
}

func (a *App) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show how a command is used",
		RunE: func(c *cobra.Command, args []string) error {
			target, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if err := knownCommand(target, rest); err != nil {
				return err
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}
