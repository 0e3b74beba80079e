package memory

import (
	"math"

	"github.com/dmpl/dmpl/pkg/document"
)

// The readers of what a kind says. What is missing is as in the entry that is given.

func readFact(o *document.Object, f Fact) Fact {
	f.Text, f.Domain = o.Text("Fact", f.Text), o.OptionalText("Domain")
	f.Category, f.Keywords = o.OptionalText("Category"), o.Texts("ContradictionKeywords")
	return f
}

func readWorld(o *document.Object, w WorldState) WorldState {
	w.Value, w.Category = o.Text("Value", w.Value), o.OptionalText("Category")
	w.ModifiedAt, w.Modifications = o.Integer("ModifiedAtTicks", w.ModifiedAt), o.Integer("ModificationCount", w.Modifications)
	return w
}

func readEpisode(o *document.Object, e Episode, v Version) Episode {
	e.Description, e.Type = o.Text("Description", e.Description), EpisodeType(o.Int("EpisodeType", int(e.Type)))
	e.Participant, e.Category = o.OptionalText("Participant"), o.OptionalText("Category")
	e.Significance, e.Strength = ReadReal(o, "Significance", e.Significance, v), ReadReal(o, "Strength", e.Strength, v)
	e.GameTime = ReadReal(o, "GameTime", e.GameTime, v)
	if v == DMPLv1 { // LlamaBrain's snapshot loses it
		e.Location = o.OptionalText("LocationId")
	}
	return e
}

func readBelief(o *document.Object, b Belief, v Version) Belief {
	b.Key, b.Subject, b.Content = o.Text("Key", b.Key), o.Text("Subject", b.Subject), o.Text("BeliefContent", b.Content)
	b.Type, b.Category = BeliefType(o.Int("BeliefType", int(b.Type))), o.OptionalText("Category")
	b.Confidence, b.Sentiment = ReadReal(o, "Confidence", b.Confidence, v), ReadReal(o, "Sentiment", b.Sentiment, v)
	b.Contradicted, b.Evidence = o.Bool("IsContradicted", b.Contradicted), o.OptionalText("Evidence")
	return b
}

// ReadReal reads a member that is a real of the version; the default counts as rounded as well.
func ReadReal(o *document.Object, name string, otherwise float64, v Version) float64 {
	x := v.Numbers().Round(o.Real(name, otherwise))
	if math.IsInf(x, 0) {
		o.Fail(name, "expected a number in the range of binary32")
		return otherwise
	}
	return x
}
