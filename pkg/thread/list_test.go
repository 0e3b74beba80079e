package thread_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/thread"
)

func TestAListKeepsItsOrderOverAnyLength(t *testing.T) {
	const length = 2500 // more than two chunks
	var list thread.List[int]
	for i := range length {
		if list.Count() != i {
			t.Fatalf("%d elements, want %d", list.Count(), i)
		}
		list.Add(i)
	}
	*list.At(1024) = -1
	for i := range length {
		want := i
		if i == 1024 {
			want = -1
		}
		if got := *list.At(i); got != want {
			t.Fatalf("element %d is %d, want %d", i, got, want)
		}
	}
}
