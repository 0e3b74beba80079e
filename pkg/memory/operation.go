package memory

import (
	"errors"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// operations are those of Step: each reads its members, runs, and writes the members of its result.
var operations = map[string]func(y *System, op *document.Object, w *document.Writer){
	"addCanonicalFact": func(y *System, op *document.Object, w *document.Writer) {
		f := Fact{Text: op.Text("fact", ""), Domain: op.OptionalText("domain")}
		f.ID = op.Text("id", "")
		f, err := y.AddCanonicalFact(f)
		writeOutcome(w, f.ID, err)
	},
	"setWorldState": func(y *System, op *document.Object, w *document.Writer) {
		s, err := y.SetWorldState(op.Text("key", ""), op.Text("value", ""), readSource(op, GameSystem))
		writeOutcome(w, s.ID, err)
	},
	"addEpisodic": func(y *System, op *document.Object, w *document.Writer) {
		e := NewEpisode(op.Text("description", ""))
		e.ID, e.Sequence = op.Text("id", ""), op.Integer("sequenceNumber", 0)
		e.Significance = ReadReal(op, "significance", e.Significance, y.version)
		e.Strength = ReadReal(op, "strength", e.Strength, y.version)
		e, err := y.AddEpisodic(e, readSource(op, ValidatedOutput))
		writeOutcome(w, e.ID, err)
	},
	"addDialogue": func(y *System, op *document.Object, w *document.Writer) {
		significance := ReadReal(op, "significance", 0.5, y.version)
		e, err := y.AddDialogue(op.Text("speaker", ""), op.Text("content", ""), significance, readSource(op, ValidatedOutput))
		writeOutcome(w, e.ID, err)
	},
	"setBelief": func(y *System, op *document.Object, w *document.Writer) {
		b := NewBelief(op.Text("subject", ""), op.Text("content", ""))
		b.ID, b.Sequence, b.Evidence = op.Text("id", ""), op.Integer("sequenceNumber", 0), op.OptionalText("evidence")
		b.Confidence = ReadReal(op, "confidence", b.Confidence, y.version)
		b, err := y.SetBelief(op.Text("key", ""), b, readSource(op, ValidatedOutput))
		writeOutcome(w, b.ID, err)
	},
	"updateBelief": func(y *System, op *document.Object, w *document.Writer) {
		confidence := ReadReal(op, "confidence", 0, y.version)
		b, err := y.UpdateBelief(op.Text("key", ""), op.Text("content", ""), confidence, op.OptionalText("evidence"), readSource(op, ValidatedOutput))
		writeOutcome(w, b.ID, err)
	},
	"adjustSentiment": func(y *System, op *document.Object, w *document.Writer) {
		w.Bool("ok", y.AdjustSentiment(op.Text("key", ""), ReadReal(op, "delta", 0, y.version)))
	},
	"markContradicted": func(y *System, op *document.Object, w *document.Writer) {
		w.Bool("ok", y.MarkContradicted(op.Text("key", ""), op.Text("evidence", "")))
	},
	"contradicts": func(y *System, op *document.Object, w *document.Writer) {
		f, found := y.Contradicts(op.Text("statement", ""))
		w.Bool("contradicts", found)
		if !found {
			w.Null("factId")
			return
		}
		w.Text("factId", f.ID)
	},
	"validateMutation": func(_ *System, op *document.Object, w *document.Writer) {
		authority := Authority(readNamed(op, "authority", int(BeliefAuthority), authorities))
		w.Bool("allowed", readSource(op, LLMSuggestion).Allows(authority))
	},
	"reinforce": func(y *System, op *document.Object, w *document.Writer) {
		w.Bool("ok", y.Reinforce(op.Text("id", ""), ReadReal(op, "amount", 0.2, y.version)))
	},
	"recent": func(y *System, op *document.Object, w *document.Writer) {
		w.List("items", func() {
			for _, e := range y.Recent(op.Int("count", 0)) {
				w.Text("", e.Description)
			}
		})
	},
	"decay": func(y *System, _ *document.Object, w *document.Writer) {
		y.Decay()
		w.Bool("ok", true)
	},
	"clearAll": func(y *System, _ *document.Object, w *document.Writer) {
		y.ClearAll()
		w.Bool("ok", true)
	},
	"recalculateNext": func(y *System, _ *document.Object, w *document.Writer) {
		w.Integer("next", y.RecalculateNext())
	},
	"roundTrip": roundTrip,
	"merge": func(y *System, op *document.Object, w *document.Writer) {
		merged, err := Merge(y.State(), ReadState(op.Object("state"), DMPLv1))
		if err != nil {
			op.Fail("state", err.Error())
			return
		}
		y.replace(merged)
		w.Integer("next", y.state.NextSequence)
	},
}

// roundTrip saves the memory, and loads what was saved.
func roundTrip(y *System, op *document.Object, w *document.Writer) {
	saved := document.NewWriter(y.version.Style())
	WriteState(saved, "", y.state, y.version)
	v, err := canon.ParseAs(canon.DBL, saved.Bytes())
	o := document.Open(v)
	s := ReadState(o, y.version)
	if err = errors.Join(err, o.Err()); err == nil {
		err = y.Load(s)
	}
	if err != nil {
		op.Fail("", "the memory cannot be loaded again: "+err.Error())
	}
	w.Integer("next", y.state.NextSequence)
}

// writeOutcome writes whether an operation was done, and on which entry.
func writeOutcome(w *document.Writer, id string, err error) {
	w.Bool("Success", err == nil)
	if err != nil {
		w.Text("FailureReason", err.Error())
		w.Null("EntryId")
		return
	}
	w.Null("FailureReason")
	w.Text("EntryId", id)
}

func readSource(o *document.Object, otherwise Source) Source {
	return Source(readNamed(o, "source", int(otherwise), sources))
}

// readNamed reads a member that is a name or its number.
func readNamed(o *document.Object, member string, otherwise int, names []named) int {
	v, ok := o.Any(member)
	if !ok {
		return otherwise
	}
	if v.Kind() != canon.String {
		return o.Int(member, otherwise)
	}
	text, _ := v.Text()
	for _, n := range names {
		if n.name == text {
			return n.value
		}
	}
	o.Fail(member, strconv.QuoteToASCII(text)+" is no known name")
	return otherwise
}
