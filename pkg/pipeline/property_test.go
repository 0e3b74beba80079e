package pipeline_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
	"github.com/dmpl/dmpl/pkg/thread"
)

// randomSnapshot makes lists of short texts, astral characters and lone surrogates among them.
func randomSnapshot(r *rand.Rand) (pipeline.Snapshot, pipeline.BoundConfig) {
	list := func(most int) []string {
		texts := make([]string, r.IntN(most+1))
		for i := range texts {
			texts[i] = strings.Repeat([]string{"x", "\U0001F600", "\xed\xa0\xbd", "é"}[r.IntN(4)], r.IntN(12))
		}
		return texts
	}
	s := pipeline.Snapshot{
		SystemPrompt: "S", PlayerInput: "I", Facts: list(3), World: list(3), Episodes: list(8), Beliefs: list(6),
		Dialogue: list(14), References: list(3), Constraints: make([]pipeline.Constraint, r.IntN(2)),
	}
	c := pipeline.BoundConfig{
		MaxDialogueExchanges: r.IntN(8), MaxEpisodes: r.IntN(10), MaxBeliefs: r.IntN(8), MaxCharacters: r.Int64N(500) - 20,
		AlwaysFacts: r.IntN(4) > 0, AlwaysWorld: r.IntN(4) > 0, MaxExamples: r.IntN(3), AlwaysExamples: r.IntN(2) > 0,
		Examples: []pipeline.Example{{Player: "p", NPC: "n"}, {Player: "q", NPC: "m"}},
	}
	return s, c
}

// P2(a): whole items, in the order dialogue, episodes, beliefs, and no more of them than the limit demands.
func TestBoundsTakeNoMoreThanTheyMust(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	truncated := 0
	for range 5000 {
		s, c := randomSnapshot(r)
		m := pipeline.Bound(s, c, pipeline.DMPLv1)
		counted := c
		counted.MaxCharacters = 1 << 30
		all := pipeline.Bound(s, counted, pipeline.DMPLv1)
		mandatory := all.Characters - measured(all.Dialogue, 2) - measured(all.Episodes, 12) - measured(all.Beliefs, 2)
		if m.Characters != mandatory+measured(m.Dialogue, 2)+measured(m.Episodes, 12)+measured(m.Beliefs, 2) {
			t.Fatalf("%d characters are not those of what is kept: %+v", m.Characters, m)
		}
		if m.Truncated != (all.Characters > c.MaxCharacters) || m.ExceedsLimit != (m.Characters > c.MaxCharacters) {
			t.Fatalf("truncated %v, exceeds %v: %+v", m.Truncated, m.ExceedsLimit, m)
		}
		if !sameLists(m, all, "Facts", "World", "References", "Constraints", "Examples") {
			t.Fatalf("a mandatory section changed:\n%+v\n%+v", m, all)
		}
		if m.Truncated {
			truncated++
		}
		holdOrder(t, m, all, c.MaxCharacters)
		holdPartition(t, s, m)
	}
	if truncated < 1000 {
		t.Errorf("only %d of 5000 cases exceed their limit", truncated)
	}
}

func measured(list []string, extra int64) int64 {
	var sum int64
	for _, text := range list {
		sum += int64(dotnet.Len(text)) + extra
	}
	return sum
}

func sameLists(a, b pipeline.WorkingMemory, names ...string) bool {
	for _, name := range names {
		if !reflect.DeepEqual(reflect.ValueOf(a).FieldByName(name).Interface(), reflect.ValueOf(b).FieldByName(name).Interface()) {
			return false
		}
	}
	return true
}

