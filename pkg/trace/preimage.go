package trace

// TakePreimages puts the recorded tool results and writes where the model has them, as if the trace carried them (CONTRACT D8).
func (t *Trace) TakePreimages() {
	if t.Commit.Ok() && t.Commit.Writes.State == Absent {
		t.Commit.Writes = t.Recording.Commit.Field("/writes")
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Stage == nil || !e.Stage.CallField.Ok() || len(e.Calls) != 1 {
			continue
		}
		result, ok := t.Recording.ToolResult(e.Stage.Turn, e.Stage.Attempt, e.Stage.Call)
		if !ok {
			continue
		}
		call := &e.Calls[0]
		take(&call.RawArgs, result, "/args")
		if !e.Interceptor.Is(BeforeTool) {
			take(&call.RawResult, result, "/result")
			take(&call.RawSideEffect, result, "/side_effects")
		}
	}
}

// take takes a preimage from a document; null is a value of a result too.
func take(f *Field, from Document, pointer string) {
	if f.State != Absent {
		return
	}
	if *f = from.Field(pointer); f.State == Null {
		f.State = Present
	}
}
