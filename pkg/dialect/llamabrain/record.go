package llamabrain

import (
	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// mostTriggerReason is the last trigger reason that has a name (llamabrain.md §3).
const mostTriggerReason = 6

// record reads one record. The text is JSON by C1.
func (s *shape) record(text []byte, at place) (audit.Record, error) {
	v, err := canon.Parse(text)
	if err != nil {
		return audit.Record{}, err
	}
	o := document.Open(v)
	r := audit.ReadRecord(o)
	r.Position, r.Pointer = at.index, at.pointer
	if s.refuse(o, at) {
		r.Malformed = true
		return r, nil
	}
	for _, f := range audit.Fields() {
		if !o.Has(f.Name) {
			s.tolerate(defaulted, place{at.index, canon.AppendToken(at.pointer, f.Name)})
		}
	}
	for _, name := range o.Unknown() {
		s.tolerate(unnamed, place{at.index, canon.AppendToken(at.pointer, name)})
	}
	if r.TriggerReason < 0 || r.TriggerReason > mostTriggerReason {
		s.report(finding.ShapeValue, place{at.index, at.pointer + "/TriggerReason"}, "no trigger reason has this number")
	}
	if s.set == nil || s.set.text != r.ConstraintsSerialized {
		s.set = &knownSet{r.ConstraintsSerialized, constraints(r.ConstraintsSerialized)}
	}
	r.ConstraintsSerialized, r.Constraints = s.set.text, s.set.gives
	return r, nil
}

// knownSet is the constraint set of the record before: most turns have the same one, and then share what it gives.
type knownSet struct {
	text  string
	gives audit.Constraints
}

// constraints gives what the constraint block was made of (llamabrain.md §3).
func constraints(serialized string) audit.Constraints {
	if serialized == "" {
		return audit.Constraints{Reason: "the record keeps no constraints"}
	}
	set, err := pipeline.ParseConstraints([]byte(serialized))
	if err != nil {
		return audit.Constraints{Reason: "ConstraintsSerialized cannot be read", Deviant: "it is no constraint set: " + err.Error()}
	}
	c := audit.Constraints{Block: []byte(pipeline.ConstraintBlock(set))}
	if v, _ := canon.Parse([]byte(serialized)); len(v.Members()) == 0 {
		return c // what a writer leaves that knows of no constraints
	}
	c.Whole = true
	if !sameDocument([]byte(serialized), pipeline.SerializeConstraints(set)) {
		c.Deviant = "All, the groups, Count and HasConstraints do not agree"
	}
	return c
}

func sameDocument(a, b []byte) bool {
	left, errLeft := canon.Digest(canon.JSONv1, a)
	right, errRight := canon.Digest(canon.JSONv1, b)
	return errLeft == nil && errRight == nil && left == right
}
