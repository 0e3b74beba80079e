package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
)

// Aftermath is what a turn did to the memory.
type Aftermath struct {
	State memory.State

	// Of dmpl-v1: what goes to the buffer of the run.
	Writes      []memory.Write
	Fingerprint canon.Sum // D7, of the writes
	Digest      canon.Sum // P2(g), of State
}

// Settle gives what has become of the memory before. Under dmpl-v1 it is the memory before with the writes applied, which
// is what a commit makes of it (M4): the numbers that a batch used on the way do not count.
func Settle(before memory.State, y *memory.System, v Version) (*Aftermath, error) {
	a := &Aftermath{State: y.State()}
	if v == memory.LlamaBrainV1 {
		return a, nil
	}
	var err error
	if a.Writes, err = memory.Writes(before, a.State, memory.ValidatedOutput); err != nil {
		return nil, err
	}
	if a.State, err = before.Apply(a.Writes, nil); err != nil {
		return nil, err
	}
	if a.Fingerprint, err = memory.PayloadFingerprint(a.Writes); err != nil {
		return nil, err
	}
	a.Digest, err = a.State.Digest()
	return a, err
}
