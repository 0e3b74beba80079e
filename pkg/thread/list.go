package thread

// List is a list about the events of a stream that grows without being copied: a slice that grew would be there twice while it
// grows. The zero value is empty and ready.
type List[T any] struct{ chunks [][]T }

const chunk = 1 << 10

// Count gives the number of elements.
func (l *List[T]) Count() int {
	if len(l.chunks) == 0 {
		return 0
	}
	return (len(l.chunks)-1)*chunk + len(l.chunks[len(l.chunks)-1])
}

// At gives the place of an element, which stays as long as none is added.
func (l *List[T]) At(i int) *T { return &l.chunks[i/chunk][i%chunk] }

// Add puts an element at the end.
func (l *List[T]) Add(one T) {
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == chunk {
		var room []T
		if last >= 0 { // most streams are short
			room = make([]T, 0, chunk)
		}
		l.chunks = append(l.chunks, room)
		last++
	}
	l.chunks[last] = append(l.chunks[last], one)
}
