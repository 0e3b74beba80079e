package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/thread"
)

// RetrieveStage gives the stage that retrieves from `state` for `playerInput` and `topics` at `snapshotTimeUtcTicks`, under
// `retrievalConfig` and, in dmpl-v1, `retrievalPolicies` and `candidates`.
func RetrieveStage(v Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		state := readMemory(o, v)
		q := readQuery(o)
		c := ReadRetrievalConfig(o, "retrievalConfig")
		p := ReadRetrievalPolicies(o, "retrievalPolicies", v)
		if err := o.Err(); err != nil {
			return nil, err
		}
		r, err := Retrieve(&state, &q, &c, p, v)
		if err != nil {
			return nil, err
		}
		w := document.NewWriter(v.Style())
		w.Object("", func() {
			r.writeTexts(w)
			by := newScorer(&q, &c, v, new(wordSet))
			err = errors.Join(writeScores(w, "episodicScores", &episodeKind, state.Episodes, by),
				writeScores(w, "beliefScores", &beliefKind, state.Beliefs, by))
			if v == memory.DMPLv1 {
				w.List("rankings", func() {
					for _, kind := range r.Kinds() {
						kind.write(w)
					}
				})
			}
		})
		return w.Bytes(), err
	}
}

// readMemory reads `state`: its lists by sequence number, or as they stand where `load` says "listed".
func readMemory(o *document.Object, v Version) memory.State {
	at := o.Object("state")
	load := memory.Load
	if o.Word("load", "restore", "restore", "listed") == "listed" {
		load = memory.Listed
	}
	state, err := load(memory.ReadState(at, v), v)
	if err != nil {
		at.Fail("", err.Error())
	}
	return state
}

func readQuery(o *document.Object) Query {
	return Query{
		PlayerInput:  o.Text("playerInput", ""),
		Topics:       o.Texts("topics"),
		SnapshotTime: o.Integer("snapshotTimeUtcTicks", 0),
		Candidates:   ReadCandidates(o, "candidates"),
	}
}

func (r *Retrieval) writeTexts(w *document.Writer) {
	w.Texts("canonicalFacts", r.Facts.Texts())
	w.Texts("worldState", r.World.Texts())
	w.Texts("episodicMemories", r.Episodes.Texts())
	w.Texts("beliefs", r.Beliefs.Texts())
}

// writeScores writes the score of every record that can have one, by sequence number: of all beliefs, and of the episodes
// that are strong enough.
func writeScores[T any](w *document.Writer, name string, k *kind[T], records []T, by *scorer) (err error) {
	places := make([]int, len(records))
	for i := range places {
		places[i] = i
	}
	sequence := func(i int) int64 {
		e, _ := k.record(&records[i])
		return e.Sequence
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(sequence(a), sequence(b)) })
	w.List(name, func() {
		for _, i := range places {
			if k.name == memory.TypeEpisode && !k.eligible(by, &records[i], false) {
				continue
			}
			said := k.said(&records[i], by.version)
			relevance := by.relevance(by.words.share(said), by.topics.hit(said))
			score := k.score(by, &records[i], relevance)
			if !by.rankable(score) {
				err = unrankable(k.list, i)
				return
			}
			e, _ := k.record(&records[i])
			writeScore(w, e, score, relevance, by.version)
		}
	})
	return err
}

func writeScore(w *document.Writer, e *memory.Entry, score, relevance float64, v Version) {
	w.Object("", func() {
		w.Text("id", e.ID)
		w.Integer("sequenceNumber", e.Sequence)
		w.Real("score", score)
		if v == memory.LlamaBrainV1 {
			w.Text("scoreBits", fmt.Sprintf("%08x", math.Float32bits(float32(score))))
		}
		w.Real("relevance", v.Numbers().Round(relevance))
	})
}

// write writes what a retrieval event of the kind holds (P3, P7), and what it takes to explain it.
func (r *Retrieved) write(w *document.Writer) {
	w.Object("", func() {
		w.Text("record_type", r.Kind)
		w.Text("policy_id", r.Policy.ID)
		w.Text("policy_version", r.Policy.Version)
		w.Text("order", string(r.Policy.Order))
		w.Integer("candidate_count", int64(r.Considered))
		r.Policy.Filters.Write(w, "applied_filters")
		w.Object("dropped", func() {
			for _, f := range r.Applied {
				w.Integer(f.Name, int64(f.Dropped))
			}
		})
		new(RecordWriter).Write(w, "selected_records", r)
		if r.Searched {
			w.List("unknown_candidates", func() {
				for _, c := range r.Unknown {
					w.Text("", c.RecordID)
				}
			})
		}
	})
}
