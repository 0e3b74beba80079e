package equiv

import "github.com/dmpl/dmpl/pkg/finding"

// Align gives the edit script of two lists.
func Align(left, right []int) []finding.Edit { return align(left, right) }
