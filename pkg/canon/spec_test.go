package canon_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/dmpl/dmpl/pkg/canon"
)

func spec(t *testing.T) string {
	return string(read(t, filepath.Join("..", "..", "docs", "spec", "canonical.md")))
}

// specRows gives the rows of three cells in the specification's tables, without the marks of code.
func specRows(t *testing.T) [][]string {
	var rows [][]string
	for line := range strings.Lines(spec(t)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "| ") {
			continue
		}
		cells[0], cells[2] = strings.TrimPrefix(cells[0], "| "), strings.TrimSuffix(cells[2], " |")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], "`")
		}
		rows = append(rows, cells)
	}
	return rows
}

func TestTheSpecificationsExamplesHold(t *testing.T) {
	examples := 0
	for _, row := range specRows(t) {
		profile, err := canon.ParseProfile(row[0])
		if err != nil {
			continue // a row of another table
		}
		examples++
		out, err := canon.Append(nil, []byte(row[1]), profile)
		got := string(out)
		if err != nil {
			got = codeOf(t, err)
		}
		if got != row[2] {
			t.Errorf("%s of %s: %s, documented as %s", profile, row[1], got, row[2])
		}
	}
	if examples < 20 {
		t.Errorf("only %d examples found", examples)
	}
}

func TestTheSpecificationNamesTheUnicodeVersion(t *testing.T) {
	if !strings.Contains(spec(t), "The Unicode version is "+norm.Version+",") {
		t.Errorf("the tables are of Unicode %s; docs/spec/canonical.md says otherwise", norm.Version)
	}
}
