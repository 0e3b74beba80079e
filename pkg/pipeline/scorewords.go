package pipeline

import (
	"slices"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// wordSet has the distinct words of the player input, and finds them in texts without allocating.
type wordSet struct {
	list    []string       // lower-case, in the order of the input
	numbers map[string]int // of each word
	lengths [utf8.RuneSelf]uint64
	found   []uint32 // by number: the search that found the word last
	search  uint32
	scratch []byte
}

// breaks are the bytes that end a word. llamabrain.md §2: these five characters and no other.
var breaks = [256]bool{' ': true, '.': true, ',': true, '!': true, '?': true}

// shortestWord is the least length of a word that counts, in UTF-16 units (llamabrain.md §2).
const shortestWord = 4

// reset takes the words of an input that count.
func (w *wordSet) reset(input string) {
	if w.numbers == nil {
		w.numbers = map[string]int{}
	}
	clear(w.numbers)
	clear(w.lengths[:])
	w.list, w.search = w.list[:0], 0
	eachWord(dotnet.Lower(input), func(word string, _ bool) {
		if _, known := w.numbers[word]; known || dotnet.Len(word) < shortestWord {
			return
		}
		w.numbers[word] = len(w.numbers)
		w.list = append(w.list, word)
		if word[0] < utf8.RuneSelf {
			w.lengths[word[0]] |= lengthBit(word)
		}
	})
	w.found = slices.Grow(w.found[:0], len(w.list))[:len(w.list)]
	clear(w.found)
}

func lengthBit(word string) uint64 { return 1 << min(len(word), 63) }

// share gives which part of the input's words stands in a text, in binary64.
func (w *wordSet) share(text string) float64 {
	if len(w.numbers) == 0 {
		return 0
	}
	w.search++
	count := 0
	eachWord(text, func(word string, ascii bool) {
		number, ok := w.number(word, ascii)
		if ok && w.found[number] != w.search {
			w.found[number] = w.search
			count++
		}
	})
	return w.part(count)
}

// part gives which part of the words so many are.
func (w *wordSet) part(count int) float64 { return float64(count) / float64(len(w.numbers)) }

// number gives the number of a word in any case. Lower-casing never changes the length, so that no length is counted here.
func (w *wordSet) number(word string, ascii bool) (int, bool) {
	if !ascii {
		n, ok := w.numbers[dotnet.Lower(word)]
		return n, ok
	}
	if w.lengths[lowerByte(word[0])]&lengthBit(word) == 0 {
		return 0, false
	}
	w.scratch = w.scratch[:0]
	for i := range len(word) {
		w.scratch = append(w.scratch, lowerByte(word[i]))
	}
	n, ok := w.numbers[string(w.scratch)]
	return n, ok
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// eachWord visits the words of a text, and says of each whether it is ASCII.
func eachWord(text string, visit func(word string, ascii bool)) {
	start, ascii := 0, true
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			ascii = false
		}
		if !breaks[c] {
			continue
		}
		if i > start {
			visit(text[start:i], ascii)
		}
		start, ascii = i+1, true
	}
	if start < len(text) {
		visit(text[start:], ascii)
	}
}
