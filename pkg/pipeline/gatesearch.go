package pipeline

import "github.com/dmpl/dmpl/pkg/dotnet"

// maxSearched bounds how many bytes the texts of one gate are looked for in.
const maxSearched = 1 << 33

// search looks for texts in a dialogue, ignoring case.
type search struct {
	text, low string
	searched  int64
}

func newSearch(text string) *search { return &search{text: text, low: dotnet.Lower(text)} }

// has tells whether the dialogue contains a text that is folded already.
func (s *search) has(low string) bool { return s.index(low) >= 0 }

// index gives the place of a folded text in UTF-16 units, -1 for none.
func (s *search) index(low string) int {
	if s.searched += int64(len(s.low)); s.searched > maxSearched {
		return -1
	}
	return dotnet.Index(s.low, low)
}

// window gives what stands where a pattern is found: as many units as it has and 20 more (llamabrain.md §6.2).
func (s *search) window(pattern string) (string, bool) {
	at := s.index(dotnet.Lower(pattern))
	if at < 0 {
		return "", false
	}
	end := min(at+dotnet.Len(pattern)+20, dotnet.Len(s.text))
	return dotnet.Cut(s.text, at, end), true
}

// err says that the bound was reached: what was not found after that may be there.
func (s *search) err(what string) error {
	if s.searched <= maxSearched {
		return nil
	}
	return &Error{Code: CodeLimit, Detail: "the dialogue is too long to be searched for so many texts: " + what}
}
