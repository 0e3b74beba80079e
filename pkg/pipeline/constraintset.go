package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// ParseConstraints reads the JSON that SerializeConstraints gives. The error is a *canon.Error or a *document.Error.
func ParseConstraints(text []byte) ([]Constraint, error) {
	v, err := canon.Parse(text)
	if err != nil {
		return nil, err
	}
	o := document.Open(v)
	return readConstraints(o, "All"), o.Err()
}
