package verify

import (
	"encoding/binary"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// stated is a digest as an artifact states it, in as few bytes as will do: streams have very many.
type stated struct {
	sum  canon.Sum
	form statedForm
}

type statedForm uint8

const (
	notStated  statedForm = iota // absent or null
	prefixed                     // sha256: and 64 lowercase hex digits
	otherText                    // a text of another form; sum holds its id
	otherValue                   // no text at all
)

// row is what is kept of an event.
type row struct {
	index      int32
	turn       int32 // its number
	intentType int32 // id of a text
	digest     stated
	kind       kindOfRow
}

type kindOfRow uint8

const (
	otherRow kindOfRow = iota
	intentRow
	decisionRow
	executionRow
	proofRow
)

var rowKinds = [...]thread.Kind{"", thread.Intent, thread.Decision, thread.Execution, thread.Proof}

func rowKind(k thread.Kind) kindOfRow {
	for i, known := range rowKinds {
		if k == known && i > 0 {
			return kindOfRow(i)
		}
	}
	return otherRow
}

// turnKey names what the events of one turn have in common.
type turnKey struct{ thread, turn, correlation int32 }

// turnOnly is a turn, whatever the correlation id.
type turnOnly struct{ thread, turn int32 }

// turn is what is kept of the events of one turn and correlation id.
type turn struct {
	lane, stream, intentType, parent int32 // of its first event; parent -1 for none
	known                            bool  // the first event has come
	intent                           int32 // position of the last INTENT; -1 for none
	decision                         int32 // position of the last DECISION; -1 for none
	assembly, render, proof          stated
}

// normativeKey names an INTENT by its thread and digest.
type normativeKey struct {
	thread int32
	digest stated
}

// record is what is kept of the events so far.
type record struct {
	rows    thread.List[row]
	keys    thread.List[turnKey]  // by the number of a turn
	open    thread.List[turn]     // by the number of a turn
	moved   map[int]int32         // index to position, where they differ
	others  map[int32]thread.Kind // by position, of otherRow
	ids     map[string]int32
	texts   []string
	turns   map[turnKey]int32     // numbers
	asked   map[turnOnly]int32    // position of the last INTENT
	decided map[turnOnly]struct{} // a DECISION has come
	intents map[normativeKey]struct{}
}

func newRecord() record {
	return record{
		moved: map[int]int32{}, others: map[int32]thread.Kind{}, ids: map[string]int32{}, turns: map[turnKey]int32{},
		asked: map[turnOnly]int32{}, decided: map[turnOnly]struct{}{}, intents: map[normativeKey]struct{}{},
	}
}

// forget lets go of what only the events after an event ask for, once all are there.
func (r *record) forget() {
	r.open, r.turns, r.asked, r.decided, r.intents = thread.List[turn]{}, nil, nil, nil, nil
}

func (r *record) count() int { return r.rows.Count() }

func (r *record) row(position int) *row { return r.rows.At(position) }

// key gives what an event has in common with those of its turn.
func (r *record) key(of *row) turnKey { return *r.keys.At(int(of.turn)) }

func (r *record) append(added row) {
	if n := r.count(); int(added.index) != n {
		r.moved[int(added.index)] = int32(n)
	}
	r.rows.Add(added)
}

// atIndex gives the event of an index; nil where none has come.
func (r *record) atIndex(index int) *row {
	if position, ok := r.moved[index]; ok {
		return r.row(int(position))
	}
	if index >= 0 && index < r.count() && int(r.row(index).index) == index {
		return r.row(index)
	}
	return nil
}

// id gives the number of a text, always the same for the same text.
func (r *record) id(text string) int32 {
	if id, ok := r.ids[text]; ok {
		return id
	}
	text = strings.Clone(text)
	id := int32(len(r.texts))
	r.ids[text], r.texts = id, append(r.texts, text)
	return id
}

func (r *record) text(id int32) string { return r.texts[id] }

func (r *record) keyOf(e thread.Event) turnKey {
	return turnKey{r.id(e.ThreadID), r.id(e.TurnID), r.id(e.CorrelationID)}
}

// turnOf gives a turn and its number. The turn stands there until another one comes.
func (r *record) turnOf(key turnKey) (*turn, int32) {
	n, ok := r.turns[key]
	if !ok {
		n = int32(r.open.Count())
		r.turns[key] = n
		r.keys.Add(key)
		r.open.Add(turn{intent: -1, decision: -1})
	}
	return r.open.At(int(n)), n
}

const digestPrefix = "sha256:"

// stated keeps a digest that is written as text.
func (r *record) stated(text string) stated {
	d, ok := prefixedSum(text)
	if ok {
		return d
	}
	d = stated{form: otherText}
	binary.LittleEndian.PutUint32(d.sum[:], uint32(r.id(text)))
	return d
}

// statedIn keeps a digest that stands in a payload.
func (r *record) statedIn(v canon.Value) stated {
	if nothing(v) {
		return stated{}
	}
	text, ok := v.TextBytes()
	if !ok {
		return stated{form: otherValue}
	}
	if d, ok := prefixedSum(text); ok {
		return d
	}
	return r.stated(string(text))
}

// prefixedSum reads a digest of the form prefixed.
func prefixedSum[T string | []byte](text T) (d stated, ok bool) {
	if len(text) != len(digestPrefix)+2*len(d.sum) || string(text[:len(digestPrefix)]) != digestPrefix {
		return stated{}, false
	}
	for i := range d.sum {
		at := len(digestPrefix) + 2*i
		high, low := lowerHex[text[at]], lowerHex[text[at+1]]
		if high|low > 0xF {
			return stated{}, false
		}
		d.sum[i] = high<<4 | low
	}
	d.form = prefixed
	return d, true
}

// lowerHex is what a lowercase hex digit counts, and more than 15 for any other byte.
var lowerHex = func() (digits [256]byte) {
	for c := range digits {
		digits[c] = 0xFF
	}
	for n, c := range []byte("0123456789abcdef") {
		digits[c] = byte(n)
	}
	return digits
}()

// spell gives a stated digest as it was written; "" for none.
func (r *record) spell(d stated) string {
	switch d.form {
	case prefixed:
		return canon.PrefixedHex.Spell(d.sum)
	case otherText:
		return r.text(int32(binary.LittleEndian.Uint32(d.sum[:])))
	}
	return ""
}

func computed(d thread.Digest) stated { return stated{sum: d.Sum, form: prefixed} }

// remember keeps what later events refer to of the event at work.
func (s *Stream) remember() {
	e, r := &s.at, &s.memory
	key := e.key
	added := row{
		index: int32(e.Index), digest: e.digest, kind: rowKind(e.Kind),
		turn: e.number, intentType: r.id(e.IntentType),
	}
	position := int32(e.position)
	whole := turnOnly{key.thread, key.turn}
	switch e.Kind {
	case thread.Intent:
		e.turn.intent = position
		r.intents[normativeKey{key.thread, added.digest}] = struct{}{}
		r.asked[whole] = position
	case thread.Decision:
		s.rememberDecision(whole)
		e.turn.decision = position
		r.decided[whole] = struct{}{}
	case thread.Proof:
		if isReleaseGuard(e.payload) {
			e.turn.proof = r.statedIn(s.member("/payload_digest"))
		}
	}
	if added.kind == otherRow {
		r.others[position] = thread.Kind(strings.Clone(string(e.Kind)))
	}
	r.append(added)
}

// Events gives, in stored order, what is kept of the events: index, kind, and the ids of the turn.
func (s *Stream) Events(each func(thread.Event)) {
	r := &s.memory
	for position := range r.count() {
		of := r.row(position)
		key := r.key(of)
		e := thread.Event{
			Index: int(of.index), Kind: rowKinds[of.kind],
			ThreadID: r.text(key.thread), TurnID: r.text(key.turn), CorrelationID: r.text(key.correlation),
		}
		if of.kind == otherRow {
			e.Kind = r.others[int32(position)]
		}
		each(e)
	}
}
