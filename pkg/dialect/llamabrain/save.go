package llamabrain

import (
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

// Save is a save file, or a persona snapshot that stands alone, as it was read.
type Save struct {
	audit.Save
	Kind      string // KindSave or KindPersona
	Inputs    []finding.Input
	Shape     []finding.Finding
	Malformed bool // a member has a wrong type
}

// ReadSave reads a save file or a persona snapshot. A missing number is 0, and nulls are left out by the writer
// (llamabrain.md §10). An error is a [dialect.Problem].
func ReadSave(path, kind string, o dialect.Options) (*Save, error) {
	f, err := dialect.ReadFile(path, o.Stdin, o.Limit)
	if err != nil {
		return nil, err
	}
	v, err := canon.Parse(f.Data)
	if err != nil {
		return nil, syntax(path, err)
	}
	s := &Save{Kind: kind, Inputs: []finding.Input{f.Input(Name, kind, o.Digests)}}
	found := shape{path: path}
	root := document.Open(v)
	if kind == KindPersona {
		s.Version = audit.Version
		s.Personas = []audit.Persona{{State: memory.ReadState(root, memory.LlamaBrainV1)}}
		s.Personas[0].Key = s.Personas[0].State.PersonaID
	} else {
		s.Save = audit.ReadSave(root)
	}
	s.Malformed = found.refuse(root, place{index: finding.NoEvent})
	if s.Version != audit.Version {
		found.report(finding.ShapeVersion, place{finding.NoEvent, "/Version"},
			fmt.Sprintf("the file has version %d, and only version %d is known", s.Version, audit.Version))
	}
	found.unnamedIn(v, "", layouts[kind])
	s.Shape = found.found()
	return s, nil
}

// layout says which members an object has, and what they hold.
type layout struct {
	names   []string
	objects map[string]*layout // members that are objects, or lists of objects
	each    *layout            // what every member holds, where the names are data
}

func entryLayout(names ...string) *layout {
	return &layout{names: append(names, "Id", "Category", "CreatedAtTicks", "SequenceNumber", "Source")}
}

var personaLayout = &layout{
	names: []string{"PersonaId", "NextSequenceNumber", "InteractionCount"},
	objects: map[string]*layout{
		"CanonicalFacts":   entryLayout("Fact", "Domain", "ContradictionKeywords"),
		"WorldState":       entryLayout("Key", "Value", "ModifiedAtTicks", "ModificationCount"),
		"EpisodicMemories": entryLayout("Description", "EpisodeType", "Participant", "Significance", "Strength", "GameTime"),
		"Beliefs": entryLayout("Key", "Subject", "BeliefContent", "BeliefType", "Confidence", "Sentiment", "IsContradicted",
			"Evidence"),
	},
}

var layouts = map[string]*layout{
	KindPersona: personaLayout,
	KindSave: {
		names: []string{"Version", "SavedAtUtcTicks", "Metadata"},
		objects: map[string]*layout{
			"PersonaMemories": {each: personaLayout},
			"ConversationHistories": {each: &layout{
				names:   []string{"PersonaId"},
				objects: map[string]*layout{"Entries": {names: []string{"Speaker", "Text", "TimestampTicks"}}},
			}},
		},
	},
}

// unnamedIn notes the members that the format does not name (C1).
func (s *shape) unnamedIn(v canon.Value, pointer string, l *layout) {
	for i, e := range v.Elements() {
		s.unnamedIn(e, fmt.Sprintf("%s/%d", pointer, i), l)
	}
	for _, m := range v.Members() {
		at := canon.AppendToken(pointer, m.Name)
		switch {
		case l.each != nil:
			s.unnamedIn(m.Value, at, l.each)
		case l.objects[m.Name] != nil:
			s.unnamedIn(m.Value, at, l.objects[m.Name])
		case !slices.Contains(l.names, m.Name):
			s.tolerate(unnamed, place{finding.NoEvent, at})
		}
	}
}
