package pipeline

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// Candidate is a record as a search outside of dmpl returned it: what is near the query, and how near (R7).
type Candidate struct {
	RecordID string
	Score    float64
}

// Candidates has the answers of searches for the kinds that were searched. A kind whose list is nil was not.
type Candidates struct {
	Facts, World, Episodes, Beliefs []Candidate
}

// ReadCandidates reads an object with a list of candidates for some of the kinds, named by record type.
func ReadCandidates(o *document.Object, name string) Candidates {
	o = o.Object(name)
	c := Candidates{
		Facts:    readCandidateList(o, memory.TypeFact),
		World:    readCandidateList(o, memory.TypeWorld),
		Episodes: readCandidateList(o, memory.TypeEpisode),
		Beliefs:  readCandidateList(o, memory.TypeBelief),
	}
	refuseUnknown(o)
	return c
}

func readCandidateList(o *document.Object, name string) []Candidate {
	if !o.Has(name) {
		return nil
	}
	list := []Candidate{}
	o.Each(name, func(e *document.Object) {
		list = append(list, ReadCandidate(e))
		refuseUnknown(e)
	})
	return list
}

// ReadCandidate reads what a search says of one record.
func ReadCandidate(o *document.Object) Candidate {
	if !o.Has("record_id") || !o.Has("score") {
		o.Fail("", "needs record_id and score")
	}
	return Candidate{RecordID: o.Text("record_id", ""), Score: o.Real("score", 0)}
}

// searched is an answer of a search while a kind is ranked by it.
type searched struct {
	scores map[string]float64
	seen   map[string]bool // candidates that are in the snapshot
}

// searchedBy gives nil where there was no search of the kind.
func searchedBy(list []Candidate, kind string) (*searched, error) {
	if list == nil {
		return nil, nil
	}
	s := &searched{scores: make(map[string]float64, len(list)), seen: make(map[string]bool, len(list))}
	for i, c := range list {
		at := "/candidates/" + kind + "/" + strconv.Itoa(i)
		if _, twice := s.scores[c.RecordID]; twice {
			return nil, &Error{CodeInvalidInput, at, strconv.QuoteToASCII(c.RecordID) + " is listed twice, so that its score is unclear"}
		}
		if !(math.Abs(c.Score) <= maxScore) {
			return nil, &Error{CodeInvalidInput, at + "/score", "must be a number within ±1e9"}
		}
		s.scores[c.RecordID] = c.Score
	}
	return s, nil
}

// take gives a record the score of the search, as it is ranked; false where the search did not return it.
func (s *searched) take(item *Ranked, by *scorer) bool {
	score, ok := s.scores[item.RecordID]
	if ok {
		s.seen[item.RecordID] = true
		item.Score = by.version.Numbers().Round(score)
	}
	return ok
}

// unknown gives the candidates that the snapshot does not have, by record id.
func (s *searched) unknown() []Candidate {
	if s == nil || len(s.seen) == len(s.scores) {
		return nil
	}
	var list []Candidate
	for _, id := range canon.SortedKeys(s.scores) {
		if !s.seen[id] {
			list = append(list, Candidate{id, s.scores[id]})
		}
	}
	return list
}

// CandidateChange says how one candidate of a recorded search differs from another search's answer.
type CandidateChange struct {
	RecordID string
	Recorded *float64 // the score; nil: the candidate was added
	Now      *float64 // the score; nil: the candidate was removed
}

// CompareCandidates names every candidate that was removed, added or re-scored, by record id; none where two answers are
// the same search result, in whatever order. R7: a candidate set that differs is that, not a ranking that differs.
func CompareCandidates(recorded, now []Candidate) []CandidateChange {
	byID := func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.Score, b.Score))
	}
	recorded, now = slices.SortedFunc(slices.Values(recorded), byID), slices.SortedFunc(slices.Values(now), byID)
	var changes []CandidateChange
	for len(recorded) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(recorded) > 0 && recorded[0].RecordID < now[0].RecordID:
			changes = append(changes, CandidateChange{RecordID: recorded[0].RecordID, Recorded: &recorded[0].Score})
			recorded = recorded[1:]
		case len(recorded) == 0 || now[0].RecordID < recorded[0].RecordID:
			changes = append(changes, CandidateChange{RecordID: now[0].RecordID, Now: &now[0].Score})
			now = now[1:]
		default:
			if recorded[0].Score != now[0].Score {
				changes = append(changes, CandidateChange{now[0].RecordID, &recorded[0].Score, &now[0].Score})
			}
			recorded, now = recorded[1:], now[1:]
		}
	}
	return changes
}
