package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

// runbookFamilies are the layers whose codes an operator of stores and of determinism checks meets.
var runbookFamilies = []string{"store", "trace", "claim", "size", "digest", "run", "equiv", "stage", "replay"}

// firstColumn gives the codes in the first column of the page's tables.
func firstColumn(text string) (codes []string) {
	for line := range strings.Lines(text) {
		if cells := strings.SplitN(line, "|", 3); len(cells) == 3 && cells[0] == "" {
			for _, found := range regexp.MustCompile("`([a-z0-9_.]+)`").FindAllStringSubmatch(cells[1], -1) {
				codes = append(codes, found[1])
			}
		}
	}
	return codes
}

// Each code of these families stands in one row of the runbook, and the runbook has no code that does not exist.
func TestTheRunbookKnowsEveryCode(t *testing.T) {
	page := readText(t, filepath.Join("..", "docs", "runbook.md"))
	var want []string
	for _, e := range finding.Entries() {
		if family, _, _ := strings.Cut(string(e.Code), "."); slices.Contains(runbookFamilies, family) {
			want = append(want, string(e.Code))
		}
	}
	source, err := os.ReadFile(filepath.Join("..", "pkg", "memory", "buffer.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^\t(?:Code\w+|\w+ +AbortReason) += "(\w+)"$`).FindAllSubmatch(source, -1) {
		want = append(want, string(found[1]))
	}
	if len(want) < 120 {
		t.Fatalf("only %d codes were found", len(want))
	}
	got := firstColumn(page)
	slices.Sort(want)
	slices.Sort(got)
	for _, code := range want {
		if n := len(slices.DeleteFunc(slices.Clone(got), func(c string) bool { return c != code })); n != 1 {
			t.Errorf("%s stands in %d rows of the runbook, and one is due", code, n)
		}
	}
	for _, code := range got {
		if !slices.Contains(want, code) {
			t.Errorf("the runbook has the code %s, which does not exist", code)
		}
	}
	for _, found := range regexp.MustCompile("`((?:"+strings.Join(runbookFamilies, "|")+`)\.[a-z_]+)`+"`").FindAllStringSubmatch(page, -1) {
		if found[1] != "snapshot.json" && finding.Lookup(finding.Code(found[1])).Code == "" {
			t.Errorf("the runbook has the code %s, which does not exist", found[1])
		}
	}
}
