package replay

import (
	"bytes"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// logs are the histories of all threads, by thread.
type logs map[string]*thread.Log

// add keeps an event. A reference brings in the text of an INTENT or an EXECUTION and no other payload.
func (l logs) add(e thread.Event) {
	e.Document = canon.Value{} // what it is made of is the reader's
	switch e.Kind {
	case thread.Intent, thread.Execution:
		e.Payload = bytes.Clone(e.Payload)
	default:
		e.Payload = nil
	}
	if l[e.ThreadID] == nil {
		l[e.ThreadID] = &thread.Log{}
	}
	l[e.ThreadID].Append(e)
}
