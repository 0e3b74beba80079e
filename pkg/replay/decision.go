package replay

import (
	"errors"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// intent is what is kept of an INTENT.
type intent struct {
	position             int32
	threadID, intentType string
}

// decision is what is kept of a DECISION until the contexts are built.
type decision struct {
	position int32
	asked    *intent // nil: no INTENT stands before it
	index    int
	handle   bool // the decision is about a handle
	gapped   bool // an event is missing before it
	stored   context
}

// context stands for a whole context in few bytes.
type context struct {
	content, transforms canon.Sum
	known               bool
}

const artifactHandle = "artifact.handle"

// decide keeps a decision, and finds its INTENT: a turn has one decision.
func (s *Stream) decide(e thread.Event, position int) {
	key := turnKey{e.ThreadID, e.TurnID, e.CorrelationID}
	d := decision{position: int32(position), asked: s.turns[key], index: e.Index, handle: e.IntentType == artifactHandle, gapped: s.gapped}
	delete(s.turns, key)
	if payload, err := e.Read(); err == nil {
		d.stored = s.stored(turn{payload: payload})
	}
	s.decisions = append(s.decisions, d)
}

// stored gives the context that a decision stores. It is known where nothing can be said about the decision but whether the
// same context is built again: it was made under the configuration of the replay, and states its own digest.
func (s *Stream) stored(o turn) context {
	pinned := o.text(pinAt)
	if pinned != "" && pinned != s.options.Config.Digest.String() || o.text("/boundary/context_config_digest") == sentinelOff {
		return context{}
	}
	spec, _ := o.payload.Get("context_spec")
	assembled, _ := o.payload.Get("assembled_context")
	for _, part := range []canon.Value{spec, assembled} {
		if _, ok := part.Get("_obs"); ok || part.Kind() != canon.Object {
			return context{}
		}
	}
	d, err := thread.ContextDigest(spec, assembled)
	if err != nil || d.String() != o.text("/assembly_digest") {
		return context{}
	}
	content, err := thread.Content(spec, assembled)
	if err != nil {
		return context{}
	}
	transforms, err := canon.Digest(canon.DBL, transformsOf(o.payload))
	return context{content.Sum, transforms, err == nil}
}

// equals tells that a context is the one that c stands for.
func (c context) equals(built thread.Context) bool {
	content, err := built.Content()
	if err != nil || !c.known || content.Sum != c.content {
		return false
	}
	transforms, err := canon.Digest(canon.DBL, built.Transforms())
	return err == nil && transforms == c.transforms
}

// Compare builds the context of every decision again from the events up to its INTENT, and compares. Payload reads the
// payload of an event again. The error is that of payload, or the ledger's.
func (s *Stream) Compare(payload func(position int) ([]byte, error)) error {
	for _, d := range s.decisions {
		if err := s.compareDecision(d, payload); err != nil {
			return err
		}
	}
	s.decisions = nil
	return nil
}

func (s *Stream) compareDecision(d decision, payload func(int) ([]byte, error)) error {
	var b *built
	if d.asked != nil {
		var err error
		if b, err = s.build(d.asked, payload); err != nil {
			return err
		}
	}
	t := &s.tally[0]
	if d.gapped {
		t = &s.tally[1]
	}
	if b != nil && b.err == nil && d.stored.equals(b.context) {
		t.equal++
		return nil
	}
	raw, err := payload(int(d.position))
	if err != nil {
		return err
	}
	t.judge(d, raw, b, s.options.Config.Digest.String())
	return nil
}

// build builds the context of a turn from the events up to its INTENT. The error is that of payload, or the ledger's.
func (s *Stream) build(asked *intent, payload func(int) ([]byte, error)) (*built, error) {
	small := func(position int) ([]byte, error) {
		if essence, ok := s.essences.Get(position); ok {
			return essence, nil
		}
		return payload(position)
	}
	raw, err := small(int(asked.position))
	if err != nil {
		return nil, err
	}
	read, err := thread.Read(raw)
	if err != nil {
		return &built{err: err}, nil
	}
	var history thread.History
	if s.options.Ledger != nil {
		history = s.options.Ledger.History(asked.threadID, int(asked.position))
	} else {
		history = s.archive.History(int(asked.position), small)
	}
	ctx, err := thread.Build(read, asked.intentType, s.options.Config, history, thread.Gateway)
	var ofTurn *thread.Error
	if err != nil && !errors.As(err, &ofTurn) {
		return nil, err
	}
	return &built{ctx, err}, nil
}
