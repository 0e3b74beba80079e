package cmd

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/report"
)

func (a *App) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Explain a reason code: meaning, usual causes, what to do",
		Long: `explain tells what a reason code means, what usually causes it and what to do about it.
The part after the dot is enough where only one code has it. Without a code it lists all codes. Codes that dmpl step and
dmpl digest answer with are explained too.`,
		Example: `  dmpl explain
  dmpl explain REF_NOT_FOUND
  dmpl explain equiv.arguments
  dmpl explain duplicate_key`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(helpHint(c), "%s takes one code, and %d were given", c.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: completeCode,
		RunE:              func(_ *cobra.Command, args []string) error { return a.explain(args) },
	}
}

func (a *App) explain(args []string) error {
	out := bufio.NewWriter(a.Out)
	if len(args) == 0 {
		listCodes(out)
	} else if answer, ok := answerNamed(args[0]); ok {
		if err := report.ExplainAnswer(out, answer, a.colored()); err != nil {
			return outputError{err}
		}
	} else {
		entry, err := entryNamed(args[0])
		if err != nil {
			return err
		}
		if err := report.Explain(out, entry, a.colored()); err != nil {
			return outputError{err}
		}
	}
	if err := out.Flush(); err != nil {
		return outputError{err}
	}
	return nil
}

func listCodes(out io.Writer) {
	width := 0
	for _, e := range finding.Entries() {
		width = max(width, len(e.Code))
	}
	for _, e := range finding.Entries() {
		fmt.Fprintf(out, "%-*s  %s\n", width, e.Code, e.Title)
	}
	for _, a := range finding.Answers() {
		fmt.Fprintf(out, "%-*s  %s\n", width, a.Code, a.Title)
	}
}

// answerNamed finds a code that steps and digests answer with, by its whole name.
func answerNamed(name string) (finding.Answer, bool) {
	for _, a := range finding.Answers() {
		if string(a.Code) == name {
			return a, true
		}
	}
	return finding.Answer{}, false
}

// entryNamed finds a code by its whole name, or by the part after the dot where only one code has it.
func entryNamed(name string) (finding.Entry, error) {
	var found []finding.Entry
	for _, e := range finding.Entries() {
		if string(e.Code) == name {
			return e, nil
		}
		if _, problem, _ := strings.Cut(string(e.Code), "."); problem == name {
			found = append(found, e)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		return finding.Entry{}, usage("Did you mean "+codeList(found)+"?", "%d reason codes end in %q", len(found), name)
	}
	return finding.Entry{}, usage("Did you mean "+codeList(nearestCodes(name, 3))+"?", "there is no reason code %q", name)
}

func codeList(entries []finding.Entry) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = string(e.Code)
	}
	return strings.Join(names, " or ")
}

// nearestCodes gives the n codes that take the fewest changes of a letter to become the name; a code that holds the
// name comes first.
func nearestCodes(name string, n int) []finding.Entry {
	entries := slices.Clone(finding.Entries())
	distance := make(map[finding.Code]int, len(entries))
	for _, e := range entries {
		_, problem, _ := strings.Cut(string(e.Code), ".")
		distance[e.Code] = min(editDistance(name, string(e.Code)), editDistance(name, problem)+1)
		if name != "" && strings.Contains(string(e.Code), name) {
			distance[e.Code] = 0
		}
	}
	slices.SortStableFunc(entries, func(x, y finding.Entry) int { return distance[x.Code] - distance[y.Code] })
	return entries[:min(n, len(entries))]
}

// editDistance counts the bytes to insert, delete or replace (Levenshtein); an overlong name is far from all.
func editDistance(a, b string) int {
	const longest = 100
	if len(a) > longest {
		return longest
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func completeCode(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var codes []string
	for _, e := range finding.Entries() {
		codes = append(codes, cobra.CompletionWithDesc(string(e.Code), e.Title))
	}
	for _, a := range finding.Answers() {
		codes = append(codes, cobra.CompletionWithDesc(string(a.Code), a.Title))
	}
	return codes, cobra.ShellCompDirectiveNoFileComp
}
