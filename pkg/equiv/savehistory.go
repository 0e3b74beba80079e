package equiv

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
)

// histories compares what was said to each persona, line by line, and what the game keeps beside the memories.
func (c *saveComparer) histories(left, right *Save) {
	for _, p := range pairUp(pointers(left.Histories), pointers(right.Histories), func(h *audit.History) string { return h.Key }) {
		switch {
		case p.right == nil:
			c.alone(finding.SaveDiffHistory, historyPointer(p.left), "", "the right side has no such conversation")
		case p.left == nil:
			c.alone(finding.SaveDiffHistory, "", historyPointer(p.right), "the left side has no such conversation")
		default:
			c.history(p.left, p.right)
		}
	}
	c.metadata(left.Metadata, right.Metadata)
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func historyPointer(h *audit.History) string {
	return canon.AppendToken("/ConversationHistories", h.Key)
}

// history compares two conversations up to the first line that differs; what follows is shifted by it.
func (c *saveComparer) history(left, right *audit.History) {
	pointer := historyPointer(left)
	at := place{index: finding.NoEvent, subject: "persona " + left.Key, leftPointer: pointer, rightPointer: pointer}
	c.value(finding.SaveDiffHistory, at.member("PersonaId"), quoteText(left.PersonaID), quoteText(right.PersonaID), "PersonaId")
	for i := range min(len(left.Entries), len(right.Entries)) {
		l, r := left.Entries[i], right.Entries[i]
		if l.Speaker != r.Speaker || l.Text != r.Text {
			line := fmt.Sprintf("/Entries/%d", i)
			c.value(finding.SaveDiffHistory, at.below(line, line), quoteText(l.Speaker+": "+l.Text), quoteText(r.Speaker+": "+r.Text), "a line")
			return
		}
	}
	c.value(finding.SaveDiffHistory, at.member("Entries"), count(len(left.Entries)), count(len(right.Entries)), "the number of lines")
}

func (c *saveComparer) metadata(left, right []audit.Named) {
	for _, p := range pairUp(pointers(left), pointers(right), func(n *audit.Named) string { return n.Name }) {
		var l, r []byte
		name := ""
		if p.left != nil {
			l, name = quoteText(p.left.Value), p.left.Name
		}
		if p.right != nil {
			r, name = quoteText(p.right.Value), p.right.Name
		}
		pointer := canon.AppendToken("/Metadata", name)
		c.value(finding.SaveDiffHistory, place{index: finding.NoEvent, leftPointer: pointer, rightPointer: pointer}, l, r, "the metadata "+name)
	}
}