// holdOrder looks at what the character limit took from a working memory that counts alone bounded.
func holdOrder(t *testing.T, m, all pipeline.WorkingMemory, limit int64) {
	t.Helper()
	lines, episodes, beliefs := len(all.Dialogue)-len(m.Dialogue), len(m.Episodes), len(m.Beliefs)
	if !slices.Equal(m.Dialogue, all.Dialogue[lines:]) || !slices.Equal(m.Episodes, all.Episodes[:episodes]) ||
		!slices.Equal(m.Beliefs, all.Beliefs[:beliefs]) {
		t.Fatalf("not the oldest lines or not the lowest ranked memories went:\n%+v\n%+v", m, all)
	}
	if episodes < len(all.Episodes) && len(m.Dialogue) > 0 || beliefs < len(all.Beliefs) && episodes > 0 {
		t.Fatalf("the order dialogue, episodes, beliefs is broken: %+v", m)
	}
	var last int64
	switch {
	case beliefs < len(all.Beliefs):
		last = measured(all.Beliefs[beliefs:beliefs+1], 2)
	case episodes < len(all.Episodes):
		last = measured(all.Episodes[episodes:episodes+1], 12)
	case lines > 0:
		last = measured(all.Dialogue[lines-1:lines], 2)
	default:
		return
	}
	if m.Characters+last <= limit {
		t.Fatalf("the last item that went had room (%d + %d of %d): %+v", m.Characters, last, limit, m)
	}
}

// holdPartition puts what was kept and what was dropped together again.
func holdPartition(t *testing.T, s pipeline.Snapshot, m pipeline.WorkingMemory) {
	t.Helper()
	for section, lists := range map[pipeline.Section][2][]string{
		pipeline.FactSection: {s.Facts, m.Facts}, pipeline.WorldSection: {s.World, m.World},
		pipeline.DialogueSection: {s.Dialogue, m.Dialogue}, pipeline.EpisodeSection: {s.Episodes, m.Episodes},
		pipeline.BeliefSection: {s.Beliefs, m.Beliefs},
	} {
		gone := make([]bool, len(lists[0]))
		for _, d := range m.Dropped {
			for i := d.From; d.Section == section && i < d.To; i++ {
				if gone[i] {
					t.Fatalf("%s %d went twice: %+v", section, i, m.Dropped)
				}
				gone[i] = true
			}
		}
		var kept []string
		for i, text := range lists[0] {
			if !gone[i] {
				kept = append(kept, text)
			}
		}
		if !slices.Equal(kept, lists[1]) {
			t.Fatalf("%s: what is not dropped is %q, what is kept is %q", section, kept, lists[1])
		}
	}
}

// P2: where no limit of characters is exceeded the versions are one.
func TestVersionsAgreeWithinTheLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for range 2000 {
		s, c := randomSnapshot(r)
		ours, theirs := pipeline.Bound(s, c, pipeline.DMPLv1), pipeline.Bound(s, c, pipeline.LlamaBrainV1)
		if ours.Truncated != theirs.Truncated {
			t.Fatalf("one is truncated:\n%+v\n%+v", ours, theirs)
		}
		if ours.Truncated {
			continue
		}
		compared++
		if !reflect.DeepEqual(ours, theirs) {
			t.Fatalf("they differ:\n%+v\n%+v", ours, theirs)
		}
	}
	if compared < 500 {
		t.Errorf("only %d of 2000 cases are within their limit", compared)
	}
}

// P2: an answer that says of no truncation is the same bytes under both versions.
func TestAnswersAgreeWithinTheLimits(t *testing.T) {
	for kind, stage := range map[string]func(pipeline.Version) thread.Stage{
		"prompt_assembly": pipeline.AssembleStage, "working_memory": pipeline.BoundStage,
	} {
		compared := 0
		pipelinetest.Each(t, kind, 27, func(t *testing.T, c pipelinetest.Case) {
			theirs, err := stage(pipeline.LlamaBrainV1)(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(theirs, []byte(`"wasTruncated":true`)) {
				return
			}
			compared++
			if ours, err := stage(pipeline.DMPLv1)(c.Input); err != nil || !bytes.Equal(ours, theirs) {
				t.Errorf("%s (%v)\n%s", ours, err, theirs)
			}
		})
		if compared < 10 {
			t.Errorf("%s: only %d cases are within their limits", kind, compared)
		}
	}
}

// Seed 001: the same snapshot and constraints give the same prompt, in whatever order the members of the input stand.
func TestPromptsAreByteStable(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for kind, stage := range map[string]func(canon.Value) ([]byte, error){"prompt_assembly": assemble, "working_memory": bound} {
		pipelinetest.Each(t, kind, 27, func(t *testing.T, c pipelinetest.Case) {
			first, err := stage(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				v, err := canon.ParseAs(canon.DBL, shuffled(r, nil, c.Input))
				if err != nil {
					t.Fatal(err)
				}
				if again, err := stage(v); err != nil || string(again) != string(first) {
					t.Fatalf("%v\n%s\n%s", err, again, first)
				}
			}
		})
	}
}

// shuffled appends a value with the members of every object in another order.
func shuffled(r *rand.Rand, dst []byte, v canon.Value) []byte {
	switch v.Kind() {
	case canon.Object:
		members := slices.Clone(v.Members())
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(canon.QuoteASCII(dst, []byte(m.Name)), ':')
			dst = shuffled(r, dst, m.Value)
		}
		return append(dst, '}')
	case canon.Array:
		dst = append(dst, '[')
		for i, e := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = shuffled(r, dst, e)
		}
		return append(dst, ']')
	}
	return append(dst, v.Raw()...)
}

