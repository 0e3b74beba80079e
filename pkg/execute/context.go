package execute

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/trace"
)

// intentType is what a turn of a native run is in its thread: the seed treats all types alike (X1).
const intentType = "chat.message"

// defaultThread is the thread of a turn that states none.
const defaultThread = "thread"

// admit resolves the references of the turn and asks the admission rules, before anything is retrieved (P1); false where the
// turn cannot go on, which is then recorded.
func (t *turn) admit() (bool, error) {
	declared, _ := t.doc.Value.Get("references")
	events, _ := t.doc.Value.Get("thread_events")
	if t.run.context == nil && len(declared.Elements()) > 0 {
		return false, &Error{t.doc.Path, t.doc.At + "/references", "config.json has no context, so that references mean nothing"}
	}
	threadID, turnID, err := t.identity()
	if err != nil {
		return false, fault(t.doc, err)
	}
	if t.unquestioned(threadID, turnID, events) {
		return true, nil
	}
	current, payload, err := t.intent(declared, len(events.Elements()), threadID, turnID)
	if err != nil {
		return false, fault(t.doc, err)
	}
	history := thread.NewLog()
	for i, v := range events.Elements() {
		e, err := thread.ParseEvent(v)
		if err != nil {
			return false, fault(trace.Document{Path: t.doc.Path, At: t.doc.At + "/thread_events/" + strconv.Itoa(i)}, err)
		}
		history.Append(e)
	}
	history.Append(current)
	identity := thread.Identity{ThreadID: current.ThreadID, TurnID: current.TurnID}
	var inputs []thread.IntentMessage
	if t.run.context != nil {
		ctx, err := thread.Build(payload, intentType, *t.run.context, history, thread.Seed)
		switch {
		case thread.Refused(err):
			return false, t.fail(0, ReferenceRefused, nil, err.Error())
		case err != nil:
			return false, t.fail(0, StageFailed, nil, err.Error())
		}
		inputs = ctx.Resolution.Inputs
		if err := t.refer(ctx, len(declared.Elements()) > 0); err != nil {
			return false, t.fail(0, StageFailed, nil, err.Error())
		}
	}
	return t.allowed(identity, current, inputs)
}

// identity gives the ids of the turn.
func (t *turn) identity() (threadID, turnID string, err error) {
	o := document.Open(t.doc.Value)
	threadID, turnID = o.Text("thread_id", defaultThread), o.Text("turn_id", "")
	if !o.Has("turn_id") {
		turnID = "turn-" + strconv.Itoa(t.number)
	}
	return threadID, turnID, o.Err()
}

// unquestioned tells that nobody asks for the INTENT of the turn: there are no references to resolve, no rules to hold it to, no
// thread to read, and no text that an INTENT cannot have.
func (t *turn) unquestioned(threadID, turnID string, events canon.Value) bool {
	return t.run.context == nil && len(t.run.policies.Admission) == 0 && len(events.Elements()) == 0 &&
		utf8.ValidString(t.input.Query.PlayerInput) && utf8.ValidString(threadID) && utf8.ValidString(turnID)
}

// intent gives the INTENT that the turn is.
func (t *turn) intent(declared canon.Value, index int, threadID, turnID string) (thread.Event, canon.Value, error) {
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Text("message", t.input.Query.PlayerInput)
		w.Text("thread_id", threadID)
		w.Text("turn_id", turnID)
		if declared.Kind() == canon.Array {
			w.Raw("declared_refs", declared.Raw())
		}
	})
	payload, err := canon.Parse(w.Bytes())
	e := thread.Event{
		Index: index, Kind: thread.Intent, ThreadID: threadID, TurnID: turnID, CorrelationID: threadID + "/" + turnID,
		IntentType: intentType, Payload: w.Bytes(),
	}
	return e, payload, err
}

// refer takes the referenced events into the prompt (P2 j). The context digest is recorded with references only (E10).
func (t *turn) refer(ctx thread.Context, declared bool) error {
	if block := thread.ReferenceBlock(ctx.Resolution.Refs); block != "" {
		t.input.References = strings.Split(block, "\n")
	}
	if !declared {
		return nil
	}
	d, err := ctx.Digest()
	if err == nil {
		t.context = &d.Sum
	}
	return err
}

// allowed asks the admission rules of the policy set (X7).
func (t *turn) allowed(identity thread.Identity, current thread.Event, inputs []thread.IntentMessage) (bool, error) {
	message, _ := thread.AsIntent(current)
	var rules []thread.AdmissionRule
	for _, rule := range t.run.policies.Admission {
		rules = append(rules, thread.AdmissionRule{ID: rule.ID, Rule: rule.Rule, Limit: rule.Limit})
	}
	admission, err := thread.Admit(identity, message, inputs, rules)
	if err != nil {
		return false, fault(t.run.documents.Policies, err)
	}
	if !admission.Allowed {
		return false, t.fail(0, AdmissionDenied, admission.Reasons, "refused by "+strings.Join(admission.Reasons, ", "))
	}
	return true, nil
}
