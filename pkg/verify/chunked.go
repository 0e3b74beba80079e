package verify

// chunked is a list that grows without being copied: a slice that grew would be there twice while it grows. The zero value
// is empty and ready.
type chunked[T any] struct{ chunks [][]T }

const chunk = 1 << 10

func (c *chunked[T]) count() int {
	if len(c.chunks) == 0 {
		return 0
	}
	return (len(c.chunks)-1)*chunk + len(c.chunks[len(c.chunks)-1])
}

func (c *chunked[T]) at(i int) *T { return &c.chunks[i/chunk][i%chunk] }

func (c *chunked[T]) add(one T) {
	last := len(c.chunks) - 1
	if last < 0 || len(c.chunks[last]) == chunk {
		var room []T
		if last >= 0 { // most streams are short
			room = make([]T, 0, chunk)
		}
		c.chunks = append(c.chunks, room)
		last++
	}
	c.chunks[last] = append(c.chunks[last], one)
}
