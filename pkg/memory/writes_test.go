package memory_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// P2(g), D7: whatever changes in an entry is written. A member that a comparison forgets would be a change that nobody sees.
func TestEveryMemberOfAnEntryIsWrittenWhenItChanges(t *testing.T) {
	before := must[memory.State](t)(memory.Load(full(), memory.DMPLv1))
	before.Others = []memory.Record{{Entry: memory.Entry{ID: "o", Sequence: 100, Source: 50, Namespace: "n", Scope: "s", Tags: []string{"a"}}, Type: "note", Content: []byte(`{"a":1}`)}}
	if list := must[[]memory.Write](t)(memory.Writes(before, before, memory.ValidatedOutput)); list != nil {
		t.Errorf("nothing changed, and the writes are %v", list)
	}
	lists := []string{"Facts", "World", "Episodes", "Beliefs", "Others"}
	members := 0
	for _, list := range lists {
		entry := reflect.ValueOf(before).FieldByName(list).Index(0)
		for _, path := range leaves(entry.Type(), nil) {
			if list == "Others" && entry.Type().FieldByIndex(path).Name == "Category" {
				continue // of LlamaBrain's kinds, which have it in their content
			}
			members++
			after := before
			changed := reflect.ValueOf(&after).Elem().FieldByName(list)
			one := reflect.New(entry.Type()).Elem()
			one.Set(entry)
			name := list + "." + entry.Type().FieldByIndex(path).Name
			one.FieldByIndex(path).Set(another(t, name, one.FieldByIndex(path)))
			changed.Set(reflect.Append(reflect.MakeSlice(changed.Type(), 0, 1), one))
			if rest := reflect.ValueOf(before).FieldByName(list); rest.Len() > 1 {
				changed.Set(reflect.AppendSlice(changed, rest.Slice(1, rest.Len())))
			}
			if list, err := memory.Writes(before, after, memory.ValidatedOutput); err != nil || len(list) == 0 {
				t.Errorf("%s changed: %d writes, %v", name, len(list), err)
			}
		}
	}
	if members < 70 {
		t.Errorf("only %d members were changed", members)
	}
}

// leaves gives the places of all members of a struct that are no structs themselves.
func leaves(s reflect.Type, at []int) [][]int {
	var list [][]int
	for i := range s.NumField() {
		place := append(slices.Clone(at), i)
		if s.Field(i).Type.Kind() == reflect.Struct {
			list = append(list, leaves(s.Field(i).Type, place)...)
			continue
		}
		list = append(list, place)
	}
	return list
}

// another gives a value that differs from the one that is there.
func another(t *testing.T, name string, v reflect.Value) reflect.Value {
	t.Helper()
	changed := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		changed.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		changed.SetInt(v.Int() + 1)
	case reflect.Float64:
		changed.SetFloat(v.Float()/2 + 0.125)
	case reflect.Bool:
		changed.SetBool(!v.Bool())
	case reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			target.Elem().Set(another(t, name, v.Elem()))
		}
		changed.Set(target)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return reflect.ValueOf([]byte(`{"a":2}`))
		}
		return reflect.Append(v, reflect.ValueOf("another"))
	default:
		t.Fatalf("%s: no other value of %s", name, v.Type())
	}
	return changed
}

// Operations leave most of a memory as it is, and what they do is found among the rest: an entry in place, one that went, one
// that came, a belief that was replaced, entries in another order.
func TestWritesFindWhatChangedAmongTheRest(t *testing.T) {
	before := must[memory.State](t)(memory.Load(many(40), memory.DMPLv1))
	after := before
	after.Episodes = slices.Clone(before.Episodes)
	after.Episodes[3].Strength = 0.25
	after.Episodes = slices.Delete(after.Episodes, 5, 8)
	fresh := memory.NewEpisode("the gate fell")
	fresh.Source, fresh.Sequence = memory.ValidatedOutput, before.NextSequence
	after.Episodes = append(after.Episodes, fresh)
	after.Beliefs = slices.Clone(before.Beliefs)
	after.Beliefs[2].Sequence, after.Beliefs[2].Content = before.NextSequence+1, "another"
	after.World = slices.Clone(before.World)
	slices.Reverse(after.World)
	var got []string
	for _, w := range must[[]memory.Write](t)(memory.Writes(before, after, memory.ValidatedOutput)) {
		got = append(got, fmt.Sprintf("%s %s %d", w.Op, w.Record.Type, w.Record.Sequence))
	}
	gone := func(i int) string { return fmt.Sprintf("delete episodic %d", before.Episodes[i].Sequence) }
	want := []string{
		gone(5), gone(6), gone(7), fmt.Sprintf("put episodic %d", before.Episodes[3].Sequence), "append episodic 0", "put belief 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
