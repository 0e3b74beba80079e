package pipeline

import "strings"

// context gives the lines of the context section: facts, world state, episodes, beliefs (llamabrain.md §4).
func (s *Snapshot) context(separator string) string {
	sections := [...]struct {
		mark  string
		items []string
	}{{"[Fact] ", s.Facts}, {"[State] ", s.World}, {"[Memory] ", s.Episodes}, {"", s.Beliefs}}
	size, lines := 0, 0
	for _, section := range sections {
		for _, item := range section.items {
			size += len(section.mark) + len(item) + len(separator)
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, section := range sections {
		for _, item := range section.items {
			if lines++; lines > 1 {
				b.WriteString(separator)
			}
			b.WriteString(section.mark)
			b.WriteString(item)
		}
	}
	return b.String()
}

func marked(mark string, items []string) []string {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = mark + item
	}
	return lines
}

// FormattedContext gives the text of the context section (llamabrain.md §4).
func (s Snapshot) FormattedContext() string { return s.context("\n") }

// FormattedDialogue gives the text of the dialogue section (llamabrain.md §4).
func (s Snapshot) FormattedDialogue() string { return strings.Join(s.Dialogue, "\n") }

// FormattedExamples gives the text of the examples section (llamabrain.md §4).
func (m WorkingMemory) FormattedExamples(npc string) string {
	var lines []string
	for _, e := range m.Examples {
		lines = append(lines, "Player: "+e.Player, npc+": "+e.NPC)
	}
	return strings.Join(lines, "\n")
}
