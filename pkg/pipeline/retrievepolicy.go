package pipeline

import (
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// RetrievalPolicy says how the records of one kind are filtered, ordered and cut (D9).
type RetrievalPolicy struct {
	ID      string
	Version string
	Order   Order
	Filters Filters
	Limit   *int // the most records; nil: the limit of the configuration, which counts 0 for facts and world state as all
}

// RetrievalPolicies has the policy of each kind of memory.
type RetrievalPolicies struct {
	Facts, World, Episodes, Beliefs RetrievalPolicy
}

// DefaultRetrievalPolicies gives the policies that apply where none are given: the orders of P3, and in dmpl-v1 no
// expired records.
func DefaultRetrievalPolicies(v Version) RetrievalPolicies {
	policy := func(kind string, o Order) RetrievalPolicy {
		return RetrievalPolicy{ID: kind, Version: "1", Order: o, Filters: Filters{TTL: v == memory.DMPLv1}}
	}
	return RetrievalPolicies{
		Facts:    policy(memory.TypeFact, OrderID),
		World:    policy(memory.TypeWorld, OrderID),
		Episodes: policy(memory.TypeEpisode, OrderScoreCreated),
		Beliefs:  policy(memory.TypeBelief, OrderScoreConfidence),
	}
}

// ReadRetrievalPolicies reads an object with a policy for some of the kinds, named by record type; the others keep their
// default. Where there is no object there are no policies.
func ReadRetrievalPolicies(o *document.Object, name string, v Version) *RetrievalPolicies {
	if !o.Has(name) {
		return nil
	}
	o = o.Object(name)
	p := DefaultRetrievalPolicies(v)
	for _, kind := range []struct {
		name   string
		policy *RetrievalPolicy
	}{{memory.TypeFact, &p.Facts}, {memory.TypeWorld, &p.World}, {memory.TypeEpisode, &p.Episodes}, {memory.TypeBelief, &p.Beliefs}} {
		if o.Has(kind.name) {
			*kind.policy = readRetrievalPolicy(o.Object(kind.name), *kind.policy)
		}
	}
	refuseUnknown(o)
	return &p
}

// readRetrievalPolicy reads a policy. Its identity must be given; order, filters and limits have defaults.
func readRetrievalPolicy(o *document.Object, otherwise RetrievalPolicy) RetrievalPolicy {
	p := RetrievalPolicy{
		ID:      requiredText(o, "policy_id"),
		Version: requiredText(o, "policy_version"),
		Order:   Order(o.Word("order", string(otherwise.Order), orders...)),
		Filters: readFilters(o.Object("filters"), otherwise.Filters),
	}
	limits := o.Object("limits")
	if limits.Has("max_records") {
		n := limits.Int("max_records", 0)
		if n < 0 {
			limits.Fail("max_records", "must be 0 or more")
		}
		p.Limit = &n
	}
	refuseUnknown(limits)
	refuseUnknown(o)
	return p
}

func requiredText(o *document.Object, name string) string {
	text := o.Text(name, "")
	if text == "" {
		o.Fail(name, "must be a text that is not empty")
	}
	return text
}

// Filters drop records before they are scored (M11). A filter that is not set drops nothing.
type Filters struct {
	Namespaces []string // one of them
	Scopes     []string // one of them
	Tags       []string // all of them
	MinTrust   *int     // this much at least
	TTL        bool     // not expired at the snapshot time
}

func readFilters(o *document.Object, otherwise Filters) Filters {
	f := Filters{
		Namespaces: readChoices(o, "namespace"),
		Scopes:     readChoices(o, "scope"),
		Tags:       readChoices(o, "tags"),
		TTL:        o.Bool("ttl", otherwise.TTL),
	}
	if o.Has("trust") {
		n := o.Int("trust", 0)
		if n < 0 || n > 100 {
			o.Fail("trust", "must be 0 to 100")
		}
		f.MinTrust = &n
	}
	refuseUnknown(o)
	return f
}

// readChoices reads a list with something in it: an empty one would let nothing through, or everything.
func readChoices(o *document.Object, name string) []string {
	list := o.Texts(name)
	if list != nil && len(list) == 0 {
		o.Fail(name, "must not be empty: leave the filter out where it is not wanted")
	}
	if len(list) > maxChoices {
		o.Fail(name, "must not have more than 1000 entries")
	}
	return list
}

// Write writes the policy in the form in which a policy set has it (D9).
func (p *RetrievalPolicy) Write(w *document.Writer, name string) {
	w.Object(name, func() {
		w.Text("policy_id", p.ID)
		w.Text("policy_version", p.Version)
		w.Text("order", string(p.Order))
		w.Object("filters", func() {
			p.Filters.writeSet(w)
			if !p.Filters.TTL { // the one filter that is set unless a policy says otherwise
				w.Bool("ttl", false)
			}
		})
		w.Object("limits", func() {
			if p.Limit != nil {
				w.Integer("max_records", int64(*p.Limit))
			}
		})
	})
}
