package pipeline

import (
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Query is what memory is searched for.
type Query struct {
	PlayerInput  string
	Topics       []string
	SnapshotTime int64      // ticks; P4: the only clock
	Candidates   Candidates // R7, dmpl-v1
}

// Ranked is one memory where retrieval put it, with the keys of every order.
type Ranked struct {
	RecordID   string // of world state its key
	Text       string // as the prompt shows it
	Score      float64
	Confidence float64
	CreatedAt  int64
	Sequence   int64
	place      int // in the memory
}

// Retrieved is the answer for one kind of memory, with what it takes to explain it.
type Retrieved struct {
	Kind       string
	Policy     RetrievalPolicy
	Limit      int // the most records that were asked for; Unlimited
	Considered int // records that were ranked, before the limit
	Applied    []AppliedFilter
	Ranked     []Ranked
	Searched   bool        // R7: candidates were given
	Unknown    []Candidate // R7: candidates that the snapshot does not have
}

// maxChoices bounds the topics of a query and the list of a filter: every record is held against each.
const maxChoices = 1000

// Unlimited is a limit that cuts nothing.
const Unlimited = -1

// Retrieval is the answer for all kinds, in the order of the prompt.
type Retrieval struct {
	Facts, World, Episodes, Beliefs Retrieved
}

// Kinds gives the four answers in the order of the prompt.
func (r *Retrieval) Kinds() []*Retrieved {
	return []*Retrieved{&r.Facts, &r.World, &r.Episodes, &r.Beliefs}
}

// Texts gives what the prompt shows, best first.
func (r *Retrieved) Texts() []string {
	texts := make([]string, len(r.Ranked))
	for i := range r.Ranked {
		texts[i] = r.Ranked[i].Text
	}
	return texts
}

// Retrieve chooses the memories for a prompt. Policies may be nil: the defaults of the version. llamabrain-v1 has neither
// policies nor candidates (M11).
func Retrieve(s *memory.State, q *Query, c *RetrievalConfig, p *RetrievalPolicies, v Version) (*Retrieval, error) {
	return new(recall).retrieve(s, q, c, p, v)
}

// retrieve is Retrieve for the next turn of a run.
func (known *recall) retrieve(s *memory.State, q *Query, c *RetrievalConfig, p *RetrievalPolicies, v Version) (*Retrieval, error) {
	if p == nil {
		defaults := DefaultRetrievalPolicies(v)
		p = &defaults
	} else if v == memory.LlamaBrainV1 {
		return nil, &Error{CodeInvalidInput, "/retrievalPolicies", "llamabrain-v1 has no retrieval policies"}
	}
	if len(q.Topics) > maxChoices {
		return nil, &Error{CodeLimit, "/topics", "more than 1000 topics"}
	}
	known.of(s, v)
	by := newScorer(q, c, v, &known.words)
	var r Retrieval
	for _, fill := range []func() error{
		func() error { return rank(&r.Facts, by, &factKind, &known.facts, p.Facts, q.Candidates.Facts) },
		func() error { return rank(&r.World, by, &worldKind, &known.world, p.World, q.Candidates.World) },
		func() error {
			return rank(&r.Episodes, by, &episodeKind, &known.episodes, p.Episodes, q.Candidates.Episodes)
		},
		func() error {
			return rank(&r.Beliefs, by, &beliefKind, &known.beliefs, p.Beliefs, q.Candidates.Beliefs)
		},
	} {
		if err := fill(); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

// rank filters, scores, orders and cuts the records of one kind.
func rank[T any](r *Retrieved, by *scorer, k *kind[T], known *recalled[T], p RetrievalPolicy, candidates []Candidate) error {
	*r = Retrieved{Kind: k.name, Policy: p, Limit: k.limit(&by.config), Applied: p.Filters.applied(), Searched: candidates != nil}
	if p.Limit != nil {
		r.Limit = *p.Limit
	}
	if err := k.check(p.Order, r.Searched, by.version); err != nil {
		return err
	}
	found, err := searchedBy(candidates, k.name)
	if err != nil {
		return err
	}
	records := known.records
	var share func(i int) float64
	if k.scored && found == nil {
		share = known.shares(k, by)
	}
	best := &known.best
	best.reset(r.Limit, len(records), p.Order)
	var item Ranked
	for i := range records {
		e, id := k.record(&records[i])
		item = Ranked{RecordID: id, CreatedAt: e.CreatedAt, Sequence: e.Sequence, place: i}
		if found != nil && !found.take(&item, by) || r.drops(e, by.now) {
			continue
		}
		named := known.named(k, i, by)
		if !k.eligible(by, &records[i], named) {
			continue
		}
		if share != nil {
			item.Score = k.score(by, &records[i], by.relevance(share(i), named))
		}
		if !by.rankable(item.Score) {
			return unrankable(k.list, i)
		}
		item.Confidence = k.confidence(&records[i])
		r.Considered++
		best.add(&item)
	}
	r.Ranked, r.Unknown = best.sorted(), found.unknown()
	for i := range r.Ranked {
		place := r.Ranked[i].place
		r.Ranked[i].Text = k.mark(&records[place]) + known.text(k, place, by.version)
	}
	return nil
}

func unrankable(list string, place int) error {
	return &Error{CodeInvalidInput, "/state/" + list + "/" + strconv.Itoa(place), "the score is beyond what can be ranked"}
}

// drops says that a filter drops a record, and counts it (M11).
func (r *Retrieved) drops(e *memory.Entry, now int64) bool {
	name, dropped := r.Policy.Filters.Dropping(e, now)
	if dropped {
		i := slices.IndexFunc(r.Applied, func(f AppliedFilter) bool { return f.Name == name })
		r.Applied[i].Dropped++
	}
	return dropped
}
