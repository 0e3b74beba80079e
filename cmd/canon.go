package cmd

import (
	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
)

type canonOptions struct {
	profile choice
	documentOptions
}

func (a *App) canonCommand() *cobra.Command {
	var o canonOptions
	c := &cobra.Command{
		Use:   "canon [--profile P] [FILE|-]",
		Short: "Print a JSON document in canonical form",
		Long: `canon prints the canonical bytes of a JSON document and nothing else, no line break either.
Gzip is recognised; what it holds is the document.`,
		Example: `  dmpl canon trace.json
  dmpl canon --profile jcs trace.json | sha256sum
  dmpl canon --jsonl < events.jsonl`,
		Args: fileArgument,
		RunE: func(_ *cobra.Command, args []string) error { return a.canon(o, fileOf(args)) },
	}
	addProfile(c, &o.profile)
	o.bind(c)
	return c
}

func (a *App) canon(o canonOptions, path string) error {
	profile, err := canon.ParseProfile(o.profile.value)
	if err != nil {
		return err
	}
	return a.documents(path, o.documentOptions, func(dst, document []byte) ([]byte, error) {
		return canon.Append(dst, document, profile)
	})
}
