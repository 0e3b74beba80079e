package record

import (
	"fmt"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Head implements execute.Live: the newest snapshot as it stands.
func (n *session) Head() (memory.State, error) { return n.store.State(n.ctx, "") }

// Write implements execute.Live. What a turn writes is a commit of its own, judged by the commit policy (D9), from the newest
// snapshot: nothing is between its start and its end, so that a later write of a record replaces an earlier one. One that is
// refused ends the run: there is no event that could tell of it.
func (n liveSession) Write(turn int, writes []memory.Write) (memory.State, error) {
	if len(writes) == 0 {
		return n.Head()
	}
	id := fmt.Sprintf("%s/%d", n.runID, turn)
	run, err := n.store.Open(n.ctx, id, "")
	if err == nil {
		_, err = n.store.Write(n.ctx, id, writes...)
	}
	if err == nil {
		err = n.commit(run, writes)
	}
	if err != nil {
		return memory.State{}, err
	}
	return n.Head()
}

// liveSession is a session that writes at once.
type liveSession struct{ *session }

func (n liveSession) commit(run memory.Run, writes []memory.Write) error {
	commit, err := memory.CommitID(run.RunID, run.Start, n.policies.ID)
	if err != nil {
		return err
	}
	fingerprint, err := memory.PayloadFingerprint(writes)
	if err != nil {
		return err
	}
	judged, err := n.policies.JudgeCommit(writes, true, nil)
	switch {
	case err != nil:
		return err
	case judged.Rejected():
		detail := fmt.Sprintf("rule %q: %s", judged.RuleID, judged.Detail)
		_, err = n.store.Reject(n.ctx, run.RunID, commit.Hex(), fingerprint.Hex(), memory.PolicyRejected, detail)
		if err == nil {
			err = &memory.BufferError{Code: string(memory.PolicyRejected), Detail: detail}
		}
		return err
	}
	_, err = n.store.Commit(n.ctx, run.RunID, commit.Hex(), fingerprint.Hex())
	return err
}
