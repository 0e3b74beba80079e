package pipeline_test

import (
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// told is what a turn gave, and the records and digests that are written of it.
type told struct {
	result  pipeline.TurnResult
	rows    []string
	digests []string
}

// writers are the writers of a run, by kind.
type writers [4]pipeline.RecordWriter

func tell(t *testing.T, scene *pipeline.Scene, rows *writers, y *memory.System, in pipeline.TurnInput, c pipeline.TurnConfig, answers []pipeline.Answer, v pipeline.Version) told {
	t.Helper()
	d, err := scene.Open(func(pipeline.Dispatched) {})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r, err := pipeline.RunTurn(y, &in, &c, pipeline.Recorded(answers), d, v)
	if err != nil {
		t.Fatal(err)
	}
	of := told{result: *r}
	for i, kind := range r.Retrieval.Kinds() {
		w := document.NewWriter(document.Style{})
		w.Object("", func() { rows[i].Write(w, "selected_records", kind) })
		of.rows = append(of.rows, string(w.Bytes()))
	}
	for i := range r.Attempts {
		d, err := r.Attempts[i].Digests()
		of.digests = append(of.digests, fmt.Sprintf("%x %x %x %v", d.Prompt, d.Parse, d.Gate, err))
	}
	return of
}

// A run keeps what it worked out for the turns before. A turn in a run gives what it gives alone, whatever of memory, query,
// policies and version has changed since the turn before.
func TestATurnInARunIsThatTurnAlone(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	pick := func(texts ...string) string { return texts[random.Intn(len(texts))] }
	kept, lists := village(), village()
	kept.Episodes[1].Description = "Dragon, dragon and DRAG\u00d4N of drag\u00f4n KIND player"
	var scene pipeline.Scene
	var rows writers
	system := memory.NewSystem(pipeline.DMPLv1, village(), memory.At(noon), nil)
	seen := map[string]int{}
	for n := range 800 {
		in, c, v := turnInput(), turnConfig(), pipeline.DMPLv1
		in.Query.SnapshotTime = noon + int64(n)*36_000_000_000
		in.Query.PlayerInput = pick("What of the dragon?", "Who is KIND, player player?", "a sword or a Dragon", "", "of it", "Was it the drag\u00d4n or the DRAG\u00d4N?")
		in.Constraints = in.Constraints[:random.Intn(2)]
		if random.Intn(3) == 0 {
			in.Query.Topics = []string{pick("dragon", "door", "", "arthur")}
		}
		c.Retrieval.IncludeContradicted = random.Intn(2) == 0
		c.Retrieval.MaxBeliefs, c.Retrieval.MaxEpisodes = random.Intn(4), random.Intn(4)
		if random.Intn(4) == 0 {
			p := pipeline.DefaultRetrievalPolicies(v)
			p.Beliefs.Order, p.Episodes.Order = pipeline.OrderScoreID, pipeline.OrderID
			p.Facts.Filters.TTL = random.Intn(2) == 0
			c.Policies = &p
		}
		if c.Policies != nil && random.Intn(2) == 0 {
			c.Policies.Facts.Order = pipeline.OrderScoreID
			in.Query.Candidates.Facts = []pipeline.Candidate{{RecordID: "king", Score: 0.25}, {RecordID: "nobody", Score: 1}}
		}
		answers := []pipeline.Answer{{Text: pick("Good day.", "I want gold.", "The king isn't named Arthur.", "never the king is named arthur, and dragons breathe fire",
			"[MEMORY: asked of drag\u00d4ns] [BELIEF: the player is no dragon] Good day.")}, {Text: "Good day."}, {Text: "Good day."}}
		if random.Intn(8) == 0 && c.Policies == nil {
			v = pipeline.LlamaBrainV1
		}
		// The memory: one that turns change, one that stays, and one whose lists are of the same length and other content.
		clock, ids := memory.At(in.Query.SnapshotTime), func() string { return "id" }
		alone := memory.NewSystem(v, kept, clock, ids)
		inRun := memory.NewSystem(v, kept, clock, ids)
		which := random.Intn(4)
		if n%20 >= 10 { // the turns that an index needs
			which = 3
		}
		switch {
		case which == 0 && v == pipeline.DMPLv1:
			inRun = system
			alone = memory.NewSystem(v, system.State(), memory.At(noon), nil)
			seen["changing"]++
		case which == 1:
			lists = village()
			text := pick("the player is a dragon", "the player is kind", "everybody is kind to the player")
			lists.Beliefs[0].Content, lists.Beliefs[0].Contradicted = text, random.Intn(2) == 0
			lists.Beliefs[0].Confidence, lists.Episodes[0].Description = []float64{0.1, 0.4, 0.9}[random.Intn(3)], text
			lists.Facts[0].Text, lists.Facts[1].ID = pick("The king is named Bors", "Gold is bad, never bad"), pick("fire", "water")
			lists.World[0].Value, lists.Episodes[1].Sequence = pick("open", "shut"), int64(5+random.Intn(2)*20)
			if random.Intn(2) == 0 {
				at := in.Query.SnapshotTime
				lists.Facts[0].ExpiresAt = &at
			}
			alone, inRun = memory.NewSystem(v, lists, clock, ids), memory.NewSystem(v, lists, clock, ids)
			seen["other"]++
		default:
			seen["same"]++
		}
		var own pipeline.Scene
		var ownRows writers
		want := tell(t, &own, &ownRows, alone, in, c, answers, v)
		if got := tell(t, &scene, &rows, inRun, in, c, answers, v); !reflect.DeepEqual(got, want) {
			t.Fatalf("turn %d of the run gave\n%+v\nalone it gives\n%+v", n, got, want)
		}
	}
	if seen["changing"] < 50 || seen["other"] < 50 || seen["same"] < 50 {
		t.Fatalf("too few turns of a kind: %v", seen)
	}
}

// Only of so many records are the words kept; the others are written the same.
func TestRecordsBeyondThoseThatAreKeptAreWrittenAlike(t *testing.T) {
	s := manyMemories(0, 5000, 0)
	c := pipeline.DefaultRetrievalConfig()
	c.MaxBeliefs = 5000
	r := retrieve(t, s, pipeline.Query{PlayerInput: "the silver ring"}, c, nil)
	write := func(rows *pipeline.RecordWriter) string {
		w := document.NewWriter(document.Style{})
		w.Object("", func() { rows.Write(w, "selected_records", &r.Beliefs) })
		return string(w.Bytes())
	}
	var rows pipeline.RecordWriter
	first, again := write(&rows), write(&rows)
	plain := document.NewWriter(document.Style{})
	plain.Object("", func() {
		plain.List("selected_records", func() {
			for i, m := range r.Beliefs.Ranked {
				plain.Object("", func() {
					plain.Text("record_id", m.RecordID)
					plain.Text("record_type", "belief")
					plain.Real("score", m.Score)
					plain.Integer("rank", int64(i+1))
					plain.Real("confidence", m.Confidence)
					plain.Integer("sequence_number", m.Sequence)
				})
			}
		})
	})
	if want := string(plain.Bytes()); len(r.Beliefs.Ranked) < 3000 || first != want || again != want {
		t.Errorf("%d records are written as %d bytes, then %d, want %d", len(r.Beliefs.Ranked), len(first), len(again), len(want))
	}
}