// A line of 10 MB, 100,000 memories of each kind and 100,000 constraints take a time that grows with their size alone.
func TestLargeSnapshotsAreBoundedInTime(t *testing.T) {
	many := func(text string) []string { return slices.Repeat([]string{text}, 100_000) }
	s := pipeline.Snapshot{
		SystemPrompt: "S", PlayerInput: "I", Facts: many("fact"), World: many("a=b"), Episodes: many("episode"), Beliefs: many("belief"),
		Dialogue: append(many("A: b"), strings.Repeat("é", 5<<20)), References: many("line"),
	}
	for i := range 100_000 {
		id := strconv.Itoa(i)
		s.Constraints = append(s.Constraints, pipeline.Constraint{ID: &id, Type: pipeline.Requirement})
	}
	var failures []pipeline.Failure
	for _, c := range s.Constraints {
		failures = append(failures, pipeline.Failure{Reason: "RequirementNotMet", ViolatedRule: c.ID})
	}
	c := pipeline.DefaultBoundConfig()
	c.MaxDialogueExchanges, c.MaxEpisodes, c.MaxBeliefs, c.MaxCharacters = 1<<30, 1<<30, 1<<30, 13_000_000
	start := time.Now()
	for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
		m := pipeline.Bound(s, c, v)
		if !m.Truncated || len(m.Facts) != 100_000 {
			t.Fatalf("%s: truncated %v, %d facts", v, m.Truncated, len(m.Facts))
		}
		r := pipeline.DefaultRetryPolicy().Next(m.Snapshot, failures, s.Dialogue[100_000])
		if len(r.Added) != 100_000 {
			t.Fatalf("%s: %d constraints added", v, len(r.Added))
		}
		m.Snapshot = r.Snapshot
		turn := pipeline.Turn{Feedback: r.Feedback}
		plain := pipeline.Assemble(m, turn, pipeline.DefaultAssembleConfig())
		cached := pipeline.AssembleCached(m, turn, pipeline.DefaultAssembleConfig(), pipeline.AfterFacts)
		structured := pipeline.AssembleStructured(s, nil, pipeline.DefaultAssembleConfig(), pipeline.DefaultStructuredConfig())
		if plain.Breakdown.Total() != plain.Characters || cached.Text == "" || structured.Characters < 10<<20/2 {
			t.Fatalf("%s: %d characters, %d counted", v, plain.Characters, plain.Breakdown.Total())
		}
	}
	if took := time.Since(start); took > 60*time.Second {
		t.Errorf("took %s", took)
	}
}

// Halves of a surrogate pair that stand in two texts are one character where the prompt brings them together.
func TestHalvesOfAPairMeetInThePrompt(t *testing.T) {
	format, err := pipeline.ParseFormat("\xed\xa0\xbd{0}")
	if err != nil {
		t.Fatal(err)
	}
	c := pipeline.DefaultAssembleConfig()
	c.PlayerInput = format
	p := pipeline.AssembleMinimal("", "\xed\xb8\x80", nil, c)
	if p.Text != "\U0001F600\nNPC:" || p.Characters != 7 {
		t.Errorf("%q, %d characters", p.Text, p.Characters)
	}
}
