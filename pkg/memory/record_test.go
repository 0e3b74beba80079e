package memory_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// M11: each kind is a record and comes back whole.
func TestRecordsAreTheEntries(t *testing.T) {
	for _, r := range full().Records() {
		w := document.NewWriter(document.Style{})
		memory.WriteRecord(w, "", r)
		o := open(t, string(w.Bytes()))
		got := memory.ReadRecord(o)
		if err := o.Err(); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", w.Bytes(), err, got, r)
		}
	}
}

// M11: the canonical members, by hand.
func TestTheFormOfARecord(t *testing.T) {
	w := document.NewWriter(document.Style{})
	s := full()
	memory.WriteRecord(w, "", s.World[0].Record())
	want := `{"record_id":"door","record_type":"world","namespace":"town","scope":"npc","tags":["b","a"],"trust":32,` +
		`"expires_at_ticks":638400000000000200,"created_at_ticks":638400000000000002,"sequence_number":2,"source":75,` +
		`"content":{"Id":"w1","Value":"open","Category":"category of w1","ModifiedAtTicks":638400000000000009,"ModificationCount":4}}`
	if string(w.Bytes()) != want {
		t.Errorf("got\n%s\nwant\n%s", w.Bytes(), want)
	}
}

// M11: what a record does not say is as in a new entry.
func TestAShortRecordIsANewEntry(t *testing.T) {
	o := open(t, `{"persona_id":"p","records":[
		{"record_type":"episodic","created_at_ticks":1,"sequence_number":3,"source":50,"content":{"Description":"x"}},
		{"record_type":"belief","created_at_ticks":1,"sequence_number":2,"source":50,"content":{}}]}`)
	got := memory.ReadSnapshot(o)
	want := memory.State{PersonaID: "p", NextSequence: 4, Episodes: []memory.Episode{memory.NewEpisode("x")}, Beliefs: []memory.Belief{memory.NewBelief("", "")}}
	want.Episodes[0].Entry = memory.Entry{CreatedAt: 1, Sequence: 3, Source: 50}
	want.Beliefs[0].Entry = memory.Entry{CreatedAt: 1, Sequence: 2, Source: 50}
	if err := o.Err(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %+v", err, got)
	}
}

// P2(i): what is digested of a record that was read is what the entry stores, so both have one digest.
func TestAReadRecordIsAsItsEntryWritesIt(t *testing.T) {
	o := open(t, `{"record_type":"episodic","created_at_ticks":1,"sequence_number":1,"source":50,"content":{"Strength":0.12345650000001}}`)
	got := memory.ReadRecord(o)
	want := `{"Description":"","EpisodeType":0,"Significance":0.5,"Strength":0.123457,"GameTime":0}`
	if o.Err() != nil || string(got.Content) != want {
		t.Errorf("%v: %s", o.Err(), got.Content)
	}
}

func TestABadRecordSaysWhere(t *testing.T) {
	record := func(kind, content, more string) string {
		return `{"record_type":"` + kind + `","created_at_ticks":1,"sequence_number":1,"source":50,"content":` + content + more + `}`
	}
	tests := []struct{ records, want string }{
		{`{}`, "at /records/0/record_type: is missing"},
		{record("", `{}`, ""), "at /records/0/record_type: must not be empty"},
		{record("note", `[]`, ""), "at /records/0/content: expected object, found array"},
		{record("note", `{}`, `,"trsut":1`), "at /records/0/trsut: is no member that is known here"},
		{record("note", `{}`, `,"trust":-1`), "at /records/0/trust: expected 0 to 100"},
		{strings.Replace(record("note", `{}`, ""), `:50`, `:101`, 1), "at /records/0/source: expected 0 to 100"},
		{record("episodic", `{"Description":"x","Mood":1}`, ""), "at /records/0/content/Mood: is no member that is known here"},
		{record("episodic", `{"Strength":"1"}`, ""), "at /records/0/content/Strength: expected number, found string"},
		{record("note", `{}`, "") + "," + record("note", `{}`, ""), "at /records: the sequence number 1 is there twice"},
	}
	for _, tt := range tests {
		o := open(t, `{"records":[`+tt.records+`]}`)
		memory.ReadSnapshot(o)
		if err := o.Err(); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.records, err, tt.want)
		}
	}
}

func TestABadWriteSaysWhere(t *testing.T) {
	record := `"record":{"record_type":"note","created_at_ticks":1,"sequence_number":1,"source":50,"content":{}}`
	tests := []struct{ write, want string }{
		{`{"op":"upsert",` + record + `}`, "at /writes/0/op: \"upsert\" is none of append, put, delete"},
		{`{"op":"",` + record + `}`, "at /writes/0/op: must not be empty"},
		{`{"op":"put"}`, "at /writes/0/record: is missing"},
		{`{"op":"put",` + record + `,"at":1}`, "at /writes/0/at: is no member that is known here"},
	}
	for _, tt := range tests {
		o := open(t, `{"writes":[`+tt.write+`]}`)
		memory.ReadWrites(o, "writes")
		if err := o.Err(); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.write, err, tt.want)
		}
	}
}

// llamabrain.md §0: half a surrogate pair is U+FFFD where a text is written as UTF-8.
func TestHalfAPairIsReplacedInARecord(t *testing.T) {
	half := memory.State{Facts: []memory.Fact{{Text: "a\xed\xa0\xbd"}}}
	whole := memory.State{Facts: []memory.Fact{{Text: "a\ufffd"}}}
	if digest(t, half) != digest(t, whole) {
		t.Error("two digests")
	}
}

func TestADigestNeedsJSONOfTheProfile(t *testing.T) {
	s := memory.State{Others: []memory.Record{{Type: "note", Content: []byte(`{"a":"\ud83d"}`)}}}
	if _, err := s.Digest(); err == nil {
		t.Error("half a pair in a foreign record has a digest")
	}
	if _, err := memory.Merge(memory.State{}, memory.State{Others: []memory.Record{{Entry: numbered(1), Type: "note", Content: []byte(`{`)}}}); err == nil {
		t.Error("a record that is no JSON was merged")
	}
}
