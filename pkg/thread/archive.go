package thread

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sort"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Archive is the history of all threads of a stream in little memory: it keeps no payload, and where one is needed it is
// asked for again. The zero value is empty and ready.
type Archive struct {
	rows    [][]archived
	ids     map[string]int32
	texts   []string
	named   map[archiveKey]int32   // first position of an id in a thread
	handles map[archiveKey][]int32 // positions of handles of an id in a thread
	threads map[int32][]int32      // first positions of the turns of a thread, ascending
	latest  map[archiveKey]int32   // last position of a turn
}

// archived is what is kept of an event.
type archived struct {
	digest                                canon.Sum
	index                                 int32
	thread, turn, correlation, intentType int32 // ids of texts
	next                                  int32 // position of the next event of the turn; 0 for none
	kind                                  int32 // id of a text
	spelled                               bool  // the digest is `sha256:` and lowercase digits; else its sum holds the id of a text
}

// archiveKey names what has an id, or the events of a turn, in a thread.
type archiveKey struct {
	thread, id int32
	of         archiveIndex
}

type archiveIndex int8

const (
	ofCorrelation archiveIndex = iota
	ofTurn
)

// archiveChunk is how many rows are allocated at once: a slice that grew would be there twice while it grows.
const archiveChunk = 1 << 12

// Count gives the number of events.
func (a *Archive) Count() int {
	if len(a.rows) == 0 {
		return 0
	}
	return (len(a.rows)-1)*archiveChunk + len(a.rows[len(a.rows)-1])
}

func (a *Archive) row(position int32) *archived {
	return &a.rows[position/archiveChunk][position%archiveChunk]
}

// Add takes the next event of the stream.
func (a *Archive) Add(e Event) {
	if a.ids == nil {
		a.ids, a.named, a.handles = map[string]int32{}, map[archiveKey]int32{}, map[archiveKey][]int32{}
		a.threads, a.latest = map[int32][]int32{}, map[archiveKey]int32{}
	}
	position := int32(a.Count())
	r := archived{
		index: int32(e.Index), thread: a.id(e.ThreadID), turn: a.id(e.TurnID), correlation: a.id(e.CorrelationID),
		intentType: a.id(e.IntentType), kind: a.id(string(e.Kind)),
	}
	r.digest, r.spelled = a.digest(e.Digest)
	if position%archiveChunk == 0 {
		a.rows = append(a.rows, make([]archived, 0, archiveChunk))
	}
	last := len(a.rows) - 1
	a.rows[last] = append(a.rows[last], r)
	a.enter(archiveKey{r.thread, r.correlation, ofCorrelation}, e.CorrelationID, position, isHandle(e))
	a.enter(archiveKey{r.thread, r.turn, ofTurn}, e.TurnID, position, isHandle(e))
	turn := archiveKey{r.thread, r.turn, ofTurn}
	if before, ok := a.latest[turn]; ok {
		a.row(before).next = position
	} else {
		a.threads[r.thread] = append(a.threads[r.thread], position)
	}
	a.latest[turn] = position
}

// enter indexes an event by an id. Empty ids name nothing (X1).
func (a *Archive) enter(key archiveKey, id string, position int32, handle bool) {
	if id == "" {
		return
	}
	if _, taken := a.named[key]; !taken {
		a.named[key] = position
	}
	if handle {
		a.handles[key] = append(a.handles[key], position)
	}
}

// id gives the number of a text, always the same for the same text.
func (a *Archive) id(text string) int32 {
	if id, ok := a.ids[text]; ok {
		return id
	}
	text = strings.Clone(text)
	id := int32(len(a.texts))
	a.ids[text], a.texts = id, append(a.texts, text)
	return id
}

const archivePrefix = "sha256:"

// digest keeps a digest in as few bytes as will do.
func (a *Archive) digest(text string) (sum canon.Sum, spelled bool) {
	if digits, ok := canon.ParseDigest(text); ok && len(text) == len(archivePrefix)+len(digits) {
		_, err := hex.Decode(sum[:], []byte(digits))
		return sum, err == nil
	}
	binary.LittleEndian.PutUint32(sum[:], uint32(a.id(text)))
	return sum, false
}

func (r *archived) spell(a *Archive) string {
	if r.spelled {
		return archivePrefix + r.digest.Hex()
	}
	return a.texts[binary.LittleEndian.Uint32(r.digest[:])]
}

// History gives the thread of the event at a position, up to and including that event. Payload reads the payload of an event
// again; its errors are those of the History.
func (a *Archive) History(position int, payload func(position int) ([]byte, error)) History {
	return archiveHistory{a, int32(position), payload}
}

type archiveHistory struct {
	of      *Archive
	last    int32
	payload func(position int) ([]byte, error)
}

// Find gives the event that a reference names, as History wants it.
func (h archiveHistory) Find(id string) (Event, bool, error) {
	number, ok := h.of.ids[id]
	if !ok {
		return Event{}, false, nil
	}
	for _, index := range []archiveIndex{ofCorrelation, ofTurn} {
		if position, ok := h.find(archiveKey{h.of.row(h.last).thread, number, index}); ok {
			e, err := h.event(position)
			return e, err == nil, err
		}
	}
	return Event{}, false, nil
}

// find gives the first event of an id, or the last handle, which beats it (X1).
func (h archiveHistory) find(key archiveKey) (int32, bool) {
	handles := h.of.handles[key]
	if n := upTo(handles, h.last); n > 0 {
		return handles[n-1], true
	}
	position, ok := h.of.named[key]
	return position, ok && position <= h.last
}

// upTo counts the positions that are at most last.
func upTo(positions []int32, last int32) int {
	return sort.Search(len(positions), func(i int) bool { return positions[i] > last })
}

// Edges gives the events of the first turn and of the last n turns, as History wants it.
func (h archiveHistory) Edges(n int) ([]Event, error) {
	turns := h.of.threads[h.of.row(h.last).thread]
	turns = turns[:upTo(turns, h.last)]
	var positions []int32
	for i, first := range turns {
		if i > 0 && i < len(turns)-n {
			continue
		}
		for position := first; position <= h.last; {
			positions = append(positions, position)
			next := h.of.row(position).next
			if next == 0 {
				break
			}
			position = next
		}
	}
	slices.Sort(positions)
	events := make([]Event, len(positions))
	for i, position := range positions {
		var err error
		if events[i], err = h.event(position); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// event gives an event as far as a context is made of it.
func (h archiveHistory) event(position int32) (Event, error) {
	a, r := h.of, h.of.row(position)
	e := Event{
		Index: int(r.index), Kind: Kind(a.texts[r.kind]), ThreadID: a.texts[r.thread], TurnID: a.texts[r.turn],
		CorrelationID: a.texts[r.correlation], IntentType: a.texts[r.intentType], Digest: r.spell(a),
	}
	if e.Kind != Intent && e.Kind != Execution {
		return e, nil // nothing of its payload reaches a context
	}
	var err error
	e.Payload, err = h.payload(int(position))
	return e, err
}
