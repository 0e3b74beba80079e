package equiv_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
)

// E11: scripts that a person would write.
func TestAlignKnownScripts(t *testing.T) {
	same, left, right := finding.Same, finding.LeftOnly, finding.RightOnly
	tests := []struct {
		name        string
		left, right []int
		want        []finding.Edit
	}{
		{"nothing", nil, nil, nil},
		{"all equal", []int{1, 2}, []int{1, 2}, []finding.Edit{{Kind: same, Left: 0, Right: 0, Count: 2}}},
		{"nothing on the left", nil, []int{1, 2}, []finding.Edit{{Kind: right, Left: 0, Right: 0, Count: 2}}},
		{"nothing on the right", []int{1, 2}, nil, []finding.Edit{{Kind: left, Left: 0, Right: 0, Count: 2}}},
		{"replaced", []int{1}, []int{2}, []finding.Edit{{Kind: left, Left: 0, Right: 0, Count: 1}, {Kind: right, Left: 1, Right: 0, Count: 1}}},
		{"extra at the start", []int{1, 2}, []int{9, 1, 2}, []finding.Edit{{Kind: right, Left: 0, Right: 0, Count: 1}, {Kind: same, Left: 0, Right: 1, Count: 2}}},
		{"extra at the end", []int{1, 2}, []int{1, 2, 9}, []finding.Edit{{Kind: same, Left: 0, Right: 0, Count: 2}, {Kind: right, Left: 2, Right: 2, Count: 1}}},
		{"extra in the middle", []int{1, 2, 3}, []int{1, 2, 9, 3}, []finding.Edit{
			{Kind: same, Left: 0, Right: 0, Count: 2}, {Kind: right, Left: 2, Right: 2, Count: 1}, {Kind: same, Left: 2, Right: 3, Count: 1},
		}},
		{"missing in the middle", []int{1, 2, 9, 3}, []int{1, 2, 3}, []finding.Edit{
			{Kind: same, Left: 0, Right: 0, Count: 2}, {Kind: left, Left: 2, Right: 2, Count: 1}, {Kind: same, Left: 3, Right: 2, Count: 1},
		}},
		{"changed and extra", []int{1, 2, 3, 4}, []int{1, 9, 3, 8, 4}, []finding.Edit{
			{Kind: same, Left: 0, Right: 0, Count: 1},
			{Kind: left, Left: 1, Right: 1, Count: 1},
			{Kind: right, Left: 2, Right: 1, Count: 1},
			{Kind: same, Left: 2, Right: 2, Count: 1},
			{Kind: right, Left: 3, Right: 3, Count: 1},
			{Kind: same, Left: 3, Right: 4, Count: 1},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := equiv.Align(tt.left, tt.right); !slices.Equal(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// replay holds a script to both lists and gives the number of elements that it pairs.
func replay(left, right []int, edits []finding.Edit) (pairs int, err error) {
	l, r := 0, 0
	for i, e := range edits {
		if e.Left != l || e.Right != r || e.Count < 1 {
			return 0, fmt.Errorf("run %d %+v begins elsewhere than at %d, %d", i, e, l, r)
		}
		switch e.Kind {
		case finding.Same:
			if l+e.Count > len(left) || r+e.Count > len(right) || !slices.Equal(left[l:l+e.Count], right[r:r+e.Count]) {
				return 0, fmt.Errorf("run %d %+v pairs what is not equal", i, e)
			}
			l, r, pairs = l+e.Count, r+e.Count, pairs+e.Count
		case finding.LeftOnly:
			l += e.Count
		case finding.RightOnly:
			r += e.Count
		}
	}
	if l != len(left) || r != len(right) {
		return 0, fmt.Errorf("the script ends at %d, %d", l, r)
	}
	return pairs, nil
}

// longestCommon is the length of the longest common subsequence, by the table of all prefixes.
func longestCommon(left, right []int) int {
	row := make([]int, len(right)+1)
	for _, l := range left {
		diagonal := 0
		for j, r := range right {
			above := row[j+1]
			if l == r {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j], above)
			}
			diagonal = above
		}
	}
	return row[len(right)]
}

// E11: the script is valid, as short as possible, and mirrors that of the exchanged lists.
func TestAlignIsValidAndMinimal(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lists := func(alphabet int) []int {
		out := make([]int, random.IntN(25))
		for i := range out {
			out[i] = random.IntN(alphabet)
		}
		return out
	}
	for n := range 60_000 {
		alphabet := 1 + n%12
		left, right := lists(alphabet), lists(alphabet)
		edits := equiv.Align(left, right)
		pairs, err := replay(left, right, edits)
		if err != nil {
			t.Fatalf("%v and %v: %v\n%+v", left, right, err, edits)
		}
		if want := longestCommon(left, right); pairs != want {
			t.Fatalf("%v and %v: %d pairs, %d are possible\n%+v", left, right, pairs, want, edits)
		}
		if len(left) == len(right) { // such lists are never aligned: they correspond index by index
			continue
		}
		if back := mirroredEdits(equiv.Align(right, left)); !slices.Equal(edits, back) {
			t.Fatalf("%v and %v:\nthere %+v\nback  %+v", left, right, edits, back)
		}
	}
}

// mirroredEdits exchanges the sides of a script; of neighbours the left one comes first.
func mirroredEdits(edits []finding.Edit) []finding.Edit {
	var out []finding.Edit
	for _, e := range edits {
		e.Left, e.Right = e.Right, e.Left
		switch e.Kind {
		case finding.LeftOnly:
			e.Kind = finding.RightOnly
		case finding.RightOnly:
			e.Kind = finding.LeftOnly
			if n := len(out); n > 0 && out[n-1].Kind == finding.RightOnly {
				e.Right = out[n-1].Right
				out[n-1].Left += e.Count
				out = slices.Insert(out, n-1, e)
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

// E11: an insertion in a long list is found in linear space.
func TestAlignLongListsInLinearSpace(t *testing.T) {
	const n = 20_000
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	right := slices.Insert(slices.Clone(left), n/2, -1)
	right[n/4], right[3*n/4] = -2, -3 // so that equal heads and tails do not do all the work
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	edits := equiv.Align(left, right)
	runtime.ReadMemStats(&after)
	if pairs, err := replay(left, right, edits); err != nil || pairs != n-2 {
		t.Errorf("%d pairs, %v", pairs, err)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 64*n*8 {
		t.Errorf("%d bytes for %d elements", spent, n)
	}
}

// E11: lists that have nothing in common, or little, do not keep anybody waiting.
func TestAlignBoundsItsTime(t *testing.T) {
	const n = 15_000
	random := rand.New(rand.NewPCG(3, 4))
	strangers, little := [2][]int{}, [2][]int{}
	for side := range 2 {
		for i := range n + side {
			strangers[side] = append(strangers[side], 2*i+side)
			little[side] = append(little[side], random.IntN(3000))
		}
	}
	for name, lists := range map[string][2][]int{"nothing in common": strangers, "little in common": little} {
		start := time.Now()
		edits := equiv.Align(lists[0], lists[1])
		if spent := time.Since(start); spent > 10*time.Second {
			t.Errorf("%s: %s", name, spent)
		}
		if _, err := replay(lists[0], lists[1], edits); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
