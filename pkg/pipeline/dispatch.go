package pipeline

import "errors"

// Emitted are the intents that a mutation batch emitted. Nothing outside of this package can put an intent into one, so
// that what was not approved cannot be dispatched (P1, seed 001 §3).
type Emitted struct {
	npcID   string
	intents []Intent
}

// Dispatched is an intent that was given to the world.
type Dispatched struct {
	Intent
	NPCID string
}

// list gives the intents as they arrive.
func (e Emitted) list() []Dispatched {
	var list []Dispatched
	for _, i := range e.intents {
		list = append(list, Dispatched{i, e.npcID})
	}
	return list
}

// Scene holds the dispatcher of one run. P5: the seed's option A, a scene is a run: it has one dispatcher at a time, and
// nothing outlives it.
type Scene struct {
	current *Dispatcher
	ended   bool
	known   recall
}

// Dispatcher gives emitted intents to the world, as long as it is the current one of its scene.
type Dispatcher struct {
	scene  *Scene
	handle func(Dispatched)
}

// The reasons why a dispatcher does not open or dispatch.
var (
	ErrSecondDispatcher = errors.New("the run has a dispatcher already")
	ErrSceneEnded       = errors.New("the run has ended")
	ErrNotCurrent       = errors.New("the dispatcher is not the current one of its run")
)

// Open makes the dispatcher of the run, which hands each intent to handle. P5: a second one is refused while the first
// lives.
func (s *Scene) Open(handle func(Dispatched)) (*Dispatcher, error) {
	switch {
	case s.ended:
		return nil, ErrSceneEnded
	case s.current != nil:
		return nil, ErrSecondDispatcher
	}
	s.current = &Dispatcher{scene: s, handle: handle}
	return s.current, nil
}

// End ends the run, and its dispatcher with it.
func (s *Scene) End() { s.current, s.ended = nil, true }

// Close ends the dispatcher. P5: closing one that is not current changes nothing.
func (d *Dispatcher) Close() {
	if d.scene.current == d {
		d.scene.current = nil
	}
}

// Dispatch hands over what a mutation batch emitted, in order.
func (d *Dispatcher) Dispatch(e Emitted) error {
	if d.scene.current != d {
		return ErrNotCurrent
	}
	for _, i := range e.list() {
		d.handle(i)
	}
	return nil
}
