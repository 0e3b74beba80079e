package pipeline

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// BoundConfig says how much of a snapshot a prompt may hold (llamabrain.md §4).
type BoundConfig struct {
	MaxDialogueExchanges int // of two lines each
	MaxEpisodes          int
	MaxBeliefs           int
	MaxCharacters        int64 // UTF-16 units, a soft limit: mandatory sections may exceed it
	AlwaysFacts          bool  // false leaves the section out
	AlwaysWorld          bool  // false leaves the section out
	Examples             []Example
	MaxExamples          int
	AlwaysExamples       bool // false: only where no dialogue is left
}

// Example is an exchange that shows the model how to answer.
type Example struct{ Player, NPC string }

// boundPresets are the named configurations (llamabrain.md §4).
var boundPresets = map[string]BoundConfig{
	"Default": {
		MaxDialogueExchanges: 5, MaxEpisodes: 5, MaxBeliefs: 3, MaxCharacters: 2000, AlwaysFacts: true, AlwaysWorld: true, MaxExamples: 3,
	},
	"Minimal": {
		MaxDialogueExchanges: 2, MaxEpisodes: 2, MaxBeliefs: 1, MaxCharacters: 1000, AlwaysFacts: true, AlwaysWorld: true, MaxExamples: 1,
	},
	"Expanded": {
		MaxDialogueExchanges: 10, MaxEpisodes: 10, MaxBeliefs: 5, MaxCharacters: 4000, AlwaysFacts: true, AlwaysWorld: true, MaxExamples: 5,
	},
}

// DefaultBoundConfig gives the configuration that holds where nothing is said.
func DefaultBoundConfig() BoundConfig { return boundPresets["Default"] }

// WorkingMemory is the bounded view of a snapshot that a prompt is made of.
type WorkingMemory struct {
	Snapshot     // the lists hold what is kept
	Examples     []Example
	Characters   int64     // the measure of what is kept, as the limit counts it
	Truncated    bool      // the character limit was exceeded, so something had to go
	ExceedsLimit bool      // what is kept still exceeds it (P2 a: the result says so)
	Dropped      []Dropped // what is not kept, in the order in which it went
}

// Dropped is a run of items that the bounds took out of a list of the snapshot.
type Dropped struct {
	Section  Section
	From, To int // positions in the snapshot's list, To not included
	Reason   DropReason
}

// Section names a list of the snapshot as its JSON form does.
type Section string

// The sections that bounds may shorten or leave out.
const (
	FactSection     Section = "canonicalFacts"
	WorldSection    Section = "worldState"
	EpisodeSection  Section = "episodicMemories"
	BeliefSection   Section = "beliefs"
	DialogueSection Section = "dialogueHistory"
)

// DropReason says which bound took an item.
type DropReason string

// The reasons.
const (
	LeftOut        DropReason = "section_left_out" // its Always flag is false
	OverCount      DropReason = "count_limit"
	OverCharacters DropReason = "character_limit"
)

// What an item costs besides its own length (llamabrain.md §4, rule 4).
const (
	factCost       = 10
	worldCost      = 10
	dialogueCost   = 2
	episodeCost    = 12
	beliefCost     = 2
	exampleCost    = 20
	constraintCost = 50
	referenceCost  = 2 // P2(a), (j): a line, as one of the dialogue
)

func cost(item string, extra int64) int64 { return int64(dotnet.Len(item)) + extra }

func costs(items []string, extra int64) int64 {
	var sum int64
	for _, item := range items {
		sum += cost(item, extra)
	}
	return sum
}

// mandatory measures what the character limit never cuts, examples not counted.
func (m *WorkingMemory) mandatory() int64 {
	return cost(m.SystemPrompt, 0) + cost(m.PlayerInput, 0) + costs(m.Facts, factCost) + costs(m.World, worldCost) +
		int64(len(m.Constraints))*constraintCost + costs(m.References, referenceCost)
}

// measure gives the characters of all that is kept (llamabrain.md §4, rule 4).
func (m *WorkingMemory) measure() int64 {
	total := m.mandatory() + costs(m.Dialogue, dialogueCost) + costs(m.Episodes, episodeCost) + costs(m.Beliefs, beliefCost)
	for _, e := range m.Examples {
		total += cost(e.Player, 0) + cost(e.NPC, exampleCost)
	}
	return total
}

