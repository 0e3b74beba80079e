package verify

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

// SaveSource is a save file, or a persona snapshot that stands alone.
type SaveSource struct {
	audit.Save
	Alone     bool // the one persona is the whole document
	Shape     []finding.Finding
	Malformed bool
}

// Save checks the memories of a save file (llamabrain.md §10): no hash stands in one, so all there is are rules that the
// entries keep with each other.
func Save(s SaveSource, o AuditOptions) finding.Result {
	c := saveChecker{tallies: tallies{o: o}}
	if c.begin(s.Shape, s.Malformed) {
		for i := range s.Personas {
			p := &s.Personas[i]
			at := ""
			if !s.Alone {
				at = canon.AppendToken("/PersonaMemories", p.Key)
				c.owner(p.Key, p.State.PersonaID, at)
			}
			c.persona(p.State, at)
		}
		for _, h := range s.Histories {
			c.owner(h.Key, h.PersonaID, canon.AppendToken("/ConversationHistories", h.Key))
		}
	}
	c.tally("V5.state_hash", finding.NotApplicable, "a save file states no hash")
	return c.end(finding.Ignored{What: "every value of a save file", Reason: "no hash covers it"})
}

type saveChecker struct{ tallies }

// entryAt is an entry of any kind, and where it stands.
type entryAt struct {
	memory.Entry
	list    string
	pointer string
}

// lists gives the entries of a state list by list, in stored order.
func lists(s memory.State, at string) [][]entryAt {
	all := make([][]entryAt, 4)
	add := func(i int, list string, e memory.Entry) {
		all[i] = append(all[i], entryAt{e, list, fmt.Sprintf("%s/%s/%d", at, list, len(all[i]))})
	}
	for _, e := range s.Facts {
		add(0, "CanonicalFacts", e.Entry)
	}
	for _, e := range s.World {
		add(1, "WorldState", e.Entry)
	}
	for _, e := range s.Episodes {
		add(2, "EpisodicMemories", e.Entry)
	}
	for _, e := range s.Beliefs {
		add(3, "Beliefs", e.Entry)
	}
	return all
}

// leastSource is who may write each kind (M10, llamabrain.md §1).
var leastSource = map[string]memory.Source{
	"CanonicalFacts": memory.Designer, "WorldState": memory.GameSystem, "EpisodicMemories": memory.ValidatedOutput, "Beliefs": memory.ValidatedOutput,
}

func (c *saveChecker) persona(s memory.State, at string) {
	c.nextSequence(s, at)
	seen := map[int64]string{}
	for _, list := range lists(s, at) {
		c.order(list)
		for _, e := range list {
			c.sequence(e, seen)
			c.authority(e)
		}
	}
	c.repeated(s, at)
	c.strengths(s, at)
	c.types(s, at)
}

// M9: the next sequence number is greater than every one that is there.
func (c *saveChecker) nextSequence(s memory.State, at string) {
	if !s.Behind() {
		c.tally("M9.next_sequence", finding.Passed, "")
		return
	}
	f := c.found(finding.SaveNextSequence, finding.NoEvent, at+"/NextSequenceNumber",
		"the next number is not greater than %d, which is in use", s.Highest())
	f.Expected, f.Actual = wholeValue(s.Highest()+1), wholeValue(s.NextSequence)
	c.tally("M9.next_sequence", finding.Failed, "")
}

// llamabrain.md §10: each list is saved by sequence number. Loading sorts it again, so another order is a note, as in a trace (V2).
func (c *saveChecker) order(list []entryAt) {
	for i := 1; i < len(list); i++ {
		if list[i].Sequence < list[i-1].Sequence {
			c.found(finding.SaveOrder, finding.NoEvent, list[i].pointer, "%s are not in the order of their sequence numbers", list[i].list)
			break
		}
	}
	c.tally("V1.order", finding.Passed, "")
}

