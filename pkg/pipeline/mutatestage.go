package pipeline

import (
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/thread"
)

// MutateStage gives the stage that executes `approvedMutations` and emits `approvedIntents` on `state` where `gatePassed`
// says so, and dispatches what was emitted.
func MutateStage(v Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		before := readMemory(o, v)
		system := readSystem(o, before, v)
		gate := GateResult{
			Passed:            o.Bool("gatePassed", false),
			ApprovedMutations: readMutations(o, "approvedMutations", v),
			ApprovedIntents:   readIntents(o, "approvedIntents"),
		}
		c := ReadMutationConfig(o, "controllerConfig", v)
		npcID := o.Text("npcId", "")
		if err := o.Err(); err != nil {
			return nil, err
		}
		var preflight []string
		for _, m := range gate.ApprovedMutations {
			preflight = append(preflight, Preflight(m, system))
		}
		batch := Mutate(system, &gate, npcID, c, v)
		heard, err := dispatch(batch)
		if err != nil {
			return nil, err
		}
		after, err := Settle(before, system, v)
		if err != nil {
			return nil, err
		}
		w := document.NewWriter(v.Style())
		w.Object("", func() {
			w.Text("stateHashBefore", before.Hash())
			batch.write(w, "batch")
			batch.Statistics.write(w, "statistics")
			writeDispatched(w, "dispatchedIntents", heard)
			w.List("preflight", func() {
				for _, complaint := range preflight {
					writeUnlessEmpty(w, "", complaint)
				}
			})
			err = writeAfter(w, after, v)
		})
		return w.Bytes(), err
	}
}

// dispatch dispatches what a batch emitted in a scene of its own, and gives what arrived.
func dispatch(b *Batch) (list []Dispatched, err error) {
	var scene Scene
	defer scene.End()
	d, err := scene.Open(func(i Dispatched) { list = append(list, i) })
	if err != nil {
		return nil, err
	}
	err = d.Dispatch(b.Emitted())
	return list, err
}

// readSystem gives a memory over a state. llamabrain-v1: a clock that starts at `clockStart` and advances by `clockStep`
// with each reading, and ids from `idStart` on. P2(e): in dmpl-v1 every reading is the snapshot time.
func readSystem(o *document.Object, s memory.State, v Version) *memory.System {
	now, step := o.Integer("clockStart", 0), o.Integer("clockStep", 0)
	id := o.Integer("idStart", 0)
	if v == memory.DMPLv1 {
		return memory.NewSystem(v, s, memory.At(o.Integer("snapshotTimeUtcTicks", now)), nil)
	}
	return memory.NewSystem(v, s, func() int64 {
		now += step
		return now - step
	}, func() string {
		id++
		return fmt.Sprintf("id_%04d", id-1)
	})
}

// ReadMutationConfig reads overrides of the defaults.
func ReadMutationConfig(o *document.Object, name string, v Version) MutationConfig {
	o = o.Object(name)
	c := DefaultMutationConfig()
	c.Significance = memory.ReadReal(o, "DefaultEpisodicSignificance", c.Significance, v)
	c.Sentiment = memory.ReadReal(o, "DefaultRelationshipSentiment", c.Sentiment, v)
	c.Logging = o.Bool("EnableLogging", c.Logging)
	c.Statistics = o.Bool("EnableStatistics", c.Statistics)
	refuseUnknown(o)
	return c
}

func (b *Batch) write(w *document.Writer, name string) {
	w.Object(name, func() {
		w.List("Results", func() {
			for i := range b.Results {
				b.Results[i].write(w)
			}
		})
		writeIntents(w, "EmittedIntents", b.approved)
		succeeded := b.Succeeded()
		w.Integer("TotalAttempted", int64(len(b.Results)))
		w.Integer("SuccessCount", int64(succeeded))
		w.Integer("FailureCount", int64(len(b.Results)-succeeded))
		w.Bool("AllSucceeded", succeeded == len(b.Results))
	})
}

func (r *MutationResult) write(w *document.Writer) {
	w.Object("", func() {
		w.Bool("Success", r.Failure == "")
		w.Text("MutationType", r.Mutation.Type.String())
		writeUnlessEmpty(w, "ErrorMessage", r.Failure)
		if r.Affected == nil {
			w.Null("AffectedEntryId")
			w.Null("AffectedSequenceNumber")
			w.Null("AffectedContent")
			return
		}
		writeUnlessEmpty(w, "AffectedEntryId", r.Affected.ID)
		w.OptionalInteger("AffectedSequenceNumber", r.Affected.Sequence)
		w.Text("AffectedContent", r.Affected.Text)
	})
}

func (s Statistics) write(w *document.Writer, name string) {
	w.Object(name, func() {
		w.Integer("TotalAttempted", int64(s.Attempted))
		w.Integer("TotalSucceeded", int64(s.Succeeded))
		w.Integer("TotalFailed", int64(s.Failed))
		w.Integer("EpisodicAppended", int64(s.Episodes))
		w.Integer("BeliefsTransformed", int64(s.Beliefs))
		w.Integer("RelationshipsTransformed", int64(s.Relationships))
		w.Integer("IntentsEmitted", int64(s.Intents))
		w.Integer("CanonicalMutationAttempts", int64(s.CanonicalAttempts))
		w.Integer("AuthorityViolations", int64(s.AuthorityRefused))
	})
}

func writeDispatched(w *document.Writer, name string, list []Dispatched) {
	w.List(name, func() {
		for _, d := range list {
			w.Object("", func() {
				writeIntent(w, d.Intent)
				w.Text("npcId", d.NPCID)
			})
		}
	})
}

// writeAfter writes the memory that a stage leaves behind, and in dmpl-v1 the writes that make it (D7).
func writeAfter(w *document.Writer, a *Aftermath, v Version) error {
	memory.WriteState(w, "stateAfter", a.State, v)
	w.Text("stateHashAfter", a.State.Hash())
	if v != memory.DMPLv1 {
		return nil
	}
	state, errState := a.Digest()
	writes, errWrites := a.Fingerprint()
	w.Text("state_digest", state.Hex())
	memory.WriteWrites(w, "writes", a.Writes)
	w.Text("commit_payload_fingerprint", writes.Hex())
	return errors.Join(errState, errWrites)
}

// writeUnlessEmpty writes a text, or null where there is none.
func writeUnlessEmpty(w *document.Writer, name, text string) {
	if text == "" {
		w.Null(name)
		return
	}
	w.Text(name, text)
}
