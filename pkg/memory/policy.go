package memory

import (
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// PolicySetSchema names the format of a policy set.
const PolicySetSchema = "memory.policy_set.v1"

// PolicySet is what decides over reads, turns, commits and retention of a run, as data (D9).
type PolicySet struct {
	ID        string      // policy_set_id: SHA-256 of json-v1 of the document
	Retrieval canon.Value // the policy of each kind of record, for the retrieval stage; its shape is in order
	Admission []AdmissionRule
	Commit    []CommitRule
	Lanes     []Lane
}

// AdmissionRule is a rule that may refuse a turn (X7).
type AdmissionRule struct {
	ID, Rule string
	Limit    int
}

// CommitRule is a rule of the commit policy: it judges the whole buffer at run end (D9).
type CommitRule struct {
	ID, Rule string
	Values   []string // of record_types and namespaces
	Limit    int      // of least_trust and most_writes
	Hook     string   // of hook
}

// Lane says how long the runs of a lane are kept (V4).
type Lane struct {
	Name          string
	Deterministic bool
	Days          int
}

// LeastDays is how long runs of a deterministic lane are kept at least (V4).
const LeastDays = 14

// commitRules are the rules that there are, each with the one member that it needs; "" for none (D9).
var commitRules = []struct{ rule, needs string }{
	{"record_types", "values"},
	{"namespaces", "values"},
	{"least_trust", "limit"},
	{"most_writes", "limit"},
	{"gate_passed", ""},
	{"hook", "name"},
}

// retrievalKinds are the kinds that a policy can be for, retrievalOrders the orders of P3.
var (
	retrievalKinds  = []string{"fact", "world", "episodic", "belief"} // in the order of retrieval
	retrievalOrders = []string{
		"score,record_id", "score,created_at_ticks,record_id,sequence_number", "score,confidence,record_id,sequence_number", "record_id",
	}
)

// AnyHook takes every hook for known: for who reads a policy set and does not apply it.
func AnyHook(string) bool { return true }

// NoHook knows no hook.
func NoHook(string) bool { return false }

// ReadPolicySet reads a policy set. A rule, hook or member that is not known is an error and never a pass (D9). The error is
// a *document.Error, or a *canon.Error for a text that is no JSON.
func ReadPolicySet(text []byte, hook func(name string) bool) (*PolicySet, error) {
	value, err := canon.Parse(text)
	if err != nil {
		return nil, err
	}
	if at, found := firstNull("", value); found {
		return nil, &document.Error{Pointer: at, Detail: "must not be null"}
	}
	o := document.Open(value)
	must(o, "schema_version", "retrieval", "admission", "commit", "retention")
	if o.Text("schema_version", "") != PolicySetSchema {
		o.Fail("schema_version", "expected "+PolicySetSchema+", the version that is known")
	}
	retrieval := o.Object("retrieval")
	for _, kind := range retrievalKinds {
		if retrieval.Has(kind) {
			readRetrievalPolicy(retrieval.Object(kind))
		}
	}
	closed(retrieval)
	set := &PolicySet{Retrieval: retrieval.Value()}
	o.Each("admission", func(r *document.Object) { set.Admission = append(set.Admission, readAdmissionRule(r)) })
	commit := o.Object("commit")
	must(commit, "rules")
	commit.Each("rules", func(r *document.Object) { set.Commit = append(set.Commit, readCommitRule(r, hook)) })
	closed(commit)
	retention := o.Object("retention")
	must(retention, "lanes")
	retention.Each("lanes", func(l *document.Object) { set.Lanes = append(set.Lanes, readLane(l)) })
	closed(retention)
	closed(o)
	if err := o.Err(); err != nil {
		return nil, err
	}
	sum, err := canon.Digest(canon.JSONv1, text)
	if err != nil {
		return nil, err
	}
	set.ID = sum.Hex()
	return set, nil
}

func readRetrievalPolicy(p *document.Object) {
	filled(p, "policy_id")
	filled(p, "policy_version")
	p.Word("order", "", retrievalOrders...)
	if p.Has("order") && p.Text("order", "") == "" {
		p.Fail("order", "must not be empty")
	}
	f := p.Object("filters")
	for _, name := range []string{"namespace", "scope", "tags"} {
		if list := f.Texts(name); list != nil && len(list) == 0 {
			f.Fail(name, "must not be empty: leave the filter out where it is not wanted")
		}
	}
	within(f, "trust", 0, 100)
	f.Bool("ttl", false)
	closed(f)
	limits := p.Object("limits")
	within(limits, "max_records", 0, 1<<31-1)
	closed(limits)
	closed(p)
}

func readAdmissionRule(r *document.Object) AdmissionRule {
	must(r, "limit")
	rule := AdmissionRule{ID: filled(r, "id"), Rule: filled(r, "rule"), Limit: within(r, "limit", 0, 1<<31-1)}
	if rule.Rule != "max_user_messages" {
		r.Fail("rule", "no admission rule is called "+strconv.QuoteToASCII(rule.Rule)+": known is max_user_messages")
	}
	closed(r)
	return rule
}

func readCommitRule(r *document.Object, hook func(string) bool) CommitRule {
	rule := CommitRule{ID: filled(r, "id"), Rule: filled(r, "rule")}
	for _, known := range commitRules {
		if known.rule != rule.Rule {
			continue
		}
		switch known.needs {
		case "values":
			must(r, "values")
			rule.Values = r.Texts("values")
		case "limit":
			most := 1<<31 - 1
			if rule.Rule == "least_trust" {
				most = 100
			}
			must(r, "limit")
			rule.Limit = within(r, "limit", 0, most)
		case "name":
			rule.Hook = filled(r, "name")
			if !hook(rule.Hook) {
				r.Fail("name", "no hook is called "+strconv.QuoteToASCII(rule.Hook))
			}
		}
		closed(r)
		return rule
	}
	r.Fail("rule", "no commit rule is called "+strconv.QuoteToASCII(rule.Rule))
	return rule
}

func readLane(l *document.Object) Lane {
	must(l, "deterministic", "days")
	lane := Lane{Name: filled(l, "name"), Deterministic: l.Bool("deterministic", false), Days: within(l, "days", 0, 1<<31-1)}
	if lane.Deterministic && lane.Days < LeastDays {
		l.Fail("days", "runs of a deterministic lane are kept for "+strconv.Itoa(LeastDays)+" days at least")
	}
	closed(l)
	return lane
}

// must fails for the first member that is not there.
func must(o *document.Object, names ...string) {
	for _, name := range names {
		if !o.Has(name) {
			o.Fail(name, "is missing")
		}
	}
}

// filled gives a text that must be there and not be empty.
func filled(o *document.Object, name string) string {
	must(o, name)
	text := o.Text(name, "")
	if text == "" {
		o.Fail(name, "must not be empty")
	}
	return text
}

func within(o *document.Object, name string, least, most int) int {
	n := o.Int(name, least)
	if n < least || n > most {
		o.Fail(name, "expected "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}
	return n
}

// closed fails for a member that nothing has asked for: what is not known must not be passed over (D9).
func closed(o *document.Object) {
	if names := o.Unknown(); len(names) > 0 {
		o.Fail(names[0], "is no member that is known here")
	}
}

// firstNull finds a null anywhere: no member of a policy set may be one.
func firstNull(at string, v canon.Value) (string, bool) {
	if v.Kind() == canon.Null {
		return at, true
	}
	for _, m := range v.Members() {
		if place, found := firstNull(canon.AppendToken(at, m.Name), m.Value); found {
			return place, true
		}
	}
	for i, e := range v.Elements() {
		if place, found := firstNull(canon.AppendToken(at, strconv.Itoa(i)), e); found {
			return place, true
		}
	}
	return "", false
}

// Keep gives for how many days the runs of a lane are kept: what the policy set says, and never less than V4's floor where
// the run or the policy set calls the lane deterministic.
func (s *PolicySet) Keep(lane string, deterministic bool, otherwise int) int {
	days := otherwise
	if i := slices.IndexFunc(s.Lanes, func(l Lane) bool { return l.Name == lane }); i >= 0 {
		days = s.Lanes[i].Days
		deterministic = deterministic || s.Lanes[i].Deterministic
	}
	if deterministic {
		days = max(days, LeastDays)
	}
	return days
}

// KindPlace gives the place of a kind of record in the order of retrieval; -1 for what is none.
func KindPlace(kind string) int { return slices.Index(retrievalKinds, kind) }
