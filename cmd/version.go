package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what the toolchain wrote into the binary.
type build struct {
	Name     string `json:"name"`
	Version  string `json:"version"`            // "devel" where the build knows no version
	Commit   string `json:"commit,omitempty"`   // hex
	Modified bool   `json:"modified,omitempty"` // built from a tree with uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"` // os/architecture
}

func buildOf() build {
	b := build{Name: "dmpl", Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (a *App) versionCommand() *cobra.Command {
	var format choice
	c := &cobra.Command{
		Use:   "version [--format text|json]",
		Short: "Print what this binary was built from",
		Example: `  dmpl version
  dmpl version --format json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	addFormat(c, &format)
	c.RunE = func(*cobra.Command, []string) error {
		if err := buildOf().write(a.Out, format.value); err != nil {
			return outputError{err}
		}
		return nil
	}
	return c
}

func (b build) write(w io.Writer, format string) error {
	if format == formatJSON {
		return json.NewEncoder(w).Encode(b)
	}
	commit := ""
	if b.Commit != "" {
		commit = "commit " + b.Commit + ", "
	}
	if b.Modified {
		commit += "with uncommitted changes, "
	}
	_, err := fmt.Fprintf(w, "%s %s (%s%s, %s)\n", b.Name, b.Version, commit, b.Go, b.Platform)
	return err
}
