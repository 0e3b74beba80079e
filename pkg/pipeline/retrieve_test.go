package pipeline_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
	"github.com/dmpl/dmpl/pkg/trace"
)

const noon = 638400000000000000

func episode(id, text string, sequence int64) memory.Episode {
	e := memory.NewEpisode(text)
	e.ID, e.Sequence, e.CreatedAt, e.Source = id, sequence, noon, memory.ValidatedOutput
	return e
}

// retrieve runs a retrieval of dmpl-v1 at noon.
func retrieve(t testing.TB, s *memory.State, q pipeline.Query, c pipeline.RetrievalConfig, p *pipeline.RetrievalPolicies) *pipeline.Retrieval {
	t.Helper()
	q.SnapshotTime = noon
	r, err := pipeline.Retrieve(s, &q, &c, p, pipeline.DMPLv1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ids(r *pipeline.Retrieved) []string {
	var list []string
	for _, m := range r.Ranked {
		list = append(list, m.RecordID)
	}
	return list
}

// upstreamDefaults gives a configuration object as LlamaBrain has it.
func upstreamDefaults(t *testing.T, name string) canon.Value {
	t.Helper()
	path := filepath.Join(pipelinetest.Root(t), "fixtures", "pipeline", "defaults.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := parseDBL(t, data).At("/defaults/" + name)
	if !ok || len(v.Members()) == 0 {
		t.Fatalf("no %s in %s", name, path)
	}
	return v
}

// everyMemberIsRead fails where a reader of a configuration does not read one of the members that upstream has: a list is
// right for none of them.
func everyMemberIsRead(t *testing.T, config canon.Value, read func(*document.Object)) {
	t.Helper()
	for _, m := range config.Members() {
		o := open(t, `{"c":{"`+m.Name+`":[]}}`)
		if read(o); o.Err() == nil || o.Err().Error() == "at /c/"+m.Name+": unknown member" {
			t.Errorf("%s is not read: %v", m.Name, o.Err())
		}
	}
}

func TestRetrievalDefaultsAreLlamaBrains(t *testing.T) {
	config := upstreamDefaults(t, "ContextRetrievalConfig")
	o := open(t, `{"c":`+string(config.Raw())+`}`)
	if got, want := pipeline.ReadRetrievalConfig(o, "c"), pipeline.DefaultRetrievalConfig(); o.Err() != nil || got != want {
		t.Errorf("%+v, want %+v; %v", got, want, o.Err())
	}
	everyMemberIsRead(t, config, func(o *document.Object) { pipeline.ReadRetrievalConfig(o, "c") })
}

// P3: each key of an order decides where the ones before it are equal.
func TestEachKeyOfAnOrderDecides(t *testing.T) {
	belief := func(id string, sequence int64, created int64, confidence float64) memory.Belief {
		b := memory.NewBelief("s", "same")
		b.ID, b.Key, b.Sequence, b.CreatedAt, b.Confidence = id, id, sequence, created, confidence
		return b
	}
	s := &memory.State{Beliefs: []memory.Belief{
		belief("b", 1, noon-5, 0.5), belief("a", 2, noon-5, 0.5), belief("c", 3, noon-1, 0.5),
		belief("d", 4, noon-9, 0.9), belief("a", 5, noon-5, 0.5),
	}}
	tests := []struct {
		order pipeline.Order
		want  []int64 // sequence numbers
	}{
		{pipeline.OrderScoreConfidence, []int64{4, 2, 5, 1, 3}},
		{pipeline.OrderScoreCreated, []int64{4, 3, 2, 5, 1}},
		{pipeline.OrderScoreID, []int64{4, 2, 5, 1, 3}},
		{pipeline.OrderID, []int64{2, 5, 1, 3, 4}},
	}
	for _, test := range tests {
		p := pipeline.DefaultRetrievalPolicies(pipeline.DMPLv1)
		p.Beliefs.Order = test.order
		var got []int64
		for _, m := range retrieve(t, s, pipeline.Query{}, pipeline.DefaultRetrievalConfig(), &p).Beliefs.Ranked {
			got = append(got, m.Sequence)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.order, got, test.want)
		}
	}
	// Equal scores of two confidences: 0.4 × 0.5 of 0.8 contradicted is 0.4 × 0.4.
	s = &memory.State{Beliefs: []memory.Belief{belief("a", 1, noon, 0.4), belief("b", 2, noon, 0.8)}}
	s.Beliefs[1].Contradicted = true
	c := pipeline.DefaultRetrievalConfig()
	c.IncludeContradicted = true
	if got := ids(&retrieve(t, s, pipeline.Query{}, c, nil).Beliefs); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("of equal scores the higher confidence stands first: %v", got)
	}
}

// P3: ids compare by UTF-16 unit, in seed 003's order by code point.
func TestIDsCompareByUnitOrByCodePoint(t *testing.T) {
	s := &memory.State{Episodes: []memory.Episode{episode("\uffff", "same", 1), episode("\U0001F600", "same", 2)}}
	for order, want := range map[pipeline.Order][]string{
		pipeline.OrderScoreCreated: {"\U0001F600", "\uffff"},
		pipeline.OrderScoreID:      {"\uffff", "\U0001F600"},
	} {
		p := pipeline.DefaultRetrievalPolicies(pipeline.DMPLv1)
		p.Episodes.Order = order
		if got := ids(&retrieve(t, s, pipeline.Query{}, pipeline.DefaultRetrievalConfig(), &p).Episodes); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", order, got, want)
		}
	}
}

