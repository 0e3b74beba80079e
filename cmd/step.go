package cmd

import (
	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/thread"
)

func (a *App) stepCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "step",
		Short: "Run one stage alone, on the input that is given",
		Example: `  dmpl step resolve-refs refs.json
  dmpl step build-context turn.json`,
	}
	c.AddCommand(a.resolveRefsCommand(), a.buildContextCommand())
	for _, s := range stages {
		c.AddCommand(a.stageCommand(s))
	}
	return c
}

type stepOptions struct {
	profile choice
	documentOptions
}

func (o *stepOptions) bind(c *cobra.Command) {
	addChoice(c, &o.profile, "profile", "whose rules resolve references", "gateway", "seed")
	o.fault = answerFault
	o.documentOptions.bind(c)
}

func (a *App) resolveRefsCommand() *cobra.Command {
	var o stepOptions
	c := &cobra.Command{
		Use:   "resolve-refs [--profile P] [FILE|-]",
		Short: "Resolve the references of a turn",
		Long: `resolve-refs takes a JSON object with declared_refs, thread_id, intent_type, config and thread_events.
It prints resolved_refs, normative_refs, normative_input_digests and warnings, or {"error":{"code":…,"detail":…}}.
A refusal (REF_NOT_FOUND, CROSS_THREAD_REF, MAX_REFS_EXCEEDED, EMPTY_REFS_DENIED) makes the exit code 1.`,
		Example: `  dmpl step resolve-refs refs.json
  dmpl step resolve-refs --profile seed --jsonl < many.jsonl`,
		Args: fileArgument,
		RunE: func(_ *cobra.Command, args []string) error { return a.step(o, fileOf(args), thread.ResolveRefs) },
	}
	o.bind(c)
	return c
}

func (a *App) buildContextCommand() *cobra.Command {
	var o stepOptions
	c := &cobra.Command{
		Use:   "build-context [--profile P] [FILE|-]",
		Short: "Assemble the context of a turn",
		Long: `build-context takes a JSON object with payload (of the INTENT), intent_type, config and thread_events.
It prints context_spec, assembled_context, context_digest and transforms, or {"error":{"code":…,"detail":…}}.
A refusal of its references makes the exit code 1.`,
		Example: `  dmpl step build-context turn.json
  dmpl step build-context --profile seed --jsonl < many.jsonl`,
		Args: fileArgument,
		RunE: func(_ *cobra.Command, args []string) error { return a.step(o, fileOf(args), thread.BuildContext) },
	}
	o.bind(c)
	return c
}

func (a *App) step(o stepOptions, path string, stage func(thread.Profile) thread.Stage) error {
	profile, err := thread.ParseProfile(o.profile.value)
	if err != nil {
		return err
	}
	return a.answer(path, o.documentOptions, stage(profile))
}
