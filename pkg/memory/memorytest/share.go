package memorytest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dmpl/dmpl/pkg/memory"
)

// sharers is how many processes share a store.
const sharers = 8

// shareChild plays so many runs; each reads its start snapshot, puts one of a few registers, appends a record of its own, and reads
// and commits. Now and then it does an earlier run again, has a run that comes too late, or looks at what is the newest snapshot. It says each step before it takes
// it and waits for leave, and says what came of it, so that who listens knows the order of steps without any clock.
func shareChild(reach Reach, args []string) error {
	s, err := storeAt(reach, args[0])
	if err != nil {
		return err
	}
	runs, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	last := Step{} // the last commit that was applied
	c := sharer{Store: s, out: json.NewEncoder(os.Stdout), in: bufio.NewReader(os.Stdin)}
	for i := range runs {
		run := fmt.Sprintf("%s-%d", args[1], i)
		if step := c.run(run, "", i); step.Code == "" {
			last = step
		}
		switch {
		case i%2 == 1:
			c.step(Step{Do: stepHead}, c.head)
		case last.Do == "":
		case i%4 == 0:
			c.run(last.Run, last.Start, last.Register) // done again
		default:
			c.run(run+"-late", last.Start, last.Register) // the register was changed since
		}
	}
	return errors.Join(c.err, s.Close())
}

// sharer is one of the processes that share a store.
type sharer struct {
	*memory.Store
	out *json.Encoder
	in  *bufio.Reader
	err error
}

// step tells of a step, takes it, and tells what came of it. After an error nothing more is done.
func (c *sharer) step(in Step, do func(*Step) error) Step {
	if c.err == nil {
		c.err = c.out.Encode(in)
	}
	if c.err == nil {
		_, c.err = c.in.ReadByte()
	}
	if c.err == nil {
		c.err = do(&in)
	}
	if c.err == nil {
		c.err = c.out.Encode(in)
	}
	return in
}

func (c *sharer) head(step *Step) error {
	row, err := c.Snapshot(ctx, "")
	step.Made = row.ID()
	return err
}

func (c *sharer) read(step *Step) error {
	state, err := c.State(ctx, step.Start)
	for _, r := range state.Others {
		if r.Type != registerType {
			step.Notes++
			continue
		}
		n := 0
		if _, err := fmt.Sscanf(r.ID, "r%d", &n); err != nil {
			return err
		}
		if _, err := fmt.Sscanf(string(r.Content), `{"n":%d}`, &step.Values[n]); err != nil {
			return err
		}
	}
	return err
}

const registerType = "register"

func register(n int, value int64) memory.Write {
	w := note("r"+strconv.Itoa(n), memory.Put)
	w.Record.Type, w.Record.Content = registerType, fmt.Appendf(nil, `{"n":%d}`, value)
	return w
}

// run plays one run and gives the step that committed it.
func (c *sharer) run(run, start string, turn int) Step {
	opened := c.step(Step{Do: stepOpen, Run: run, Start: start}, func(step *Step) error {
		r, err := c.Open(ctx, run, start)
		step.Made = r.Start
		return err
	})
	seen := c.step(Step{Do: stepRead, Run: run, Start: opened.Made}, c.read)
	commit := Step{Do: stepCommit, Run: run, Start: opened.Made, Register: turn % registers}
	commit.Value = seen.Values[commit.Register] + 1
	writes := []memory.Write{note(run, memory.Append), register(commit.Register, commit.Value)}
	if c.err == nil {
		_, c.err = c.Write(ctx, run, writes...)
	}
	c.step(Step{Do: stepRead, Run: run, Start: opened.Made}, c.read) // M1: it sees neither its own writes nor another's
	return c.step(commit, func(step *Step) error {
		id, err1 := memory.CommitID(run, opened.Made, "policies")
		sum, err2 := memory.PayloadFingerprint(writes)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		out, err := c.Commit(ctx, run, id.Hex(), sum.Hex())
		step.Made, step.Repeated = out.Snapshot, out.Repeated
		var refused *memory.BufferError
		if errors.As(err, &refused) {
			step.Code, err = refused.Code, nil
		}
		return err
	})
}

