package cmd

import (
	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
)

type digestOptions struct {
	profile choice
	documentOptions
}

func (a *App) digestCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "digest",
		Short: "Print the SHA-256 of a JSON document in canonical form",
		Example: `  dmpl digest canonical trace.json
  dmpl digest output-shape structure.json`,
	}
	c.AddCommand(a.canonicalDigestCommand(), a.shapeDigestCommand(), a.policySetDigestCommand())
	c.AddCommand(a.threadDigestCommands()...)
	return c
}

func (a *App) canonicalDigestCommand() *cobra.Command {
	var o digestOptions
	c := &cobra.Command{
		Use:   "canonical [--profile P] [FILE|-]",
		Short: "Print the digest of a document's canonical bytes",
		Long: `canonical prints the SHA-256 of the canonical bytes of a JSON document, as 64 hex digits.
Gzip is recognised; what it holds is the document.`,
		Example: `  dmpl digest canonical trace.json
  dmpl digest canonical --profile py-sorted result.json
  dmpl digest canonical --jsonl < events.jsonl`,
		Args: fileArgument,
		RunE: func(_ *cobra.Command, args []string) error { return a.digest(o, fileOf(args)) },
	}
	addProfile(c, &o.profile)
	o.bind(c)
	return c
}

// shapeDigestCommand hashes the structure as it is given, without judging it (CONTRACT D3).
func (a *App) shapeDigestCommand() *cobra.Command {
	o := digestOptions{profile: choice{value: canon.JSONv1.String()}}
	c := &cobra.Command{
		Use:   "output-shape [FILE|-]",
		Short: "Print the output_shape_hash of a structure",
		Long: `output-shape prints the SHA-256 of an output structure under json-v1, as 64 hex digits.
The structure is hashed as it is; whether it describes an output well is not judged.`,
		Example: `  echo '{"type":"text","sections":["intro","body"]}' | dmpl digest output-shape
  dmpl digest output-shape structure.json`,
		Args: fileArgument,
		RunE: func(_ *cobra.Command, args []string) error { return a.digest(o, fileOf(args)) },
	}
	o.bind(c)
	return c
}

func (a *App) digest(o digestOptions, path string) error {
	profile, err := canon.ParseProfile(o.profile.value)
	if err != nil {
		return err
	}
	return a.documents(path, o.documentOptions, func(dst, document []byte) ([]byte, error) {
		sum, err := canon.Digest(profile, document)
		if err != nil {
			return dst, err
		}
		dst = append(dst, sum.Hex()...)
		if !o.jsonl {
			dst = append(dst, '\n') // a line of its own, as with --jsonl
		}
		return dst, nil
	})
}
