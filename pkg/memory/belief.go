package memory

// NewBelief gives a belief with the defaults of a new one.
func NewBelief(subject, content string) Belief {
	return Belief{Subject: subject, Content: content, Confidence: 0.5}
}

// Belief gives the belief of a key.
func (y *System) Belief(key string) (Belief, bool) {
	i, ok := y.at().beliefs[key]
	if !ok {
		return Belief{}, false
	}
	return y.state.Beliefs[i], true
}

// SetBelief stores a belief under a key. One that is there is replaced as a whole: new id, new sequence number. A belief
// that denies a fact is stored as contradicted.
func (y *System) SetBelief(key string, b Belief, source Source) (Belief, error) {
	if err := source.must(EpisodicAuthority, "modify beliefs"); err != nil {
		return Belief{}, err
	}
	b.Key, b.Source = key, source
	b.Confidence, b.Sentiment = y.round(b.Confidence), y.round(b.Sentiment)
	if f, denied := y.Contradicts(b.Content); denied {
		y.contradict(&b, "Contradicts canonical fact: "+f.Text)
	}
	if b.Sequence == 0 || y.version == DMPLv1 { // M9: assigned at insertion; LlamaBrain keeps one that is given
		b.Sequence = y.number()
	}
	b.ID = y.id(b.ID, b.Sequence)
	b.CreatedAt = y.clock()
	if i, ok := y.at().beliefs[key]; ok {
		y.own().Beliefs[i] = b
		return b, nil
	}
	s := y.own()
	y.places.beliefs[key] = len(s.Beliefs)
	s.Beliefs = append(s.Beliefs, b)
	return b, nil
}

// contradict marks a belief as contradicted by evidence.
func (y *System) contradict(b *Belief, evidence string) {
	previous := ""
	if b.Evidence != nil {
		previous = *b.Evidence
	}
	evidence = "[CONTRADICTED] " + evidence + ". Previous: " + previous
	b.Contradicted, b.Confidence, b.Evidence = true, min(b.Confidence, y.round(0.2)), &evidence
}

// MarkContradicted marks the belief of a key as contradicted by evidence; false where there is none.
func (y *System) MarkContradicted(key, evidence string) bool {
	i, ok := y.at().beliefs[key]
	if ok {
		y.contradict(&y.own().Beliefs[i], evidence)
	}
	return ok
}

// UpdateBelief gives the belief of a key another content and confidence, and evidence where there is some. It keeps id,
// number and source.
func (y *System) UpdateBelief(key, content string, confidence float64, evidence *string, source Source) (Belief, error) {
	i, ok := y.at().beliefs[key]
	if !ok {
		return Belief{}, Refusal("Belief '" + key + "' does not exist.")
	}
	if source.must(EpisodicAuthority, "") != nil {
		return Belief{}, Refusal("Source '" + source.String() + "' lacks authority to modify beliefs. Required: ValidatedOutput or higher.")
	}
	b := &y.own().Beliefs[i]
	b.Content, b.Confidence = content, min(max(y.round(confidence), 0), 1)
	if evidence != nil {
		b.Evidence = evidence
	}
	if y.version == DMPLv1 { // M11: what a weaker source has written is trusted no more than that source
		b.setTrust(min(b.TrustLevel(), int(source)))
	}
	return *b, nil
}

// AdjustSentiment moves the sentiment of the belief of a key within -1 and 1; false where there is none.
func (y *System) AdjustSentiment(key string, delta float64) bool {
	i, ok := y.at().beliefs[key]
	if ok {
		b := &y.own().Beliefs[i]
		b.Sentiment = min(max(y.round(b.Sentiment+y.round(delta)), -1), 1)
	}
	return ok
}

// certainties are the words in front of a belief, by the least confidence that they need.
var certainties = []struct {
	least float64
	words string
}{{0.8, "I know that"}, {0.5, "I believe that"}, {0.3, "I think that"}}

// PromptText gives the belief as a prompt says it: how sure, then what.
func (b Belief) PromptText(v Version) string {
	for _, c := range certainties {
		if b.Confidence >= v.Numbers().Round(c.least) {
			return c.words + " " + b.Content
		}
	}
	return "I'm not sure, but " + b.Content
}

// PromptText gives the value as a prompt says it.
func (w WorldState) PromptText() string { return w.Key + "=" + w.Value }

// AllMemoriesForPrompt gives everything as lines of a prompt: facts, world state, recent episodes, beliefs.
func (y *System) AllMemoriesForPrompt(maxEpisodic int, includeContradicted bool) []string {
	var lines []string
	for _, f := range y.state.Facts {
		lines = append(lines, "[Fact] "+f.Text)
	}
	for _, w := range y.state.World {
		lines = append(lines, "[State] "+w.PromptText())
	}
	for _, e := range y.Recent(maxEpisodic) {
		lines = append(lines, "[Memory] "+e.Description)
	}
	for _, b := range y.state.Beliefs {
		switch {
		case !b.Contradicted:
			lines = append(lines, b.PromptText(y.version))
		case includeContradicted:
			lines = append(lines, "[Uncertain] "+b.PromptText(y.version))
		}
	}
	return lines
}
