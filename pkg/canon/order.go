package canon

import (
	"bytes"
	"cmp"
	"slices"
)

// compare orders two members: by the bytes of the key, which is by code point (C6), under jcs by UTF-16 unit.
func (r *Reader) compare(a, b *member) int {
	if a.prefix != b.prefix {
		if a.prefix < b.prefix {
			return -1
		}
		return 1
	}
	if r.form.Profile == JCS {
		return compareUTF16(r.key(a), r.key(b))
	}
	return bytes.Compare(r.key(a), r.key(b))
}

// compareUTF16 orders UTF-8 text by UTF-16 unit. The orders part only where one side has U+E000 to U+FFFF and the
// other a rune beyond, whose surrogates are smaller.
func compareUTF16(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] >= 0xEE && b[i] >= 0xEE && (a[i] >= 0xF0) != (b[i] >= 0xF0) {
			return int(b[i]) - int(a[i])
		}
		return int(a[i]) - int(b[i])
	}
	return len(a) - len(b)
}

// insertionLimit is the size up to which plain insertion beats the library's sort.
const insertionLimit = 24

func (r *Reader) ascending(members []member) bool {
	for i := 1; i < len(members); i++ {
		if r.compare(&members[i-1], &members[i]) >= 0 {
			return false
		}
	}
	return true
}

// sorted gives the indices of members in the order of their keys, equal keys in document order.
func (r *Reader) sorted(members []member) []int32 {
	order := r.order[:0]
	if len(members) > insertionLimit {
		for i := range members {
			order = append(order, int32(i))
		}
		slices.SortFunc(order, func(i, j int32) int {
			return cmp.Or(r.compare(&members[i], &members[j]), int(i-j))
		})
		r.order = order
		return order
	}
	for i := range members {
		j := len(order)
		order = append(order, int32(i))
		for ; j > 0 && r.compare(&members[order[j-1]], &members[i]) > 0; j-- {
			order[j] = order[j-1]
		}
		order[j] = int32(i)
	}
	r.order = order
	return order
}

// permute rewrites the members that stand in the output from offset at, comma-separated in document order, in the
// order given. The longest is moved in place; only the others are copied twice.
func (r *Reader) permute(at int, members []member, order []int32) {
	longest := order[0]
	for _, i := range order {
		if members[i].end-members[i].start > members[longest].end-members[longest].start {
			longest = i
		}
	}
	parts, before := r.parts[:0], 0
	for k, i := range order {
		if i == longest {
			if k > 0 {
				parts = append(parts, ',')
			}
			before = len(parts)
			continue
		}
		if k > 0 {
			parts = append(parts, ',')
		}
		parts = append(parts, r.out[members[i].start:members[i].end]...)
	}
	r.parts = parts
	m := members[longest]
	moved := at + before
	copy(r.out[moved:], r.out[m.start:m.end])
	copy(r.out[at:], parts[:before])
	after := moved + m.end - m.start
	r.out = r.out[:after+copy(r.out[after:], parts[before:])]
}
