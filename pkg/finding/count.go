package finding

import "fmt"

// Counted gives a number with its noun, for people: 1 turn, 2 turns.
func Counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
