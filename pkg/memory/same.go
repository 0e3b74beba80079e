package memory

import (
	"bytes"
	"slices"
)

// The methods of this file say that two entries are alike in every member. An entry that is not alike may still have an equal
// record: nil and an empty list are written alike.

func (e *Entry) same(o *Entry) bool {
	return e.ID == o.ID && e.CreatedAt == o.CreatedAt && e.Sequence == o.Sequence && e.Source == o.Source &&
		sameValue(e.Category, o.Category) && e.Namespace == o.Namespace && e.Scope == o.Scope && sameTexts(e.Tags, o.Tags) &&
		sameValue(e.Trust, o.Trust) && sameValue(e.ExpiresAt, o.ExpiresAt)
}

func (f *Fact) same(o *Fact) bool {
	return f.Entry.same(&o.Entry) && f.Text == o.Text && sameValue(f.Domain, o.Domain) && sameTexts(f.Keywords, o.Keywords)
}

func (w *WorldState) same(o *WorldState) bool {
	return w.Entry.same(&o.Entry) && w.Key == o.Key && w.Value == o.Value && w.ModifiedAt == o.ModifiedAt && w.Modifications == o.Modifications
}

func (e *Episode) same(o *Episode) bool {
	return e.Entry.same(&o.Entry) && e.Description == o.Description && e.Type == o.Type && sameValue(e.Participant, o.Participant) &&
		e.Significance == o.Significance && e.Strength == o.Strength && e.GameTime == o.GameTime && sameValue(e.Location, o.Location)
}

func (b *Belief) same(o *Belief) bool {
	return b.Entry.same(&o.Entry) && b.Key == o.Key && b.Subject == o.Subject && b.Content == o.Content && b.Type == o.Type &&
		b.Confidence == o.Confidence && b.Sentiment == o.Sentiment && b.Contradicted == o.Contradicted && sameValue(b.Evidence, o.Evidence)
}

func (r *Record) same(o *Record) bool {
	return r.Entry.same(&o.Entry) && r.Type == o.Type && bytes.Equal(r.Content, o.Content)
}

func sameValue[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func sameTexts(a, b []string) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }
