package pipeline

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// maxSearched bounds how many bytes the texts of one gate are looked for in.
const maxSearched = 1 << 31

// gram is how many bytes of a text decide whether it can be in the dialogue at all.
const gram = 8

// search looks for texts in a dialogue, ignoring case. Most of a hundred thousand facts are not in it, and their first and
// last bytes tell.
type search struct {
	text, low string
	grams     []uint64 // a bit for each hash; a bit that is set may mean another text
	searched  int64
}

func newSearch(text string) *search { return searchAgain(new(search), text) }

// searchAgain is newSearch in the memory of another one.
func searchAgain(s *search, text string) *search {
	grams := s.grams[:0]
	*s = search{text: text, low: dotnet.Lower(text)}
	n := 1 << bits.Len(uint(len(s.low)/4))
	s.grams = slices.Grow(grams, n)[:n]
	clear(s.grams)
	for i := 0; i+gram <= len(s.low); i++ {
		word, bit := s.hash(s.low[i:])
		s.grams[word] |= bit
	}
	return s
}

func (s *search) hash(text string) (word, bit uint64) {
	h := binary.LittleEndian.Uint64([]byte(text[:gram])) * 0x9E3779B97F4A7C15 >> 32
	return h >> 6 & uint64(len(s.grams)-1), 1 << (h & 63)
}

func (s *search) known(text string) bool {
	word, bit := s.hash(text)
	return s.grams[word]&bit != 0
}

// has tells whether the dialogue contains a text that is folded already.
func (s *search) has(low string) bool {
	// Half of a pair at an end of the text may be in a pair of the dialogue, which has other bytes.
	if len(low) >= 3*gram && !(s.known(low[gram/2:]) && s.known(low[len(low)-gram-gram/2:])) {
		return false
	}
	return s.index(low) >= 0
}

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
