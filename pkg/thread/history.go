package thread

// History is what the references of one turn are resolved against: the events up to and including its INTENT.
type History interface {
	// Find gives the event that a reference names: by correlation id first, then by turn id (X1). Of several the first
	// counts, but the last INTENT of type artifact.handle beats them. It is false where no event has the id.
	Find(id string) (Event, bool, error)
	// Edges gives the events of the first turn and of the last n turns, in stream order. Turns are ordered by their first event.
	Edges(n int) ([]Event, error)
}

// Log is a History in memory. The zero value is empty and ready.
type Log struct {
	events        []Event
	byCorrelation map[string]int
	byTurn        map[string]int
	turns         []string
	ofTurn        map[string][]int
}

// NewLog gives the history of events in stream order.
func NewLog(events ...Event) *Log {
	var l Log
	for _, e := range events {
		l.Append(e)
	}
	return &l
}

// Append adds the next event of the stream.
func (l *Log) Append(e Event) {
	if l.ofTurn == nil {
		l.byCorrelation, l.byTurn, l.ofTurn = map[string]int{}, map[string]int{}, map[string][]int{}
	}
	at := len(l.events)
	l.events = append(l.events, e)
	enter(l.byCorrelation, e.CorrelationID, at, isHandle(e))
	enter(l.byTurn, e.TurnID, at, isHandle(e))
	if len(l.ofTurn[e.TurnID]) == 0 {
		l.turns = append(l.turns, e.TurnID)
	}
	l.ofTurn[e.TurnID] = append(l.ofTurn[e.TurnID], at)
}

// enter indexes an event by an id. Empty ids name nothing.
func enter(index map[string]int, id string, at int, overwrite bool) {
	if _, taken := index[id]; id != "" && (!taken || overwrite) {
		index[id] = at
	}
}

func isHandle(e Event) bool { return e.Kind == Intent && e.IntentType == artifactHandle }

// Find gives the event that a reference names, as History wants it; the error is always nil.
func (l *Log) Find(id string) (Event, bool, error) {
	at, ok := l.byCorrelation[id]
	if !ok {
		at, ok = l.byTurn[id]
	}
	if !ok {
		return Event{}, false, nil
	}
	return l.events[at], true, nil
}

// Edges gives the events of the first turn and of the last n turns, as History wants it; the error is always nil.
func (l *Log) Edges(n int) ([]Event, error) {
	chosen := map[string]bool{}
	for i, turn := range l.turns {
		chosen[turn] = i == 0 || i >= len(l.turns)-n
	}
	var events []Event
	for _, e := range l.events {
		if chosen[e.TurnID] {
			events = append(events, e)
		}
	}
	return events, nil
}
