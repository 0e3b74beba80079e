package memory

import (
	"crypto/sha256"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Hash gives LlamaBrain's state hash (llamabrain.md §1). It covers less than the state, and does not escape its
// separators: two states with one hash may differ.
func (s State) Hash() string {
	var text []byte
	line := func(parts ...string) {
		for i, part := range parts {
			if i > 0 {
				text = append(text, '|')
			}
			text = append(text, part...)
		}
		text = append(text, '\n')
	}
	integer := func(n int64) string { return strconv.FormatInt(n, 10) }
	line("NextSequenceNumber:" + integer(s.NextSequence))
	for _, f := range bySequence(s.Facts) {
		domain := ""
		if f.Domain != nil {
			domain = *f.Domain
		}
		line("F", f.ID, f.Text, domain, integer(f.CreatedAt), integer(f.Sequence))
	}
	for _, w := range bySequence(s.World) {
		line("W", w.Key, w.Value, integer(int64(w.Source)), integer(w.CreatedAt), integer(w.Sequence))
	}
	for _, e := range bySequence(s.Episodes) {
		line("E", e.ID, e.Description, sixDecimals(e.Strength), truth(e.Strength > LlamaBrainV1.Numbers().Round(active)), integer(e.CreatedAt), integer(e.Sequence))
	}
	for _, b := range bySequence(s.Beliefs) {
		line("B", b.ID, b.PromptText(LlamaBrainV1), sixDecimals(b.Confidence), truth(b.Contradicted), integer(b.CreatedAt), integer(b.Sequence))
	}
	return canon.Base64.Spell(HashText(string(text)))
}

// HashText gives LlamaBrain's hash of a text: SHA-256 of its UTF-8 (llamabrain.md §9).
func HashText(text string) canon.Sum { return sha256.Sum256([]byte(dotnet.UTF8(text))) }

func sixDecimals(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
