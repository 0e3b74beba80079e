// Package llamabrain reads the debug packages, rolling logs, save files and persona snapshots of LlamaBrain
// (llamabrain.md §9, §10).
package llamabrain

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
)

// Name is the dialect's name.
const Name = "llamabrain"

// The kinds of input that this dialect reads.
const (
	KindPackage = "debug_package"
	KindLog     = "rolling_log"
	KindSave    = "save_file"
	KindPersona = "persona_snapshot"
)

// magic begins a compressed package; gzip follows (llamabrain.md §9).
const magic = "LBPK"

// signature is what tells a kind: so many of these members in the first object of the content.
type signature struct {
	kind   string
	enough int
	names  []string
}

var signatures = []signature{
	{KindPackage, 1, []string{"PackageId", "ModelFingerprint", "PackageIntegrityHash"}},
	{KindSave, 1, []string{"SavedAtUtcTicks", "PersonaMemories", "ConversationHistories"}},
	{KindLog, 3, []string{
		"RecordId", "NpcId", "InteractionCount", "PlayerInput", "MemoryHashBefore", "PromptHash", "ConstraintsHash", "RawOutput", "OutputHash", "DialogueText",
	}},
	{KindPersona, 3, []string{"PersonaId", "NextSequenceNumber", "CanonicalFacts", "WorldState", "EpisodicMemories", "Beliefs"}},
}

// Kind gives what a content is by its beginning, "" where it is nothing of this dialect. The rest of it, which may be no
// JSON at all, says nothing.
func Kind(head []byte) string {
	if bytes.HasPrefix(head, []byte(magic)) {
		return KindPackage
	}
	r := canon.NewReader(head)
	if r.Kind() != canon.Object {
		return ""
	}
	counts := make([]int, len(signatures))
	kind := ""
	// An error is the end of the head, or what the reader of the whole will say.
	_ = r.Members(func(name []byte) error {
		for i, s := range signatures {
			if slices.Contains(s.names, string(name)) {
				counts[i]++
			}
			if counts[i] == s.enough {
				kind = s.kind
				return errFound
			}
		}
		_, err := r.Skip()
		return err
	})
	return kind
}

var errFound = errors.New("found")

// mostFindings bounds the shape findings about one artifact.
const mostFindings = 1000

// shape collects what breaks the format (V1), and what was read as its producer reads it (C1).
type shape struct {
	path      string
	findings  []finding.Finding
	tolerated [tolerances]tolerated
	set       *knownSet
}

type tolerance int

const (
	defaulted tolerance = iota
	unnamed
	olderVersion
	tolerances
)

var toleranceText = [tolerances]string{
	defaulted:    "a member that is missing or null has the producer's default",
	unnamed:      "a member that the format does not name is left out",
	olderVersion: "a lower version is read as version 1",
}

// tolerated is where a tolerance was needed first, and how often.
type tolerated struct {
	place
	count int
}

// place is where something stands.
type place struct {
	index   int // of the record, or finding.NoEvent
	pointer string
}

func (s *shape) tolerate(what tolerance, at place) {
	if s.tolerated[what].count == 0 {
		s.tolerated[what].place = at
	}
	s.tolerated[what].count++
}

func (s *shape) report(code finding.Code, at place, detail string) {
	switch {
	case len(s.findings) > mostFindings:
		return
	case len(s.findings) == mostFindings:
		code, detail = finding.ShapeMore, "the rest is not listed"
	}
	f := finding.New(code)
	f.Artifact, f.EventIndex, f.Pointer, f.Detail = s.path, at.index, at.pointer, detail
	f.Hint = finding.Lookup(code).Action
	s.findings = append(s.findings, f)
}

// refuse reports the first complaint about an object; false where there is none.
func (s *shape) refuse(o *document.Object, at place) bool {
	var bad *document.Error
	if !errors.As(o.Err(), &bad) {
		return false
	}
	s.report(finding.ShapeType, place{at.index, at.pointer + bad.Pointer}, bad.Detail)
	return true
}

// found gives everything, the notes last.
func (s *shape) found() []finding.Finding {
	for what, t := range s.tolerated {
		if t.count == 0 {
			continue
		}
		f := finding.New(finding.ShapeTolerated)
		f.Artifact, f.EventIndex, f.Pointer = s.path, t.index, t.pointer
		f.Detail = toleranceText[what] + elsewhere(t.count)
		s.findings = append(s.findings, f)
	}
	return s.findings
}

func elsewhere(count int) string {
	if count == 1 {
		return ""
	}
	return fmt.Sprintf(" (here and in %d more places)", count-1)
}

// problem is a problem of the whole input.
func problem(code finding.Code, path, detail string) *dialect.Problem {
	return &dialect.Problem{Code: code, Path: path, Offset: -1, Detail: detail}
}

// syntax turns a reading error into a problem with a path.
func syntax(path string, err error) error {
	var bad *canon.Error
	if !errors.As(err, &bad) {
		return err
	}
	return &dialect.Problem{Code: finding.Code(bad.Code), Path: path, Offset: bad.Offset, Pointer: bad.Pointer, Detail: bad.Detail}
}