// M9: each number once. LlamaBrain can give one twice, to a belief that came with its own.
func (c *saveChecker) sequence(e entryAt, seen map[int64]string) {
	if first, again := seen[e.Sequence]; again {
		c.found(finding.SaveSequenceTwice, finding.NoEvent, e.pointer+"/SequenceNumber", "sequence number %d is also that of %s", e.Sequence, first)
	} else {
		seen[e.Sequence] = e.pointer
	}
	c.tally("M9.sequence", finding.Passed, "")
}

// M10: who may write what.
func (c *saveChecker) authority(e entryAt) {
	if least := leastSource[e.list]; e.Source < least {
		f := c.found(finding.SaveAuthority, finding.NoEvent, e.pointer+"/Source", "a source of authority %d cannot have written %s", e.Source, e.list)
		f.Expected, f.Actual = wholeValue(int64(least)), wholeValue(int64(e.Source))
		c.tally("M10.authority", finding.Failed, "")
		return
	}
	c.tally("M10.authority", finding.Passed, "")
}

// llamabrain.md §1: fact ids that repeat are an error; of other keys the last one counts.
func (c *saveChecker) repeated(s memory.State, at string) {
	repeats(&c.tallies, "M10.fact_id", finding.SaveFactTwice, finding.Failed, at+"/CanonicalFacts", "Id", s.Facts, func(e memory.Fact) string { return e.ID })
	repeats(&c.tallies, "M9.key", finding.SaveKeyTwice, finding.Passed, at+"/WorldState", "Key", s.World, func(e memory.WorldState) string { return e.Key })
	repeats(&c.tallies, "M9.key", finding.SaveKeyTwice, finding.Passed, at+"/Beliefs", "Key", s.Beliefs, func(e memory.Belief) string { return e.Key })
}

func repeats[T any](t *tallies, id string, code finding.Code, status finding.Status, at, member string, list []T, key func(T) string) {
	seen := map[string]int{}
	for i, e := range list {
		if first, again := seen[key(e)]; again {
			t.found(code, finding.NoEvent, fmt.Sprintf("%s/%d/%s", at, i, member), "the key is also that of entry %d", first).Actual = textValue(key(e))
			t.tally(id, status, "")
			continue
		}
		seen[key(e)] = i
		t.tally(id, finding.Passed, "")
	}
}

// llamabrain.md §10: an episode without strength is not saved.
func (c *saveChecker) strengths(s memory.State, at string) {
	for i, e := range s.Episodes {
		if e.Strength <= 0 {
			c.found(finding.SaveNoStrength, finding.NoEvent, fmt.Sprintf("%s/EpisodicMemories/%d/Strength", at, i), "the episode has no strength left")
			c.tally("V1.strength", finding.Failed, "")
			continue
		}
		c.tally("V1.strength", finding.Passed, "")
	}
}

// V1: closed enumerations.
func (c *saveChecker) types(s memory.State, at string) {
	for i, e := range s.Episodes {
		c.closed(int(e.Type), int(memory.LocationEntry), fmt.Sprintf("%s/EpisodicMemories/%d/EpisodeType", at, i))
	}
	for i, b := range s.Beliefs {
		c.closed(int(b.Type), int(memory.Preference), fmt.Sprintf("%s/Beliefs/%d/BeliefType", at, i))
	}
}

func (c *saveChecker) closed(value, last int, at string) {
	if value >= 0 && value <= last {
		c.tally("V1.enumerations", finding.Passed, "")
		return
	}
	c.found(finding.ShapeValue, finding.NoEvent, at, "no kind has this number").Actual = numberValue(value)
	c.tally("V1.enumerations", finding.Failed, "")
}

// owner holds the key that a persona is kept by to the id that it states.
func (c *saveChecker) owner(key, stated, at string) {
	if key == stated {
		c.tally("V1.persona_id", finding.Passed, "")
		return
	}
	f := c.found(finding.SavePersonaID, finding.NoEvent, at+"/PersonaId", "the file keeps the persona under another id")
	f.Expected, f.Actual = textValue(key), textValue(stated)
	c.tally("V1.persona_id", finding.Failed, "")
}
