package memorytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Reach opens the store at an address, and makes it where it is not there. Step is called between any two things that the
// backend asks of what keeps its rows, with what it is about to do or has just done; nil for none.
type Reach func(ctx context.Context, address string, step func(at string)) (memory.Backend, error)

// Place gives the address of a store that is not there yet, and what removes it with all it has.
type Place func(*testing.T) (address string, drop func())

// childVariable makes a test process one of the children below instead.
const childVariable = "DMPL_STORE_CHILD"

var children = map[string]func(reach Reach, args []string) error{"crash": crashChild, "share": shareChild, "paused": pausedChild}

// Main is what TestMain of a store's package does. The tests of this package that need processes of their own start the test's
// program again, which then plays a part instead of testing.
func Main(m *testing.M, reach Reach) int {
	part, found := os.LookupEnv(childVariable)
	if !found {
		return m.Run()
	}
	if err := children[part](reach, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, part, err)
		return 1
	}
	return 0
}

// child gives a process of this test that plays a part.
func child(part string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), childVariable+"="+part)
	c.Stderr = os.Stderr
	return c
}

// Rounds is how often a campaign is to be done: DMPL_CRASH, and 0 for its short form where that is not set.
func Rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("DMPL_CRASH")
	if text == "" {
		return 0
	}
	rounds, err := strconv.Atoi(text)
	if err != nil || rounds < 1 {
		t.Fatalf("DMPL_CRASH is %q, and a number of rounds is due", text)
	}
	return rounds
}

func clock() int64 { return time.Now().UnixNano() / 100 }

// storeAt opens the store at an address.
func storeAt(reach Reach, address string) (*memory.Store, error) {
	b, err := reach(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	return memory.NewStore(b, clock), nil
}

func note(id string, op memory.Op) memory.Write {
	r := memory.Record{Type: "note", Content: []byte(`{}`)}
	r.ID, r.Source = id, memory.ValidatedOutput
	return memory.Write{Op: op, Record: r}
}

// CommitRun opens a run on a snapshot, writes and commits it, in two transactions or in one.
func CommitRun(s *memory.Store, run, start string, split bool, writes ...memory.Write) (memory.Outcome, error) {
	opened, err := s.Open(ctx, run, start)
	if err != nil {
		return memory.Outcome{}, err
	}
	if _, err := s.Write(ctx, run, writes...); err != nil {
		return memory.Outcome{}, err
	}
	id, err1 := memory.CommitID(run, opened.Start, "policies")
	sum, err2 := memory.PayloadFingerprint(writes)
	if err := errors.Join(err1, err2); err != nil {
		return memory.Outcome{}, err
	}
	if !split {
		return s.Commit(ctx, run, id.Hex(), sum.Hex())
	}
	if _, err := s.Request(ctx, run, id.Hex(), sum.Hex()); err != nil {
		return memory.Outcome{}, err
	}
	return s.Apply(ctx, run, 0)
}