func TestOrdersHaveTheNamesOfTraces(t *testing.T) {
	got := []pipeline.Order{pipeline.OrderScoreID, pipeline.OrderScoreCreated, pipeline.OrderScoreConfidence, pipeline.OrderID}
	want := []pipeline.Order{trace.OrderScoreID, trace.OrderScoreCreated, trace.OrderScoreConfidence, trace.OrderID}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// M11: in each fixture two records are alike but for what one filter looks at. Without the filter both are retrieved.
func TestEachFilterAloneDecides(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(pipelinetest.Root(t), "fixtures", "pipeline", "filters.json"))
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Cases []struct {
			Name, Filter string
			Input        map[string]any
			Expected     json.RawMessage
		}
	}
	numbers := json.NewDecoder(bytes.NewReader(data))
	numbers.UseNumber() // ticks do not fit a binary64
	if err := numbers.Decode(&fixture); err != nil {
		t.Fatal(err)
	}
	decided := map[string]bool{}
	for _, c := range fixture.Cases {
		t.Run(c.Name, func(t *testing.T) {
			with, without := rankings(t, c.Input), rankings(t, withoutFilter(c.Input, c.Filter))
			want := parseDBL(t, c.Expected)
			kind, _ := want.Get("record_type")
			text, _ := kind.Text()
			if d := pipelinetest.Difference(with[text], want); d != "" {
				t.Error(d)
			}
			if n := selected(with[text]); n != 1 {
				t.Errorf("%d records pass the filter, want 1", n)
			}
			if n := selected(without[text]); n != 2 {
				t.Errorf("%d records pass without the filter, want 2", n)
			}
			decided[c.Filter] = true
		})
	}
	if got, want := canon.SortedKeys(decided), []string{"namespace", "scope", "tags", "trust", "ttl"}; !slices.Equal(got, want) {
		t.Errorf("filters with a fixture: %v, want %v", got, want)
	}
}

