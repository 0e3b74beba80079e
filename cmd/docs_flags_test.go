package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// otherFlags are named in the documents and belong to other programs.
var otherFlags = []string{
	"prefix", // of brew, in the text that cobra writes about completion
}

var flagInText = regexp.MustCompile("(?:^|[\\s`(\\[])--([a-z][a-z-]+)")

// A document that names a flag names one that a command has.
func TestDocumentsNameFlagsThatExist(t *testing.T) {
	known := flagNames(newProcess(t).Tree())
	named := 0
	err := filepath.WalkDir(filepath.Join("..", "docs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range flagInText.FindAllSubmatch(text, -1) {
			named++
			if name := string(found[1]); !slices.Contains(known, name) && !slices.Contains(otherFlags, name) {
				t.Errorf("%s names --%s, and no command has it", path, name)
			}
		}
		return err
	})
	if err != nil || named < 50 {
		t.Fatalf("%d flags found, error %v", named, err)
	}
}

// flagNames lists the flags of all commands.
func flagNames(root *cobra.Command) []string {
	names := []string{"help"}
	for _, c := range append(own(root), root) {
		for _, set := range []*pflag.FlagSet{c.LocalFlags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		}
	}
	return names
}

// Every flag of verify and diff that changes a verdict, an exit code or what is compared is in the specification.
func TestSpecificationNamesTheFlags(t *testing.T) {
	var spec strings.Builder
	pages, err := filepath.Glob(filepath.Join("..", "docs", "spec", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	formats, err := filepath.Glob(filepath.Join("..", "docs", "formats", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, formats...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		spec.Write(text)
	}
	root := newProcess(t).Tree()
	for _, c := range root.Commands() {
		if c.Name() != "verify" && c.Name() != "diff" {
			continue
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(spec.String(), "--"+f.Name) {
				t.Errorf("%s --%s is in no page of the specification", c.Name(), f.Name)
			}
		})
	}
}
