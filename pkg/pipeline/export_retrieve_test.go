package pipeline

// What scores are made of, for tests that compare it with slower and plainer forms.
var Half = half

// Share gives which part of an input's words stands in each text.
func Share(input string, texts ...string) []float64 {
	var words wordSet
	words.reset("others, and the dragon")
	words.share("the dragon")
	words.reset(input)
	var shares []float64
	for _, text := range texts {
		shares = append(shares, words.share(text))
	}
	return shares
}
