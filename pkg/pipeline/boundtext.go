package pipeline

import "strings"

// ContextLines gives the lines of the context section: facts, world state, episodes, beliefs (llamabrain.md §4).
func (s Snapshot) ContextLines() []string {
	var lines []string
	lines = append(lines, marked("[Fact] ", s.Facts)...)
	lines = append(lines, marked("[State] ", s.World)...)
	lines = append(lines, marked("[Memory] ", s.Episodes)...)
	return append(lines, s.Beliefs...)
}

func marked(mark string, items []string) []string {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = mark + item
	}
	return lines
}

// FormattedContext gives the text of the context section (llamabrain.md §4).
func (s Snapshot) FormattedContext() string { return strings.Join(s.ContextLines(), "\n") }

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
