package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
)

// A test process with this variable set is one of the children below instead.
const childVariable = "DMPL_STORE_CHILD"

func TestMain(m *testing.M) {
	part, found := os.LookupEnv(childVariable)
	if !found {
		os.Exit(m.Run())
	}
	if err := children[part](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var children = map[string]func(args []string) error{"crash": crashChild, "many": manyChild, "paused": pausedChild}

// child gives a process of this test that plays a part.
func child(part string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), childVariable+"="+part)
	c.Stderr = os.Stderr
	return c
}

func clock() int64 { return time.Now().UnixNano() / 100 }

func openStore(path string) (*memory.Store, error) {
	b, err := sqlite.Open(ctx, path, true)
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

// commitRun opens, writes and commits a run, in two transactions or in one.
func commitRun(s *memory.Store, run string, split bool, writes ...memory.Write) (memory.Outcome, error) {
	opened, err := s.Open(ctx, run, "")
	if err != nil {
		return memory.Outcome{}, err
	}
	if _, err := s.Write(ctx, run, writes...); err != nil {
		return memory.Outcome{}, err
	}
	id, err := memory.CommitID(run, opened.Start, "policies")
	if err != nil {
		return memory.Outcome{}, err
	}
	sum, err := memory.PayloadFingerprint(writes)
	if err != nil {
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

// crashChild makes a store, commits two records in a run of each kind, recovers, and says what is done. It kills itself before the
// given statement.
func crashChild(args []string) error {
	last, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	statements := 0
	b, err := sqlite.OpenStepping(ctx, args[0], func(string) {
		if statements++; statements == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	if err != nil {
		return err
	}
	s := memory.NewStore(b, clock)
	if _, err := s.Create(ctx, "crash"); err != nil {
		return err
	}
	for i, split := range []bool{true, false} {
		run := fmt.Sprintf("run%d-%s", i, args[2])
		out, err := commitRun(s, run, split, note(run+"-one", memory.Append), note(run+"-two", memory.Append))
		if err != nil {
			return err
		}
		fmt.Println(run, out.Snapshot)
	}
	if _, err := s.Open(ctx, "left-"+args[2], ""); err != nil {
		return err
	}
	if _, err := s.Recover(ctx, memory.Recovery{Worker: "child"}); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	fmt.Println("statements", statements)
	return nil
}

// M4, M6, M8: a process is killed between every two statements. Whatever was reported is there, no commit is there by half, the
// ledger is whole, and recovery leaves nothing unfinished: in a store of its own, and in one that has had all crashes before. DMPL_CRASH
// is how often it all is done; once without it.
func TestACrashBetweenAnyTwoStatementsLosesNothing(t *testing.T) {
	rounds, kills := 1, 0
	if text := os.Getenv("DMPL_CRASH"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for round := range rounds {
		shared := filepath.Join(t.TempDir(), "shared.db") // crashes upon crashes in one store
		for at, killed := 1, 1; killed > 0; at++ {
			killed = 0
			for _, path := range []string{shared, filepath.Join(t.TempDir(), "fresh.db")} {
				c := child("crash", path, strconv.Itoa(at), fmt.Sprint(round, "-", at))
				out, err := c.Output()
				var exit *exec.ExitError
				switch {
				case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
					killed++
					surviveCrash(t, path, string(out))
				case err != nil:
					t.Fatalf("statement %d: %v", at, err)
				}
			}
			kills += killed
		}
	}
	t.Logf("%d kills", kills)
	if kills < 150*rounds {
		t.Errorf("only %d kills", kills)
	}
}

// surviveCrash looks at a store after a crash; said is what the process had reported.
func surviveCrash(t *testing.T, path, said string) {
	t.Helper()
	b, err := sqlite.Open(ctx, path, true)
	if err != nil {
		t.Fatalf("after %q: %v", said, err)
	}
	s := memory.NewStore(b, func() int64 { return clock() + 2*memory.LeaseLength })
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := s.Create(ctx, "crash"); err != nil {
		t.Fatal(err)
	}
	before := wholeCommits(t, s)
	for line := range strings.Lines(said) {
		run, _, _ := strings.Cut(line, " ")
		if !before[run] {
			t.Errorf("the commit of %s was reported, and is lost", run)
		}
	}
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Errorf("after %q: %v", said, err)
	}
	if _, err := s.Recover(ctx, memory.Recovery{Worker: "parent"}); err != nil {
		t.Error(err)
	}
	if again, err := s.Recover(ctx, memory.Recovery{Worker: "parent"}); err != nil || len(again) != 0 {
		t.Errorf("recovery has left %+v, %v", again, err)
	}
	wholeCommits(t, s)
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Error(err)
	}
}

// wholeCommits holds the newest snapshots to whole commits, and gives the runs that the last one has. Older ones were looked at
// when they were new.
func wholeCommits(t *testing.T, s *memory.Store) map[string]bool {
	t.Helper()
	list, err := s.Snapshots(ctx)
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]bool{}
	for i, row := range list {
		if row.RunID != "" {
			whole[row.RunID] = true
		}
		if i < len(list)-6 {
			continue
		}
		state, err := s.State(ctx, row.ID())
		if err != nil {
			t.Fatal(err)
		}
		got := state.Records()
		if len(got) != 2*len(whole) || row.Number != int64(i) {
			t.Fatalf("snapshot %s is number %d and has %d records of %d commits", row.ID(), i, len(got), len(whole))
		}
		for _, r := range got {
			run := r.ID[:strings.LastIndex(r.ID, "-")]
			if !whole[run] {
				t.Fatalf("snapshot %s has %s, whose run has not committed", row.ID(), r.ID)
			}
		}
	}
	return whole
}

// manyChild commits runs; each appends a record of its own and raises a counter that all share.
func manyChild(args []string) error {
	s, err := openStore(args[0])
	if err != nil {
		return err
	}
	runs, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	for i := range runs {
		run := fmt.Sprintf("%s-%d", args[1], i)
		opened, err := s.Open(ctx, run, "")
		if err != nil {
			return err
		}
		seen, err := s.State(ctx, opened.Start)
		if err != nil {
			return err
		}
		writes := []memory.Write{note(run, memory.Append), counter(countOf(seen) + 1)}
		if _, err := s.Write(ctx, run, writes...); err != nil {
			return err
		}
		again, err := s.State(ctx, opened.Start) // M1: neither its own writes nor another's
		if err != nil {
			return err
		}
		if len(again.Records()) != len(seen.Records()) || countOf(again) != countOf(seen) {
			return fmt.Errorf("%s: its start snapshot has changed", run)
		}
		id, err := memory.CommitID(run, opened.Start, "policies")
		if err != nil {
			return err
		}
		sum, err := memory.PayloadFingerprint(writes)
		if err != nil {
			return err
		}
		out, err := s.Commit(ctx, run, id.Hex(), sum.Hex())
		var refused *memory.BufferError
		switch {
		case err == nil:
			fmt.Println("applied", run, opened.Start, out.Snapshot, countOf(seen)+1)
		case errors.As(err, &refused) && refused.Code == string(memory.ValidationFailed):
			fmt.Println("aborted", run)
		default:
			return err
		}
	}
	return s.Close()
}

func counter(n int) memory.Write {
	w := note("counter", memory.Put)
	w.Record.Type, w.Record.Content = "counter", fmt.Appendf(nil, `{"n":%d}`, n)
	return w
}

func countOf(s memory.State) (n int) {
	for _, r := range s.Others {
		if r.Type == "counter" {
			_, _ = fmt.Sscanf(string(r.Content), `{"n":%d}`, &n)
		}
	}
	return n
}

// M1, M4: eight processes write at once. No run sees another's writes, the snapshots are a chain, and of two runs that saw one
// state of the counter only one has raised it: what was applied is a serial history.
func TestProcessesShareAStore(t *testing.T) {
	const processes = 8
	runs := 10
	if text := os.Getenv("DMPL_CRASH"); text != "" {
		runs = 200
	}
	path := filepath.Join(t.TempDir(), "memory.db")
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, "many"); err != nil {
		t.Fatal(err)
	}
	out := make([]strings.Builder, processes)
	var all []*exec.Cmd
	for i := range processes {
		c := child("many", path, fmt.Sprint("p", i), strconv.Itoa(runs))
		c.Stdout = &out[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	applied := map[string]string{} // by snapshot: run and counter
	aborted := 0
	for i := range out {
		last := ""
		for line := range strings.Lines(out[i].String()) {
			words := strings.Fields(line)
			if words[0] == "aborted" {
				aborted++
				continue
			}
			if words[3] <= last || words[3] <= words[2] {
				t.Errorf("%s: snapshot %s after %s, from %s", words[1], words[3], last, words[2])
			}
			last = words[3]
			applied[words[3]] = words[1] + " " + words[4]
		}
	}
	if len(applied)+aborted != processes*runs || len(applied) == 0 {
		t.Errorf("%d applied, %d aborted", len(applied), aborted)
	}
	for n := 1; n <= len(applied); n++ { // a serial history raises the counter by one each time
		id := memory.SnapshotID(int64(n))
		state, err := s.State(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		run, count, _ := strings.Cut(applied[id], " ")
		if count != strconv.Itoa(n) || countOf(state) != n || len(state.Records()) != n+1 {
			t.Fatalf("snapshot %s: run %q, counter %s, %d in the store, %d records", id, run, count, countOf(state), len(state.Records()))
		}
	}
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Error(err)
	}
	t.Logf("%d applied, %d aborted for a conflict", len(applied), aborted)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// pausedChild takes a short lease, says so, waits to be let on, and applies.
func pausedChild(args []string) error {
	s, err := openStore(args[0])
	if err != nil {
		return err
	}
	lease, err := s.Acquire(ctx, "run", "paused", 2_000_000) // 0.2 s
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var word string
	if _, err := fmt.Scan(&word); err != nil {
		return err
	}
	_, err = s.Apply(ctx, "run", lease.Token)
	var refused *memory.BufferError
	if !errors.As(err, &refused) {
		return fmt.Errorf("a late owner was let in: %w", err)
	}
	fmt.Println(refused.Code)
	return s.Close()
}

// M7: an owner that was stopped past the end of its lease and goes on then can do no harm, whether the lease was taken or not.
func TestAStoppedOwnerIsFenced(t *testing.T) {
	for _, taken := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "memory.db")
		s, err := openStore(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Create(ctx, "fence"); err != nil {
			t.Fatal(err)
		}
		pend(t, s, "run")
		c := child("paused", path)
		in, err1 := c.StdinPipe()
		out, err2 := c.StdoutPipe()
		if err := errors.Join(err1, err2, c.Start()); err != nil {
			t.Fatal(err)
		}
		answer := func() (word string) {
			if _, err := fmt.Fscan(out, &word); err != nil {
				t.Fatal(err)
			}
			return word
		}
		if word := answer(); word != "ready" {
			t.Fatal(word)
		}
		if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		lease := waitForLease(t, s)
		if taken {
			if _, err := s.Apply(ctx, "run", lease.Token); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fmt.Fprintln(in, "go"); err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		want := memory.CodeLeaseHeld
		if taken {
			want = memory.CodeNotPending
		}
		if word := answer(); word != want {
			t.Errorf("taken %v: %s, want %s", taken, word, want)
		}
		if err := errors.Join(c.Wait(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// pend leaves a run in commit_pending.
func pend(t *testing.T, s *memory.Store, run string) {
	t.Helper()
	sum, err := memory.PayloadFingerprint(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(ctx, run, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Request(ctx, run, "commit of "+run, sum.Hex()); err != nil {
		t.Fatal(err)
	}
}

// waitForLease takes the lease of the run as soon as nobody has it any more.
func waitForLease(t *testing.T, s *memory.Store) memory.Lease {
	t.Helper()
	ending, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	for {
		lease, err := s.Acquire(ending, "run", "other", memory.LeaseLength)
		if err == nil {
			return lease
		}
		var refused *memory.BufferError
		if !errors.As(err, &refused) || refused.Code != memory.CodeLeaseHeld {
			t.Fatal(err)
		}
	}
}
