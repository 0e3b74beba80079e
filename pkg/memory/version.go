package memory

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/document"
)

// Version is a pipeline version (P2). The recorded one picks the rules, and an unknown one is an error, never the latest.
type Version uint8

// The pipeline versions.
const (
	DMPLv1       Version = iota // the seed's rules, P2 (a) to (j)
	LlamaBrainV1                // what LlamaBrain does, to the byte
)

var versionNames = [...]string{DMPLv1: "dmpl-v1", LlamaBrainV1: "llamabrain-v1"}

// String gives the name that recordings use.
func (v Version) String() string { return versionNames[v] }

// ParseVersion gives the version of a name: dmpl-v1 or llamabrain-v1.
func ParseVersion(name string) (Version, error) {
	for v, known := range versionNames {
		if name == known {
			return Version(v), nil
		}
	}
	return 0, fmt.Errorf("unknown pipeline version %q: known are dmpl-v1 and llamabrain-v1", name)
}

// Numbers gives the version's numbers (P2 i).
func (v Version) Numbers() Numbers {
	if v == LlamaBrainV1 {
		return Binary32
	}
	return Micros
}

// Style gives the style of the documents that a stage of the version answers: reals as the version's numbers.
func (v Version) Style() document.Style { return document.Style{Binary32: v == LlamaBrainV1} }