// Bound keeps of a snapshot what a prompt may hold (llamabrain.md §4). Items go whole or stay whole. The versions differ
// in what goes when the character limit is exceeded (P2 a).
func Bound(s Snapshot, c BoundConfig, v Version) WorkingMemory {
	b := bounding{WorkingMemory: WorkingMemory{Snapshot: s}}
	if !c.AlwaysFacts {
		b.keep(FactSection, 0, 0, LeftOut)
	}
	if !c.AlwaysWorld {
		b.keep(WorldSection, 0, 0, LeftOut)
	}
	lines := len(s.Dialogue)
	b.keep(DialogueSection, lines-int(min(int64(lines), 2*int64(max(c.MaxDialogueExchanges, 0)))), lines, OverCount)
	b.keep(EpisodeSection, 0, min(len(s.Episodes), max(c.MaxEpisodes, 0)), OverCount)
	b.keep(BeliefSection, 0, min(len(s.Beliefs), max(c.MaxBeliefs, 0)), OverCount)
	if c.AlwaysExamples || len(b.Dialogue) == 0 {
		b.Examples = c.Examples[:min(len(c.Examples), max(c.MaxExamples, 0))]
	}
	b.Characters = b.measure()
	if b.Characters > c.MaxCharacters {
		b.Truncated = true
		if v == LlamaBrainV1 {
			b.cutByBudget(c.MaxCharacters)
		} else {
			b.cutOneByOne(c.MaxCharacters)
		}
		b.ExceedsLimit = b.Characters > c.MaxCharacters
	}
	return b.WorkingMemory
}

// bounding is a working memory while items go.
type bounding struct {
	WorkingMemory
	before [len(boundSections)]int // items that have gone before the first kept one, by section
}

var boundSections = [...]Section{FactSection, WorldSection, DialogueSection, EpisodeSection, BeliefSection}

// section gives the list of a section that is kept, and how many items before it have gone.
func (b *bounding) section(s Section) (list *[]string, before *int) {
	before = &b.before[slices.Index(boundSections[:], s)]
	switch s {
	case FactSection:
		return &b.Facts, before
	case WorldSection:
		return &b.World, before
	case DialogueSection:
		return &b.Dialogue, before
	case EpisodeSection:
		return &b.Episodes, before
	default:
		return &b.Beliefs, before
	}
}

// keep shortens a section to the kept items from up to but not including to, and notes what goes.
func (b *bounding) keep(s Section, from, to int, reason DropReason) {
	list, before := b.section(s)
	for _, gone := range [][2]int{{0, from}, {to, len(*list)}} {
		if gone[0] < gone[1] {
			b.Dropped = append(b.Dropped, Dropped{s, *before + gone[0], *before + gone[1], reason})
		}
	}
	*list = (*list)[from:to]
	*before += from
}

// cutByBudget is llamabrain-v1: dialogue, episodes and beliefs have fixed shares of what the mandatory sections leave, and
// each keeps its tail (llamabrain.md §4, rule 5). The best ranked items stand first, so they are the first to go.
func (b *bounding) cutByBudget(limit int64) {
	rest := limit - b.mandatory()
	for _, share := range []struct {
		of   Section
		part float64
	}{{DialogueSection, 0.6}, {EpisodeSection, 0.25}, {BeliefSection, 0.15}} {
		list, _ := b.section(share.of)
		from := len(*list)
		if rest > 0 {
			from = tail(*list, int64(float64(rest)*share.part))
		}
		b.keep(share.of, from, len(*list), OverCharacters)
	}
	if rest <= 0 {
		b.Characters = b.mandatory() // rule 5: the examples stay in the prompt and are not counted
		return
	}
	b.Characters = b.measure()
}

// tail gives the first of the last items that fit a budget; the first that does not fit ends the walk.
func tail(items []string, budget int64) int {
	const itemCost = 2
	from := len(items)
	for from > 0 {
		budget -= cost(items[from-1], itemCost)
		if budget < 0 {
			break
		}
		from--
	}
	return from
}

// cutOneByOne is dmpl-v1, P2(a): dialogue oldest first, then episodes and then beliefs lowest ranked first, until what is
// kept fits. Mandatory sections stay, so it may not fit in the end.
func (b *bounding) cutOneByOne(limit int64) {
	from := 0
	for ; from < len(b.Dialogue) && b.Characters > limit; from++ {
		b.Characters -= cost(b.Dialogue[from], dialogueCost)
	}
	b.keep(DialogueSection, from, len(b.Dialogue), OverCharacters)
	for _, ranked := range []struct {
		of    Section
		extra int64
	}{{EpisodeSection, episodeCost}, {BeliefSection, beliefCost}} {
		list, _ := b.section(ranked.of)
		to := len(*list)
		for ; to > 0 && b.Characters > limit; to-- {
			b.Characters -= cost((*list)[to-1], ranked.extra)
		}
		b.keep(ranked.of, 0, to, OverCharacters)
	}
}
