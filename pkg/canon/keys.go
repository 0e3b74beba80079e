package canon

import "slices"

// SortedKeys gives the keys of a map in bytewise order. It is the one place that ranges over a map: an order that
// Go leaves to chance must reach no result.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
