package verify

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// histories are the events of each thread so far, in places: their payloads are read again where one is needed.
type histories struct {
	memory    *record
	payload   func(position int) ([]byte, error)
	turns     bool // the events of each turn are wanted
	ofThreads map[int32]*history
	intent    reader // of the turn at work
	found     reader // of the event that was found last
}

// reader reads one payload after the other into the same memory. The one before is void.
type reader struct{ parser canon.Parser }

// read is [thread.Read]: what the parser refuses may be what the gateway tolerates.
func (r *reader) read(raw []byte) (canon.Value, error) {
	r.parser.Reset(raw, 0)
	v, err := r.parser.Value()
	if err != nil || r.parser.End() != nil {
		return thread.Read(raw)
	}
	return v, nil
}

// history is one thread as references are resolved against it. It implements [thread.History].
type history struct {
	of            *histories
	byCorrelation map[int32]int32
	byTurn        map[int32]int32
	turns         []int32
	ofTurn        map[int32][]int32
}

func newHistories(memory *record, payload func(int) ([]byte, error), turns bool) *histories {
	return &histories{memory: memory, payload: payload, turns: turns, ofThreads: map[int32]*history{}}
}

// append adds the next event and gives the history of its thread.
func (h *histories) append(position int32) *history {
	r := h.memory.row(int(position))
	key := h.memory.key(r)
	log := h.ofThreads[key.thread]
	if log == nil {
		log = &history{of: h, byCorrelation: map[int32]int32{}, byTurn: map[int32]int32{}, ofTurn: map[int32][]int32{}}
		h.ofThreads[key.thread] = log
	}
	handle := r.kind == intentRow && h.memory.text(r.intentType) == artifactHandle
	log.enter(log.byCorrelation, key.correlation, position, handle)
	log.enter(log.byTurn, key.turn, position, handle)
	if h.turns {
		if len(log.ofTurn[key.turn]) == 0 {
			log.turns = append(log.turns, key.turn)
		}
		log.ofTurn[key.turn] = append(log.ofTurn[key.turn], position)
	}
	return log
}

// enter indexes an event by an id: the first counts, but the last handle beats all others. Empty ids name nothing (X1).
func (h *history) enter(index map[int32]int32, id, position int32, overwrite bool) {
	if _, taken := index[id]; (!taken || overwrite) && h.of.memory.text(id) != "" {
		index[id] = position
	}
}

// Find gives the event that a reference names (X1). The error is the source's.
func (h *history) Find(id string) (thread.Event, bool, error) {
	known, ok := h.of.memory.ids[id]
	if !ok {
		return thread.Event{}, false, nil
	}
	position, ok := h.byCorrelation[known]
	if !ok {
		position, ok = h.byTurn[known]
	}
	if !ok {
		return thread.Event{}, false, nil
	}
	e, err := h.event(position)
	if len(e.Payload) > 0 {
		e.Document, _ = h.of.found.read(e.Payload) // an error is met again by who reads it
	}
	return e, err == nil, err
}

// Edges gives the events of the first and of the last n turns, in stream order. The error is the source's.
func (h *history) Edges(n int) ([]thread.Event, error) {
	var places []int32
	for i, turn := range h.turns {
		if i == 0 || i >= len(h.turns)-n {
			places = append(places, h.ofTurn[turn]...)
		}
	}
	slices.Sort(places)
	events := make([]thread.Event, len(places))
	for i, position := range places {
		var err error
		if events[i], err = h.event(position); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// event gives an event as far as a context is made of it.
func (h *history) event(position int32) (thread.Event, error) {
	m, r := h.of.memory, h.of.memory.row(int(position))
	key := m.key(r)
	e := thread.Event{
		Index: int(r.index), Kind: rowKinds[r.kind], ThreadID: m.text(key.thread), TurnID: m.text(key.turn),
		CorrelationID: m.text(key.correlation), IntentType: m.text(r.intentType), Digest: m.spell(r.digest),
	}
	if r.kind != intentRow && r.kind != executionRow {
		return e, nil // nothing of its payload reaches a context
	}
	var err error
	e.Payload, err = h.of.payload(int(position))
	return e, err
}
