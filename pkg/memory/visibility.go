package memory

import (
	"fmt"
	"slices"
)

// Visibility is what a run sees and writes of a memory (M2).
type Visibility string

// The visibility modes.
const (
	VisibilityOff Visibility = "off"
	ReadOnly      Visibility = "read_only"
	BufferedWrite Visibility = "buffered_write"
	LiveReadWrite Visibility = "live_read_write"
)

// Access is what a run asks for, and what its surroundings allow.
type Access struct {
	Mode             string   // empty means read_only
	Environment      string   // where the run is; empty means nobody said
	BufferedWrite    []string // the environments that are opted in to writing
	NonDeterministic bool     // the run is marked so, and no claim about it holds
}

// Visibility gives the mode that a run has. M2: what is not set is read_only, what is misspelt or not allowed is refused;
// nothing becomes more than was asked for.
func (a Access) Visibility() (Visibility, error) {
	switch mode := Visibility(a.Mode); mode {
	case "":
		return ReadOnly, nil
	case VisibilityOff, ReadOnly:
		return mode, nil
	case BufferedWrite, LiveReadWrite:
		switch {
		case mode == LiveReadWrite && !a.NonDeterministic:
			return "", &BufferError{CodeNotAllowed, "live_read_write is for runs that are marked as not deterministic"}
		case a.Environment == "":
			return "", &BufferError{CodeNotAllowed, fmt.Sprintf("%s needs to know its environment, and none is set", mode)}
		case !slices.Contains(a.BufferedWrite, a.Environment):
			return "", &BufferError{CodeNotAllowed, fmt.Sprintf("the environment %q is not opted in to %s", a.Environment, mode)}
		}
		return mode, nil
	}
	return "", &BufferError{CodeNotAllowed, fmt.Sprintf("%q is no visibility mode: off, read_only, buffered_write, live_read_write", a.Mode)}
}