func parseDBL(t testing.TB, data []byte) canon.Value {
	t.Helper()
	v, err := canon.ParseAs(canon.DBL, data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rankings gives the ranking of each kind that the stage answers.
func rankings(t *testing.T, input map[string]any) map[string]canon.Value {
	t.Helper()
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pipeline.RetrieveStage(pipeline.DMPLv1)(parseDBL(t, data))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := parseDBL(t, got).Get("rankings")
	byKind := map[string]canon.Value{}
	for _, r := range list.Elements() {
		kind, _ := r.Get("record_type")
		text, _ := kind.Text()
		byKind[text] = r
	}
	return byKind
}

func selected(ranking canon.Value) int {
	list, _ := ranking.Get("selected_records")
	return len(list.Elements())
}

func withoutFilter(input map[string]any, filter string) map[string]any {
	for _, policy := range input["retrievalPolicies"].(map[string]any) {
		filters := policy.(map[string]any)["filters"].(map[string]any)
		delete(filters, filter)
		filters["ttl"] = false
	}
	return input
}

// M11: the first filter in their order that drops a record is the one that counts it.
func TestFiltersApplyInTheirOrder(t *testing.T) {
	trust, expired := 90, int64(noon)
	f := pipeline.Filters{Namespaces: []string{"n"}, Scopes: []string{"s"}, Tags: []string{"t"}, MinTrust: &trust, TTL: true}
	e := memory.Entry{Source: memory.ValidatedOutput, ExpiresAt: &expired}
	var got []string
	for _, pass := range []func(){
		func() { e.Namespace = "n" },
		func() { e.Scope = "s" },
		func() { e.Tags = []string{"t", "u"} },
		func() { e.Trust = &trust },
		func() { e.ExpiresAt = nil },
	} {
		name, dropped := f.Dropping(&e, noon)
		if !dropped {
			t.Fatal("nothing drops the record")
		}
		got = append(got, name)
		pass()
	}
	if want := []string{"namespace", "scope", "tags", "trust", "ttl"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if name, dropped := f.Dropping(&e, noon); dropped {
		t.Errorf("%s drops a record that all filters keep", name)
	}
}

// R7: what a search returned is ranked by score and order, whatever order it came in.
func TestCandidatesInAnyOrderGiveOneRanking(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	s := &memory.State{}
	var candidates []pipeline.Candidate
	for i := range 60 {
		e := episode(string(rune('A'+i%26))+string(rune('a'+i/26)), "text", int64(i+1))
		e.CreatedAt -= int64(i % 3)
		s.Episodes = append(s.Episodes, e)
		// Scores a thousandth of a millionth apart are equal once they are quantised.
		candidates = append(candidates, pipeline.Candidate{RecordID: e.ID, Score: float64(i%7)/10 + float64(i)*1e-10})
	}
	want := &retrieve(t, s, pipeline.Query{Candidates: pipeline.Candidates{Episodes: candidates}}, pipeline.DefaultRetrievalConfig(), nil).Episodes
	if len(want.Ranked) != 15 || want.Ranked[0].Score != 0.6 || want.Considered != 60 {
		t.Fatalf("%d of %d records, the first with %v", len(want.Ranked), want.Considered, want.Ranked[0].Score)
	}
	for range 1000 {
		random.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
		got := &retrieve(t, s, pipeline.Query{Candidates: pipeline.Candidates{Episodes: candidates}}, pipeline.DefaultRetrievalConfig(), nil).Episodes
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("another ranking: %v, want %v", ids(got), ids(want))
		}
	}
}

// R7: candidates are filtered like everything else, and one that the snapshot does not have is named.
func TestCandidatesAreFilteredAndKnown(t *testing.T) {
	expired := int64(noon)
	s := &memory.State{
		Facts:    []memory.Fact{{Entry: memory.Entry{ID: "f1", Sequence: 9}, Text: "one"}, {Entry: memory.Entry{ID: "f2", Sequence: 10}, Text: "two"}},
		Episodes: []memory.Episode{episode("old", "old", 1), episode("new", "new", 2), episode("else", "else", 3)},
	}
	s.Episodes[0].ExpiresAt = &expired
	p := pipeline.DefaultRetrievalPolicies(pipeline.DMPLv1)
	p.Facts.Order = pipeline.OrderScoreID
	r := retrieve(t, s, pipeline.Query{Candidates: pipeline.Candidates{
		Facts:    []pipeline.Candidate{{"f1", 0.1}, {"f2", 0.2}},
		Episodes: []pipeline.Candidate{{"ghost", 3}, {"new", 1}, {"old", 2}, {"an other", 1}},
	}}, pipeline.DefaultRetrievalConfig(), &p)
	if got := ids(&r.Facts); !slices.Equal(got, []string{"f2", "f1"}) {
		t.Errorf("facts %v", got)
	}
	e := r.Episodes
	if !slices.Equal(ids(&e), []string{"new"}) || !slices.Equal(e.Unknown, []pipeline.Candidate{{"an other", 1}, {"ghost", 3}}) {
		t.Errorf("episodes %v, unknown %v", ids(&e), e.Unknown)
	}
	if !slices.Equal(e.Applied, []pipeline.AppliedFilter{{Name: "ttl", Dropped: 1}}) {
		t.Errorf("applied %v", e.Applied)
	}
}

// R7: each candidate that was removed, added or scored anew is named; another order is no change.
func TestCompareCandidatesNamesEachChange(t *testing.T) {
	recorded := []pipeline.Candidate{{"b", 2}, {"a", 1}, {"d", 4}, {"e", 5}}
	now := []pipeline.Candidate{{"e", 5}, {"b", 2.5}, {"c", 3}, {"a", 1}}
	two, twoAndAHalf, three, four := 2.0, 2.5, 3.0, 4.0
	want := []pipeline.CandidateChange{{"b", &two, &twoAndAHalf}, {"c", nil, &three}, {"d", &four, nil}}
	if got := pipeline.CompareCandidates(recorded, now); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := pipeline.CompareCandidates(recorded, []pipeline.Candidate{recorded[3], recorded[1], recorded[0], recorded[2]}); got != nil {
		t.Errorf("another order: %+v", got)
	}
	if got := pipeline.CompareCandidates(nil, now[:1]); len(got) != 1 || got[0].Recorded != nil {
		t.Errorf("all added: %+v", got)
	}
	if got := pipeline.CompareCandidates(now[:1], nil); len(got) != 1 || got[0].Now != nil {
		t.Errorf("all removed: %+v", got)
	}
}

// The few records that a limit asks for are those that the whole order begins with.
func TestALimitCutsTheOrder(t *testing.T) {
	s := manyMemories(400, 0, 0)
	for i := range s.Episodes { // many ties
		s.Episodes[i].Significance = float64(i%5) / 10
		s.Episodes[i].CreatedAt = noon
	}
	policies := pipeline.DefaultRetrievalPolicies(pipeline.DMPLv1)
	limited := func(n int) []string {
		policies.Episodes.Limit = &n
		return ids(&retrieve(t, s, pipeline.Query{PlayerInput: "ring sword"}, pipeline.DefaultRetrievalConfig(), &policies).Episodes)
	}
	all := limited(400)
	if len(all) != 400 {
		t.Fatalf("%d records", len(all))
	}
	for _, n := range []int{0, 1, 2, 3, 15, 64, 399, 1000} {
		if got, want := limited(n), all[:min(n, 400)]; !slices.Equal(got, want) {
			t.Errorf("limit %d: %v, want %v", n, got, want)
		}
	}
}

func TestRetrievalRefusesWhatItCannotRank(t *testing.T) {
	huge := episode("e", "text", 1)
	huge.Significance = 1e300
	order := func(fill func(*pipeline.RetrievalPolicies)) *pipeline.RetrievalPolicies {
		p := pipeline.DefaultRetrievalPolicies(pipeline.DMPLv1)
		fill(&p)
		return &p
	}
	tests := []struct {
		name     string
		state    memory.State
		query    pipeline.Query
		policies *pipeline.RetrievalPolicies
		version  pipeline.Version
		want     string
	}{
		{
			"score",
			memory.State{Episodes: []memory.Episode{huge}},
			pipeline.Query{},
			nil, pipeline.DMPLv1,
			"pipeline.invalid_input at /state/EpisodicMemories/0: the score is beyond what can be ranked",
		},
		{
			"topics",
			memory.State{},
			pipeline.Query{Topics: make([]string, 1001)},
			nil, pipeline.LlamaBrainV1,
			"pipeline.limit at /topics: more than 1000 topics",
		},
		{
			"policies of llamabrain-v1",
			memory.State{},
			pipeline.Query{},
			order(func(*pipeline.RetrievalPolicies) {}), pipeline.LlamaBrainV1,
			"pipeline.invalid_input at /retrievalPolicies: llamabrain-v1 has no retrieval policies",
		},
		{
			"candidates of llamabrain-v1",
			memory.State{},
			pipeline.Query{Candidates: pipeline.Candidates{Beliefs: []pipeline.Candidate{}}},
			nil, pipeline.LlamaBrainV1,
			"pipeline.invalid_input at /candidates/belief: llamabrain-v1 ranks no candidates of a search",
		},
		{
			"confidence of episodes",
			memory.State{},
			pipeline.Query{},
			order(func(p *pipeline.RetrievalPolicies) { p.Episodes.Order = pipeline.OrderScoreConfidence }), pipeline.DMPLv1,
			"pipeline.invalid_input at /retrievalPolicies/episodic/order: only beliefs have a confidence",
		},
		{
			"scores of facts",
			memory.State{},
			pipeline.Query{},
			order(func(p *pipeline.RetrievalPolicies) { p.Facts.Order = pipeline.OrderScoreID }), pipeline.DMPLv1,
			"pipeline.invalid_input at /retrievalPolicies/fact/order: without candidates nothing scores this kind: its order is record_id",
		},
		{
			"candidate twice",
			memory.State{},
			pipeline.Query{Candidates: pipeline.Candidates{World: []pipeline.Candidate{{"a", 1}, {"a", 1}}}},
			nil, pipeline.DMPLv1,
			`pipeline.invalid_input at /candidates/world/1: "a" is listed twice, so that its score is unclear`,
		},
		{
			"candidate without a number",
			memory.State{},
			pipeline.Query{Candidates: pipeline.Candidates{World: []pipeline.Candidate{{"a", math.NaN()}}}},
			nil, pipeline.DMPLv1,
			"pipeline.invalid_input at /candidates/world/0/score: must be a number within ±1e9",
		},
	}
	for _, test := range tests {
		c := pipeline.DefaultRetrievalConfig()
		if _, err := pipeline.Retrieve(&test.state, &test.query, &c, test.policies, test.version); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}

func TestRetrieveStageRefusesBadInput(t *testing.T) {
	tests := []struct{ input, want string }{
		{`[]`, "expected object, found array"},
		{`{"retrievalConfig":{"MaxBelief":1}}`, "at /retrievalConfig/MaxBelief: unknown member"},
		{`{"retrievalConfig":{"EmbeddingConfig":{}}}`, "at /retrievalConfig/EmbeddingConfig: semantic scoring is not done here: give the search's answer as candidates (R7)"},
		{`{"load":"sorted"}`, `at /load: "sorted" is none of restore, listed`},
		{`{"state":{"Beliefs":[{"Key":"a","SequenceNumber":1},{"Key":"a","SequenceNumber":2}]}}`, `at /state: the belief key "a" is there twice`},
		{`{"retrievalPolicies":{"beliefs":{}}}`, "at /retrievalPolicies/beliefs: unknown member"},
		{`{"retrievalPolicies":{"belief":{"policy_version":"1"}}}`, "at /retrievalPolicies/belief/policy_id: must be a text that is not empty"},
		{`{"retrievalPolicies":{"belief":{"policy_id":"a","policy_version":"1","order":"score"}}}`, `at /retrievalPolicies/belief/order: "score" is none of score,record_id, score,created_at_ticks,record_id,sequence_number, score,confidence,record_id,sequence_number, record_id`},
		{`{"retrievalPolicies":{"belief":{"policy_id":"a","policy_version":"1","filters":{"tags":[]}}}}`, "at /retrievalPolicies/belief/filters/tags: must not be empty: leave the filter out where it is not wanted"},
		{`{"retrievalPolicies":{"belief":{"policy_id":"a","policy_version":"1","filters":{"trust":101}}}}`, "at /retrievalPolicies/belief/filters/trust: must be 0 to 100"},
		{`{"retrievalPolicies":{"belief":{"policy_id":"a","policy_version":"1","limits":{"max_records":-1}}}}`, "at /retrievalPolicies/belief/limits/max_records: must be 0 or more"},
		{`{"retrievalPolicies":{"belief":{"policy_id":"a","policy_version":"1","filters":{"scope":["a"` + strings.Repeat(`,"a"`, 1000) + `]}}}}`, "at /retrievalPolicies/belief/filters/scope: must not have more than 1000 entries"},
		{`{"candidates":{"belief":[{"record_id":"a"}]}}`, "at /candidates/belief/0: needs record_id and score"},
		{
			`{"retrievalConfig":{"SignificanceWeight":1e300},"state":{"EpisodicMemories":[{"Significance":1,"Strength":1,"SequenceNumber":1,"ExpiresAtTicks":0}]}}`,
			"pipeline.invalid_input at /state/EpisodicMemories/0: the score is beyond what can be ranked",
		},
	}
	for _, test := range tests {
		if _, err := pipeline.RetrieveStage(pipeline.DMPLv1)(parseDBL(t, []byte(test.input))); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.input, err, test.want)
		}
	}
}

// D9: a policy is written in the form in which it is read.
func TestPoliciesAreReadAsTheyAreWritten(t *testing.T) {
	trust, limit := 50, 3
	policies := pipeline.DefaultRetrievalPolicies(pipeline.DMPLv1)
	policies.Episodes = pipeline.RetrievalPolicy{
		ID: "recent", Version: "2", Order: pipeline.OrderScoreID, Limit: &limit,
		Filters: pipeline.Filters{Namespaces: []string{"n"}, Scopes: []string{"s"}, Tags: []string{"t"}, MinTrust: &trust, TTL: false},
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		policies.Facts.Write(w, memory.TypeFact)
		policies.World.Write(w, memory.TypeWorld)
		policies.Episodes.Write(w, memory.TypeEpisode)
		policies.Beliefs.Write(w, memory.TypeBelief)
	})
	o := open(t, `{"p":`+string(w.Bytes())+`}`)
	if got := pipeline.ReadRetrievalPolicies(o, "p", pipeline.DMPLv1); o.Err() != nil || !reflect.DeepEqual(got, &policies) {
		t.Errorf("%s: %+v, want %+v; %v", w.Bytes(), got, policies, o.Err())
	}
}
