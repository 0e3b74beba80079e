package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const docsDir = "../docs/cli"

// own lists the commands of dmpl, without help and without the group of completion scripts' members.
func own(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			continue
		}
		all = append(all, c)
		all = append(all, own(c)...)
	}
	return all
}

func pageName(c *cobra.Command) string {
	return strings.ReplaceAll(c.CommandPath(), " ", "-") + ".md"
}

// pages gives the content of docs/cli by file name.
func pages(root *cobra.Command) map[string][]byte {
	pages := map[string][]byte{}
	var index bytes.Buffer
	fmt.Fprintf(&index, "# The command line\n\nWritten from the commands themselves; do not edit.\n\n```text\n%s\n```\n\n", root.Long)
	fmt.Fprint(&index, "| command | what it does |\n|---|---|\n")
	for _, c := range own(root) {
		fmt.Fprintf(&index, "| [%s](%s) | %s |\n", c.CommandPath(), pageName(c), c.Short)
		pages[pageName(c)] = page(c)
	}
	fmt.Fprintf(&index, "\n## Examples\n\n```sh\n%s\n```\n\n## Flags of every command\n\n", dedent(root.Example))
	writeFlags(&index, root.PersistentFlags())
	pages["README.md"] = index.Bytes()
	return pages
}

func page(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", c.CommandPath(), c.Short)
	if !c.HasSubCommands() {
		fmt.Fprintf(&b, "```sh\n%s\n```\n", c.UseLine())
	}
	if c.Long != "" && c.Long != c.Short {
		fmt.Fprintf(&b, "\n```text\n%s\n```\n", strings.TrimSpace(c.Long))
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", dedent(c.Example))
	}
	if c.HasSubCommands() {
		fmt.Fprint(&b, "\n## Commands\n\n")
		for _, sub := range c.Commands() {
			fmt.Fprintf(&b, "- [%s](%s): %s\n", sub.CommandPath(), pageName(sub), sub.Short)
		}
	} else if c.LocalFlags().HasAvailableFlags() {
		fmt.Fprint(&b, "\n## Flags\n\n")
		writeFlags(&b, c.LocalFlags())
	}
	fmt.Fprint(&b, "\nSee also [all commands](README.md).\n")
	return b.Bytes()
}

// dedent takes off the two blanks that examples have in help.
func dedent(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}

func writeFlags(b *bytes.Buffer, flags *pflag.FlagSet) {
	fmt.Fprint(b, "| flag | default | meaning |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, usage := pflag.UnquoteUsage(f)
		if kind != "" {
			name += " " + kind
		}
		cell := strings.NewReplacer("|", `\|`)
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell.Replace(name), cell.Replace(f.DefValue), cell.Replace(usage))
	})
}

// TestCommandPages holds docs/cli to the commands; `make docs` writes it anew, and no build machine may.
func TestCommandPages(t *testing.T) {
	want := pages(newProcess(t).Tree())
	if os.Getenv("DMPL_UPDATE_GOLDEN") == "1" && os.Getenv("CI") == "" {
		writePages(t, want)
	}
	var stored []string
	entries, err := os.ReadDir(docsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		stored = append(stored, e.Name())
		if want[e.Name()] == nil {
			t.Errorf("%s belongs to no command", e.Name())
		}
	}
	for name, text := range want {
		if !slices.Contains(stored, name) {
			t.Errorf("%s is missing: `make docs` writes it", name)
			continue
		}
		got, err := os.ReadFile(filepath.Join(docsDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, text) {
			t.Errorf("%s is stale: `make docs` writes it", name)
		}
	}
}

func writePages(t *testing.T, pages map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(docsDir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(docsDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(docsDir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// promisedFlags are the commands that may have more than eight own flags: each file of a run that they take from elsewhere
// has a flag of its own name, and a run on a store names the store and who may write there (M2).
var promisedFlags = map[string]int{"dmpl replay": 14, "dmpl run": 18}

func TestCommandsAreKind(t *testing.T) {
	reportFlags := []string{"format", "no-fail", "allow-undecided"}
	for _, c := range own(newProcess(t).Tree()) {
		if strings.HasPrefix(c.CommandPath(), "dmpl completion") {
			continue // cobra's own
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		var flags []string
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !slices.Contains(reportFlags, f.Name) {
				flags = append(flags, f.Name)
			}
			if f.Usage == "" {
				t.Errorf("%s --%s has no help", c.CommandPath(), f.Name)
			}
		})
		if most := max(8, promisedFlags[c.CommandPath()]); len(flags) > most {
			t.Errorf("%s has %d own flags, more than %d: %s", c.CommandPath(), len(flags), most, flags)
		}
	}
}
