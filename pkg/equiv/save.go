package equiv

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

// Save is one of two save files or persona snapshots, with what verify found in it.
type Save struct {
	audit.Save
	Path      string
	Alone     bool // the one persona is the whole document
	Malformed bool
	Findings  []finding.Finding
}

// CompareSaves gives the result of comparing the memories of two save files entry by entry: facts by id, world state and
// beliefs by key, episodes by id or else by sequence number. The result has no name and no inputs yet; o.Profiles and
// o.Timeline are not used.
func CompareSaves(left, right *Save, o Options) finding.Result {
	c := &saveComparer{fileComparer: fileComparer{left: left.Path, right: right.Path}}
	c.takeOver("E1.left", left.Findings)
	c.takeOver("E1.right", right.Findings)
	if left.Malformed || right.Malformed {
		c.tally("E12", finding.NotChecked, "a member of a side has the wrong type")
	} else {
		c.personas(left, right)
		c.histories(left, right)
	}
	c.result.Ignored = append(
		c.result.Ignored,
		finding.Ignored{What: "SavedAtUtcTicks, ModifiedAtTicks, TimestampTicks", Reason: "taken from the wall clock"},
		finding.Ignored{What: "members that the format does not name", Reason: "the producer leaves them out"},
	)
	c.conclude(o)
	return c.result
}

type saveComparer struct{ fileComparer }

// personaAt is a persona and where it stands.
type personaAt struct {
	*audit.Persona
	pointer string
}

func personasOf(s *Save) []*personaAt {
	var list []*personaAt
	for i := range s.Personas {
		p := &personaAt{Persona: &s.Personas[i]}
		if !s.Alone {
			p.pointer = canon.AppendToken("/PersonaMemories", p.Key)
		}
		list = append(list, p)
	}
	return list
}

func (c *saveComparer) personas(left, right *Save) {
	for _, p := range pairUp(personasOf(left), personasOf(right), func(p *personaAt) string { return p.Key }) {
		switch {
		case p.right == nil:
			c.alone(finding.SaveDiffPersona, p.left.pointer, "", "the right side has no such persona")
		case p.left == nil:
			c.alone(finding.SaveDiffPersona, "", p.right.pointer, "the left side has no such persona")
		default:
			c.persona(p.left, p.right)
		}
	}
}

func (c *saveComparer) alone(code finding.Code, left, right, detail string) {
	c.differ(code, place{index: finding.NoEvent, leftPointer: left, rightPointer: right}, nil, nil, detail)
	c.tally("E12", finding.Failed, "")
}

func (c *saveComparer) persona(left, right *personaAt) {
	at := place{index: finding.NoEvent, subject: "persona " + left.Key, leftPointer: left.pointer, rightPointer: right.pointer}
	for _, n := range []struct {
		name        string
		left, right int64
	}{
		{"NextSequenceNumber", left.State.NextSequence, right.State.NextSequence},
		{"InteractionCount", left.State.InteractionCount, right.State.InteractionCount},
	} {
		c.value(finding.SaveDiffCounter, at.member(n.name), strconv.AppendInt(nil, n.left, 10), strconv.AppendInt(nil, n.right, 10), n.name)
	}
	c.value(finding.SaveDiffPersona, at.member("PersonaId"), quoteText(left.State.PersonaID), quoteText(right.State.PersonaID), "PersonaId")
	a, b := entries(left), entries(right)
	for i := range a {
		c.list(at, a[i], b[i], keysOf[i])
	}
	c.hashes(at, left.State.Hash(), right.State.Hash())
}

// hashes shows the state hashes of both sides (llamabrain.md §1). They cover less than is compared.
func (c *saveComparer) hashes(at place, left, right string) {
	if left == right {
		c.tally("E12.state_hash", finding.Passed, "both sides have "+left)
		return
	}
	c.differ(finding.SaveDiffHash, at, quoteText(left), quoteText(right), "the state hashes differ")
	c.tally("E12.state_hash", finding.NotChecked, "it covers ids and times; the entries are compared")
}

// value compares one value of both sides.
func (c *saveComparer) value(code finding.Code, at place, left, right []byte, name string) {
	if bytes.Equal(left, right) {
		c.tally("E12", finding.Passed, "")
		return
	}
	c.differ(code, at, left, right, name+" differs")
	if finding.Lookup(code).Severity == finding.Error {
		c.tally("E12", finding.Failed, "")
	}
}

// entryValue is one memory of any kind as its writer writes it.
type entryValue struct {
	canon.Value
	pointer string
}

func (e *entryValue) raw(name string) string {
	v, _ := e.Get(name)
	return string(v.Raw())
}

func byMember(name string) func(*entryValue) string {
	return func(e *entryValue) string { return e.raw(name) }
}

// keysOf says what names an entry in each list of entries.
var keysOf = [][]func(*entryValue) string{
	{byMember("Id")}, {byMember("Key")}, {byMember("Id"), byMember("SequenceNumber")}, {byMember("Key")},
}

// entries gives the memories of a persona, list by list in stored order.
func entries(p *personaAt) [4][]*entryValue {
	var all [4][]*entryValue
	s := p.State
	for i := range s.Facts {
		all[0] = append(all[0], written(p, "CanonicalFacts", i, memory.State{Facts: s.Facts[i : i+1]}))
	}
	for i := range s.World {
		all[1] = append(all[1], written(p, "WorldState", i, memory.State{World: s.World[i : i+1]}))
	}
	for i := range s.Episodes {
		all[2] = append(all[2], written(p, "EpisodicMemories", i, memory.State{Episodes: s.Episodes[i : i+1]}))
	}
	for i := range s.Beliefs {
		all[3] = append(all[3], written(p, "Beliefs", i, memory.State{Beliefs: s.Beliefs[i : i+1]}))
	}
	return all
}

// written writes an entry alone and takes it apart again, so that every kind has its members by name and reals are
// compared as they are stored. dmpl-v1 writes an episode without strength too.
func written(p *personaAt, list string, i int, alone memory.State) *entryValue {
	w := document.NewWriter(document.Style{LlamaBrain: true})
	memory.WriteState(w, "", alone, memory.DMPLv1)
	v, err := canon.Parse(w.Bytes())
	if err != nil {
		panic("a memory that was read cannot be written: " + err.Error())
	}
	entry, _ := v.At("/" + list + "/0")
	return &entryValue{entry, fmt.Sprintf("%s/%s/%d", p.pointer, list, i)}
}

// list compares one kind of memory.
func (c *saveComparer) list(at place, left, right []*entryValue, keys []func(*entryValue) string) {
	for _, p := range pairUp(left, right, keys...) {
		switch {
		case p.right == nil:
			c.alone(finding.SaveDiffEntry, p.left.pointer, "", "the right side does not have this memory")
		case p.left == nil:
			c.alone(finding.SaveDiffEntry, "", p.right.pointer, "the left side does not have this memory")
		default:
			here := place{index: finding.NoEvent, subject: at.subject, leftPointer: p.left.pointer, rightPointer: p.right.pointer}
			c.entry(here, p.left, p.right)
		}
	}
}

// modifiedAt is taken from the wall clock (llamabrain.md §11).
const modifiedAt = "ModifiedAtTicks"

func (c *saveComparer) entry(at place, left, right *entryValue) {
	for _, m := range left.Members() {
		code := finding.SaveDiffMember
		if m.Name == modifiedAt {
			code = finding.SaveDiffClock
		}
		other, _ := right.Get(m.Name)
		c.value(code, at.member(m.Name), m.Value.Raw(), other.Raw(), m.Name)
	}
}
