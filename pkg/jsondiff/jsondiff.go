// Package jsondiff finds where two JSON values differ, by JSON Pointer.
package jsondiff

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Difference is one place where two values differ. Left or Right is the zero Value (kind Invalid) where that side has
// nothing at the pointer: missing is not null (CONTRACT C3).
type Difference struct {
	Pointer     string // RFC 6901, relative to the two values
	Left, Right canon.Value
}

// Compare gives the differences of two values in canonical form: members by name, elements by position, deepest
// difference first reached. Equal values give none; Compare(a, b) mirrors Compare(b, a).
func Compare(left, right canon.Value) []Difference {
	return compare(nil, "", left, right)
}

func compare(out []Difference, pointer string, left, right canon.Value) []Difference {
	if bytes.Equal(left.Raw(), right.Raw()) {
		return out
	}
	if left.Kind() != right.Kind() {
		return append(out, Difference{pointer, left, right})
	}
	switch left.Kind() {
	case canon.Object:
		return compareMembers(out, pointer, left.Members(), right.Members())
	case canon.Array:
		return compareElements(out, pointer, left.Elements(), right.Elements())
	}
	return append(out, Difference{pointer, left, right})
}

// compareMembers walks two member lists in their canonical order.
func compareMembers(out []Difference, pointer string, left, right []canon.Member) []Difference {
	for len(left) > 0 || len(right) > 0 {
		switch order := compareNames(left, right); {
		case order < 0:
			out = append(out, Difference{Pointer: canon.AppendToken(pointer, left[0].Name), Left: left[0].Value})
			left = left[1:]
		case order > 0:
			out = append(out, Difference{Pointer: canon.AppendToken(pointer, right[0].Name), Right: right[0].Value})
			right = right[1:]
		default:
			out = compare(out, canon.AppendToken(pointer, left[0].Name), left[0].Value, right[0].Value)
			left, right = left[1:], right[1:]
		}
	}
	return out
}

func compareNames(left, right []canon.Member) int {
	switch {
	case len(left) == 0:
		return 1
	case len(right) == 0:
		return -1
	}
	return strings.Compare(left[0].Name, right[0].Name)
}

func compareElements(out []Difference, pointer string, left, right []canon.Value) []Difference {
	for i := range max(len(left), len(right)) {
		at := pointer + "/" + strconv.Itoa(i)
		switch {
		case i >= len(left):
			out = append(out, Difference{Pointer: at, Right: right[i]})
		case i >= len(right):
			out = append(out, Difference{Pointer: at, Left: left[i]})
		default:
			out = compare(out, at, left[i], right[i])
		}
	}
	return out
}
