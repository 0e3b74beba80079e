package memory_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

func readPersona(src []byte, v memory.Version) (memory.State, bool) {
	doc, err := canon.ParseAs(canon.DBL, src)
	if err != nil {
		return memory.State{}, false
	}
	o := document.Open(doc)
	s := memory.ReadState(o, v)
	if o.Err() != nil {
		return s, false
	}
	s, err = memory.Load(s, v)
	return s, err == nil
}

// llamabrain.md §9: hashes of texts.
func TestHashVectors(t *testing.T) {
	pipelinetest.Each(t, "hash", 8, func(t *testing.T, c pipelinetest.Case) {
		sum := memory.HashText(document.Open(c.Input).Text("input", ""))
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			w.Text("base64", canon.Base64.Spell(sum))
			w.Text("hex", sum.Hex())
			w.Text("prefix8", canon.HexPrefix(8).Spell(sum))
			w.Text("prefix16", canon.HexPrefix(16).Spell(sum))
		})
		pipelinetest.Compare(t, w.Bytes(), c.Expected)
	})
}

// Seed 001, test D: a state that is written and read again is the same state, with the same digest.
func TestAReloadedStateIsTheSameState(t *testing.T) {
	s := must[memory.State](t)(memory.Load(full(), memory.DMPLv1))
	w := document.NewWriter(document.Style{})
	w.Object("", func() { memory.WriteSnapshot(w, s) })
	o := open(t, string(w.Bytes()))
	again := memory.ReadSnapshot(o)
	if err := o.Err(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, s) || digest(t, again) != digest(t, s) {
		t.Errorf("got\n%s\nwant\n%s", show(t, again), show(t, s))
	}
}

// Seed 001, test D, M9: also where the entry with the highest number is gone.
func TestAStateWithoutItsLastEntryComesBack(t *testing.T) {
	start := full()
	start.Others = nil
	y := system(t, start)
	must[memory.Episode](t)(y.AddEpisodic(memory.Episode{Strength: 0.01}, memory.ValidatedOutput))
	for _, forget := range []func(){func() {}, y.Decay} {
		forget()
		s := y.State()
		again, ok := readPersona([]byte(writePersona(s, memory.DMPLv1)), memory.DMPLv1)
		if !ok || digest(t, again) != digest(t, s) {
			t.Fatalf("got\n%s\nwant\n%s", show(t, again), show(t, s))
		}
	}
	if got := y.State(); got.NextSequence != 7 {
		t.Errorf("the entry 7 is gone, and the next number is %d", got.NextSequence)
	}
}

// Seed 001, test B: the order in which entries stand in memory is in no digest, hash or loaded state.
func TestTheOrderOfInsertionIsInNoDigest(t *testing.T) {
	s := many(64)
	want, hash := must[memory.State](t)(memory.Load(s, memory.DMPLv1)), s.Hash()
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r.Shuffle(len(s.Facts), func(i, j int) { s.Facts[i], s.Facts[j] = s.Facts[j], s.Facts[i] })
		r.Shuffle(len(s.World), func(i, j int) { s.World[i], s.World[j] = s.World[j], s.World[i] })
		r.Shuffle(len(s.Episodes), func(i, j int) { s.Episodes[i], s.Episodes[j] = s.Episodes[j], s.Episodes[i] })
		r.Shuffle(len(s.Beliefs), func(i, j int) { s.Beliefs[i], s.Beliefs[j] = s.Beliefs[j], s.Beliefs[i] })
		if digest(t, s) != digest(t, want) || s.Hash() != hash {
			t.Fatal("another order, another digest")
		}
		if got := must[memory.State](t)(memory.Load(s, memory.DMPLv1)); !reflect.DeepEqual(got, want) {
			t.Fatal("another order, another state")
		}
	}
}

// P2(g): nothing is left out of the state digest. Every member of every entry is changed alone.
func TestEveryMemberIsInTheStateDigest(t *testing.T) {
	want := digest(t, full())
	changed := 0
	for i := 0; ; i++ {
		s := full()
		place := i
		path := changeLeaf(reflect.ValueOf(&s).Elem(), "state", &place)
		if path == "" {
			break
		}
		changed++
		if digest(t, s) == want {
			t.Errorf("%s is not in the digest", path)
		}
	}
	if changed < 60 {
		t.Errorf("%d members were changed", changed)
	}
}

// changeLeaf changes the nth value below v and gives its place, or "" where there are fewer.
func changeLeaf(v reflect.Value, path string, n *int) string {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[memory.Record]() && v.Type().Field(i).Name == "Content" {
				continue // a document: its members are not values of Go
			}
			if p := changeLeaf(v.Field(i), path+"."+v.Type().Field(i).Name, n); p != "" {
				return p
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if p := changeLeaf(v.Index(i), path, n); p != "" {
				return p
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return changeLeaf(v.Elem(), path, n)
		}
	default:
		if *n--; *n >= 0 {
			return ""
		}
		changeValue(v)
		return path
	}
	return ""
}

func changeValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "!")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.000001)
	default:
		v.SetInt(v.Int() + 1)
	}
}

// P2(g), P2(i): json-v1 would round a binary32 value; the digest of a state under llamabrain-v1 tells two such apart.
func TestTheDigestKeepsRealsThatAreNoMultiplesOfAMillionth(t *testing.T) {
	state := func(strength float32) memory.State {
		return memory.State{Episodes: []memory.Episode{{Strength: float64(strength)}}}
	}
	x := float32(0.84999996)
	if digest(t, state(x)) == digest(t, state(math.Nextafter32(x, 1))) {
		t.Error("two strengths, one digest")
	}
}

func TestNumbersRound(t *testing.T) {
	tests := []struct {
		n       memory.Numbers
		x, want float64
	}{
		{memory.Micros, 0.0000005, 0},
		{memory.Micros, 0.0000015, 0.000002},
		{memory.Micros, 0.0000025, 0.000002},
		{memory.Micros, 1.0 / 3, 0.333333},
		{memory.Micros, -0.1234567, -0.123457},
		{memory.Micros, 1e308, 1e308},
		{memory.Micros, 8589934592.1234567, 8589934592.1234567},
		{memory.Binary32, 0.1, float64(float32(0.1))},
	}
	for _, tt := range tests {
		if got := tt.n.Round(tt.x); got != tt.want || tt.n.Round(got) != got {
			t.Errorf("Round(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
	if x := memory.Micros.Round(-1e-9); math.Signbit(x) {
		t.Error("a stored zero has a sign")
	}
}

func TestVersionsHaveNames(t *testing.T) {
	for _, v := range []memory.Version{memory.DMPLv1, memory.LlamaBrainV1} {
		if got, err := memory.ParseVersion(v.String()); err != nil || got != v {
			t.Errorf("%s: %v, %v", v, got, err)
		}
	}
	if _, err := memory.ParseVersion("dmpl-v2"); err == nil {
		t.Error("an unknown version was taken")
	}
}
