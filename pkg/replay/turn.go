package replay

import (
	"errors"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// The reasons why a decision has no context to compare with.
const (
	reasonOff     = "context resolution was switched off"
	reasonHandle  = "an artifact handle has no context"
	reasonRefused = "the turn was refused before its context was built"
)

// sentinelOff is what the gateway pins where context resolution is off (dbl-gateway.md §9 group 4).
const sentinelOff = "CONTEXT_RESOLUTION_DISABLED"

// refusals are the codes of X1.
var refusals = []string{thread.CodeRefNotFound, thread.CodeCrossThreadRef, thread.CodeMaxRefsExceeded, thread.CodeEmptyRefsDenied}

// turn is one decision beside what the replay built.
type turn struct {
	index   int
	at      string // pointer of the payload
	payload canon.Value
	built   *built
}

// judge compares a decision with the context that was built of its INTENT, and says what differs.
func (t *tally) judge(d decision, raw []byte, b *built, given string) {
	payload, err := thread.Read(raw)
	if err != nil {
		t.notRebuilt(turn{index: d.index, at: pointerTo(int(d.position), "/payload")}, "the payload is not readable: "+err.Error())
		return
	}
	one := turn{d.index, pointerTo(int(d.position), "/payload"), payload, b}
	switch _, hasContext := payload.Get("context_spec"); {
	case b == nil:
		t.notRebuilt(one, "no INTENT of the same thread, turn and correlation id stands before the decision")
	case hasContext && !one.isNull("/context_spec"):
		t.compare(one, given)
	case one.text("/boundary/context_config_digest") == sentinelOff: // in no digest: a context counts more
		t.notChecked[reasonOff]++
	case slices.Contains(refusals, one.text("/reasons/0/code")):
		t.compareRefusal(one)
	case d.handle:
		t.notChecked[reasonHandle]++
	case one.text("/result") == "DENY":
		t.notChecked[reasonRefused]++
	default:
		t.notRebuilt(one, "the decision stores no context")
	}
}

func (o turn) text(pointer string) string {
	v, _ := o.payload.At(pointer)
	text, _ := v.Text()
	return text
}

func (o turn) isNull(pointer string) bool {
	v, _ := o.payload.At(pointer)
	return v.Kind() == canon.Null
}

func (o turn) finding(code finding.Code, pointer string) finding.Finding {
	f := finding.New(code)
	f.EventIndex, f.Pointer = o.index, o.at+pointer
	return f
}

func (t *tally) notRebuilt(o turn, why string) {
	f := o.finding(finding.ReplayNotRebuilt, "")
	f.Detail = why
	t.add(f)
	t.notChecked["the context cannot be built again"]++
}

// compareRefusal compares a decision that refused the references of its turn.
func (t *tally) compareRefusal(o turn) {
	recorded, now := o.text("/reasons/0/code"), codeOf(o.built.err)
	switch {
	case recorded == now:
		t.equal++
		return
	case now == thread.CodeUnverifiable:
		t.notRebuilt(o, o.built.err.Error())
		return
	}
	f := o.finding(finding.ReplayResolutionChanged, "/reasons/0/code")
	f.Expected = quoted(recorded)
	if o.built.err != nil {
		f.Detail = "the references are refused as " + now + ", not as " + recorded
		f.Actual = quoted(now)
	} else {
		f.Detail = "the references resolve; they were refused as " + recorded
		f.Actual = messagesOf(o.built.context.Assembled())
	}
	t.add(f)
	t.changed++
}

// codeOf gives the code of why there is no context; empty where there is one.
func codeOf(err error) string {
	var e *thread.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func pointerTo(position int, rest string) string { return "/events/" + strconv.Itoa(position) + rest }

func number(n int) finding.Value { return strconv.AppendInt(nil, int64(n), 10) }

func quoted(text string) finding.Value { return canon.QuoteASCII(nil, []byte(text)) }
