package pipeline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/document"
)

// readEnum reads one of a list of names, spelt exactly, or a number; numbers beyond the names are kept (llamabrain.md §0:
// enums are numbers unless said; inputs may name them).
func readEnum(o *document.Object, name string, otherwise int, names ...string) int {
	v, ok := o.Any(name)
	if !ok {
		return otherwise
	}
	text, ok := v.Text()
	if !ok {
		return o.Int(name, otherwise)
	}
	i := slices.Index(names, text)
	if i < 0 {
		o.Fail(name, strconv.QuoteToASCII(text)+" is none of "+strings.Join(names, ", "))
		return otherwise
	}
	return i
}

// readClosedEnum is readEnum without numbers beyond the names.
func readClosedEnum(o *document.Object, name string, otherwise int, names ...string) int {
	n := readEnum(o, name, otherwise, names...)
	if n < 0 || n >= len(names) {
		o.Fail(name, strconv.Itoa(n)+" is none of "+strings.Join(names, ", "))
		return otherwise
	}
	return n
}

// refuseUnknown makes members that nothing has asked for an error: a misspelt setting must not be a silent default.
func refuseUnknown(o *document.Object) {
	for _, name := range o.Unknown() {
		o.Fail(name, "unknown member")
	}
}