// Share lets eight processes do so many runs each on one store. M1, M4: what they did is what one after the other could have done,
// snapshots are numbered in the order of their commits, and nothing is lost.
func Share(t *testing.T, reach Reach, place Place, runs int) {
	address, drop := place(t)
	s, err := storeAt(reach, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		drop()
	}()
	if _, err := s.Create(ctx, "share"); err != nil {
		t.Fatal(err)
	}
	var r recorder
	var all sync.WaitGroup
	for i := range sharers {
		all.Go(func() {
			if err := r.listen(i, address, runs); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	applied := r.hold(t, runs)
	nothingLost(t, s, applied)
	sound(t, s, "sharing")
	Linear(t, r.steps)
	checkerSees(t, r.steps)
	Tally(t, "steps of eight processes", len(r.steps))
}

// recorder writes down what processes say.
type recorder struct {
	mu    sync.Mutex
	now   int64
	steps []porcupine.Operation
}

// listen starts a process and gives it leave for each step.
func (r *recorder) listen(number int, address string, runs int) error {
	c := child("share", address, fmt.Sprint("p", number), strconv.Itoa(runs))
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		return err
	}
	said := json.NewDecoder(out)
	for {
		var asked, done Step
		err := said.Decode(&asked)
		if errors.Is(err, io.EOF) {
			return c.Wait()
		}
		called := r.tick()
		if err == nil {
			_, err = in.Write([]byte{'\n'})
		}
		if err == nil {
			err = said.Decode(&done)
		}
		if err != nil {
			return errors.Join(err, c.Wait())
		}
		r.add(porcupine.Operation{ClientId: number, Input: asked, Call: called, Output: done})
	}
}

func (r *recorder) tick() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	return r.now
}

// add keeps a step that has come back.
func (r *recorder) add(op porcupine.Operation) {
	op.Return = r.tick()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, op)
}

// hold looks at commits one by one, and gives the runs by the snapshots that they made.
func (r *recorder) hold(t *testing.T, runs int) map[string]string {
	t.Helper()
	applied, last := map[string]string{}, map[int]string{}
	aborted, repeated := 0, 0
	for _, op := range r.steps {
		step := op.Output.(Step)
		switch {
		case step.Do != stepCommit:
		case step.Repeated:
			repeated++
		case step.Code == string(memory.ValidationFailed):
			aborted++
		case step.Code != "" || applied[step.Made] != "" || step.Made <= step.Start || step.Made <= last[op.ClientId]:
			t.Errorf("%+v, after %s; the snapshot was made by %q", step, last[op.ClientId], applied[step.Made])
		default:
			applied[step.Made], last[op.ClientId] = step.Run, step.Made
		}
	}
	t.Logf("%d steps: %d commits applied, %d aborted for a conflict, %d repeated", len(r.steps), len(applied), aborted, repeated)
	if len(applied)+aborted < sharers*runs || len(applied) == 0 || aborted == 0 || repeated == 0 {
		t.Errorf("%d runs were played by each process", runs)
	}
	return applied
}

// nothingLost holds the snapshots of a store to the runs that were applied.
func nothingLost(t *testing.T, s *memory.Store, applied map[string]string) {
	t.Helper()
	list, err := s.Snapshots(ctx)
	if err != nil || len(list) != len(applied)+1 {
		t.Fatalf("%d snapshots of %d commits, %v", len(list), len(applied), err)
	}
	for i, row := range list {
		if row.Number != int64(i) || row.RunID != applied[row.ID()] {
			t.Errorf("snapshot %s is of %q at place %d, want %q", row.ID(), row.RunID, i, applied[row.ID()])
		}
	}
	newest, err := s.State(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, r := range newest.Others {
		there[r.ID] = r.Type != registerType
	}
	for snapshot, run := range applied {
		if !there[run] {
			t.Errorf("the record of %s, which made %s, is lost", run, snapshot)
		}
	}
}

// Linear holds a history to the model of a store.
func Linear(t *testing.T, steps []porcupine.Operation) {
	t.Helper()
	if got := porcupine.CheckOperationsTimeout(StoreModel(), steps, time.Minute); got != porcupine.Ok {
		t.Errorf("the history of %d steps is %s", len(steps), got)
	}
}
