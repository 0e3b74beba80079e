package memory_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

func writePersona(s memory.State, v memory.Version) string {
	w := document.NewWriter(v.Style())
	memory.WriteState(w, "", s, v)
	return string(w.Bytes())
}

// llamabrain.md §10: a missing number is 0, a missing text empty, a missing list none; unknown members are ignored.
func TestMissingMembersOfAPersonaAreZero(t *testing.T) {
	o := open(t, `{"Later":1,"CanonicalFacts":[{}],"WorldState":[{"Id":null}],"EpisodicMemories":[{}],"Beliefs":[{}]}`)
	got := memory.ReadState(o, memory.LlamaBrainV1)
	if err := o.Err(); err != nil {
		t.Fatal(err)
	}
	want := memory.State{
		Facts: make([]memory.Fact, 1), World: make([]memory.WorldState, 1),
		Episodes: make([]memory.Episode, 1), Beliefs: make([]memory.Belief, 1),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// P2(g), P2(i): what dmpl-v1 writes of a state is the state, with every member of M11.
func TestAPersonaOfDMPLComesBackWhole(t *testing.T) {
	s := full()
	s.Others = nil // a persona snapshot has no place for records of other types
	o := open(t, writePersona(s, memory.DMPLv1))
	got := memory.ReadState(o, memory.DMPLv1)
	if err := o.Err(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("got\n%s\nwant\n%s", show(t, got), show(t, s))
	}
}

// llamabrain.md §10: LlamaBrain's snapshot has no filters and no location, and loses episodes without strength.
func TestAPersonaOfLlamaBrainHasItsMembersAlone(t *testing.T) {
	got := writePersona(full(), memory.LlamaBrainV1)
	for _, member := range []string{"Namespace", "Scope", "Tags", "Trust", "ExpiresAtTicks", "LocationId", `"SequenceNumber":5`} {
		if strings.Contains(got, member) {
			t.Errorf("%s in %s", member, got)
		}
	}
	o := open(t, `{"EpisodicMemories":[{"Namespace":"n","Tags":7,"LocationId":"l","Strength":0.1}]}`)
	e := memory.ReadState(o, memory.LlamaBrainV1).Episodes[0]
	if o.Err() != nil || e.Namespace != "" || e.Location != nil || e.Strength != float64(float32(0.1)) {
		t.Errorf("%+v, %v", e, o.Err())
	}
}

func TestAnEmptyTagListAndATrustOfTheSourceAreTheDefault(t *testing.T) {
	o := open(t, `{"CanonicalFacts":[{"Tags":[],"Trust":75,"Source":75}]}`)
	got := memory.ReadState(o, memory.DMPLv1).Facts[0]
	if want := (memory.Fact{Entry: memory.Entry{Source: memory.GameSystem}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestABadPersonaSaysWhere(t *testing.T) {
	tests := []struct{ src, want string }{
		{`{"PersonaId":7}`, "at /PersonaId: expected string, found number"},
		{`{"CanonicalFacts":{}}`, "at /CanonicalFacts: expected array, found object"},
		{`{"CanonicalFacts":[{"Source":"Designer"}]}`, "at /CanonicalFacts/0/Source: expected number, found string"},
		{`{"Beliefs":[{},{"Confidence":1e39}]}`, "at /Beliefs/1/Confidence: expected a number in the range of binary32"},
		{`{"EpisodicMemories":[{"SequenceNumber":1.0}]}`, "at /EpisodicMemories/0/SequenceNumber: expected a whole number of 64 bits"},
	}
	for _, tt := range tests {
		o := open(t, tt.src)
		memory.ReadState(o, memory.LlamaBrainV1)
		if err := o.Err(); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.src, err, tt.want)
		}
	}
	for _, member := range []string{"Trust", "Source"} {
		o := open(t, `{"CanonicalFacts":[{"`+member+`":101}]}`)
		memory.ReadState(o, memory.DMPLv1)
		if err := o.Err(); err == nil || err.Error() != "at /CanonicalFacts/0/"+member+": expected 0 to 100" {
			t.Error(err)
		}
	}
}

// FuzzPersona: whatever can be read and loaded comes back the same from what is written of it, under both versions.
func FuzzPersona(f *testing.F) {
	f.Add([]byte(writePersona(full(), memory.DMPLv1)))
	f.Add([]byte(writePersona(many(8), memory.LlamaBrainV1)))
	f.Add([]byte(`{"EpisodicMemories":[{"Description":"\ud83d","Strength":-0.0,"GameTime":1e22,"SequenceNumber":2}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, v := range []memory.Version{memory.DMPLv1, memory.LlamaBrainV1} {
			s, ok := readPersona(src, v)
			if !ok {
				continue
			}
			text := writePersona(s, v)
			again, ok := readPersona([]byte(text), v)
			if !ok {
				t.Fatalf("%s: what was written cannot be read: %s", v, text)
			}
			if got := writePersona(again, v); got != text {
				t.Errorf("%s: got\n%s\nwant\n%s", v, got, text)
			}
			if v == memory.DMPLv1 {
				checkSnapshot(t, s, digest(t, again), text)
			}
			if v == memory.LlamaBrainV1 && again.Hash() != withStrength(s).Hash() {
				t.Errorf("the hash changed: %s", text)
			}
		}
	})
}

// checkSnapshot holds the digest of a state to one, and to that of the state when it comes back from its records. Halves
// of surrogate pairs may make two keys one there, so that it cannot be loaded.
func checkSnapshot(t *testing.T, s memory.State, want, text string) {
	t.Helper()
	o := open(t, show(t, s))
	again := memory.ReadSnapshot(o)
	if o.Err() != nil && !strings.Contains(text, `\ud`) {
		t.Fatalf("%v: %s", o.Err(), show(t, s))
	}
	if digest(t, s) != want || o.Err() == nil && digest(t, again) != want {
		t.Errorf("the digest changed: %s", text)
	}
}

// withStrength gives a state without the episodes that LlamaBrain does not save.
func withStrength(s memory.State) memory.State {
	var kept []memory.Episode
	for _, e := range s.Episodes {
		if e.Strength > 0 {
			kept = append(kept, e)
		}
	}
	s.Episodes = kept
	return s
}
