package pipeline

import "github.com/dmpl/dmpl/pkg/dotnet"

// wordIndex knows which texts have a word, as wordSet finds them.
type wordIndex struct {
	numbers map[string]int // of each word, lower-case
	texts   [][]int32      // by the number of a word: the texts that have it, in order and each once
}

func newWordIndex() *wordIndex { return &wordIndex{numbers: map[string]int{}} }

// add takes the words of the next text.
func (x *wordIndex) add(text int, content string) {
	eachWord(content, func(word string, _ bool) {
		if dotnet.Len(word) < shortestWord {
			return
		}
		word = dotnet.Lower(word)
		number, known := x.numbers[word]
		if !known {
			number = len(x.texts)
			x.numbers[word], x.texts = number, append(x.texts, nil)
		}
		if list := x.texts[number]; len(list) == 0 || list[len(list)-1] != int32(text) {
			x.texts[number] = append(list, int32(text))
		}
	})
}

// count gives for each of so many texts how many of some distinct words it has, in the memory of counts.
func (x *wordIndex) count(counts []int32, words []string, texts int) []int32 {
	if cap(counts) < texts {
		counts = make([]int32, texts)
	}
	counts = counts[:texts]
	clear(counts)
	for _, word := range words {
		if number, known := x.numbers[word]; known {
			for _, text := range x.texts[number] {
				counts[text]++
			}
		}
	}
	return counts
}
