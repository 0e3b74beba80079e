package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
)

// Aftermath is what a turn did to the memory.
type Aftermath struct {
	State  memory.State
	Writes []memory.Write // of dmpl-v1: what goes to the buffer of the run
}

// Fingerprint gives the fingerprint of the writes (D7).
func (a *Aftermath) Fingerprint() (canon.Sum, error) { return memory.PayloadFingerprint(a.Writes) }

// Digest gives the digest of the state (P2 g). It grows with the whole memory, and a run asks for it only where a turn wrote.
func (a *Aftermath) Digest() (canon.Sum, error) { return a.State.Digest() }

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
	if len(a.Writes) == 0 {
		a.State = before
		return a, nil
	}
	if a.State, err = before.Apply(a.Writes, nil); err != nil {
		return nil, err
	}
	_, err = a.Fingerprint() // a write without a canonical form fails the turn, and not the commit
	return a, err
}
