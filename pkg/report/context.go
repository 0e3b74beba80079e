package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
)

// maxCell is the widest column of the table, in characters.
const maxCell = 48

// both is the side of a row that is the same left and right.
const both = "both"

// context draws the events around the root finding as a table: one row where both sides agree, two where not, and a
// mark at the event with index at.
func (p *printer) context(rows []finding.Row, at int) {
	if len(rows) == 0 {
		return
	}
	rows = merge(rows)
	table := [][]string{{"", "event", "side", "role", "decision", "tools", "digest"}}
	for _, r := range rows {
		mark := ""
		if r.Index == at {
			mark = ">"
		}
		table = append(table, []string{
			mark, strconv.Itoa(r.Index), r.Side, cell(r.Role), cell(r.Decision),
			cell(strings.Join(r.Tools, ", ")), cell(shortDigest(r.Digest)),
		})
	}
	widths := columns(table)
	p.line("")
	for i, cells := range table {
		line := "   "
		for c, s := range cells {
			if widths[c] > 0 {
				line += " " + s + strings.Repeat(" ", widths[c]-utf8.RuneCountInString(s)) + " "
			}
		}
		line = strings.TrimRight(line, " ")
		switch {
		case i == 0:
			line = p.faint(line)
		case rows[i-1].Side == "left":
			line = p.left(line)
		case rows[i-1].Side == "right":
			line = p.right(line)
		}
		p.line("%s", line)
	}
}

// merge puts the rows in order and makes one of two that say the same.
func merge(rows []finding.Row) []finding.Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b finding.Row) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Side, b.Side))
	})
	var out []finding.Row
	for _, r := range rows {
		if n := len(out); n > 0 && out[n-1].Side == "left" && r.Side == "right" && alike(out[n-1], r) {
			out[n-1].Side = both
			continue
		}
		out = append(out, r)
	}
	return out
}

func alike(a, b finding.Row) bool {
	return a.Index == b.Index && a.Role == b.Role && a.Decision == b.Decision && a.Digest == b.Digest && slices.Equal(a.Tools, b.Tools)
}

// columns gives the width of each column; 0 hides a column in which no row says anything.
func columns(table [][]string) []int {
	widths := make([]int, len(table[0]))
	for c := range widths {
		for _, cells := range table[1:] {
			widths[c] = max(widths[c], utf8.RuneCountInString(cells[c]))
		}
		if widths[c] > 0 {
			widths[c] = max(widths[c], utf8.RuneCountInString(table[0][c]))
		}
	}
	return widths
}

func cell(s string) string {
	s = Visible(s)
	if utf8.RuneCountInString(s) <= maxCell {
		return s
	}
	suffix := fmt.Sprintf("… (%d bytes)", len(s))
	return string([]rune(s)[:maxCell-utf8.RuneCountInString(suffix)]) + suffix
}

// shortDigest is enough of a digest to tell two apart by eye.
func shortDigest(d string) string {
	const enough = 12
	if len(d) <= enough {
		return d
	}
	return d[:enough]
}
