package memorytest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// crashRuns are the runs of a script with how each commits: in two transactions, and in one.
var crashRuns = []struct {
	name  string
	split bool
}{{"split", true}, {"whole", false}}

func crashWrites(run string) []memory.Write {
	return []memory.Write{note(run+"-one", memory.Append), note(run+"-two", memory.Append)}
}

// Script opens, writes, commits and recovers, and says what the store has answered. The tag makes its runs other ones than
// those of another script.
func Script(s *memory.Store, tag string, said func(run, snapshot string)) error {
	if _, err := s.Create(ctx, "crash"); err != nil {
		return err
	}
	for _, r := range crashRuns {
		run := r.name + "-" + tag
		out, err := CommitRun(s, run, "", r.split, crashWrites(run)...)
		if err != nil {
			return err
		}
		said(run, out.Snapshot)
	}
	if _, err := s.Open(ctx, "left-"+tag, ""); err != nil {
		return err
	}
	run := "pending-" + tag
	sum, err := memory.PayloadFingerprint(crashWrites(run))
	if err != nil {
		return err
	}
	for _, do := range []func() error{
		func() error { _, err := s.Open(ctx, run, ""); return err },
		func() error { _, err := s.Write(ctx, run, crashWrites(run)...); return err },
		func() error { _, err := s.Request(ctx, run, run, sum.Hex()); return err },
		func() error { _, err := s.Recover(ctx, memory.Recovery{Worker: "child"}); return err },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	known, err := s.Run(ctx, run)
	if err == nil && known.State != memory.CommitApplied {
		err = fmt.Errorf("recovery has left %s in %q", run, known.State)
	}
	said(run, "")
	return err
}

// crashChild plays the script, and kills itself at the given step.
func crashChild(reach Reach, args []string) error {
	last, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	steps := 0
	b, err := reach(ctx, args[0], func(string) {
		if steps++; steps == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	if err != nil {
		return err
	}
	s := memory.NewStore(b, clock)
	return errors.Join(Script(s, args[2], func(run, snapshot string) { fmt.Println(run, snapshot) }), s.Close())
}

// Killed runs the script in a process that is killed with SIGKILL at a step, and gives what it had said before. Killed is false
// where the script has fewer steps.
func Killed(t *testing.T, address string, at int, tag string) (said string, killed bool) {
	t.Helper()
	out, err := child("crash", address, strconv.Itoa(at), tag).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return string(out), true
	}
	if err != nil {
		t.Fatalf("step %d: %v", at, err)
	}
	return string(out), false
}

// Crash kills processes at every step of the script, in a store of its own and in one that has had all crashes before, and holds
// what is left to M4, M6 and M8. The short form takes one step of each stride. Fewer kills than the least in a round are a fault of the
// test.
func Crash(t *testing.T, reach Reach, place Place, stride, least int) {
	kills, rounds := 0, Rounds(t)
	if rounds == 0 {
		rounds, least = 1, least/stride
	} else {
		stride = 1
	}
	for round := range rounds {
		shared, drop := place(t)
		for at := 1; ; at += stride {
			killed := false
			own, forget := place(t)
			for _, address := range []string{shared, own} {
				tag := fmt.Sprint(round, ".", at)
				said, dead := Killed(t, address, at, tag)
				if dead {
					kills, killed = kills+1, true
					Survived(t, reach, address, tag, said)
				}
			}
			forget()
			if !killed {
				drop()
				break
			}
		}
	}
	t.Logf("%d kills", kills)
	Tally(t, "kills of a client", kills)
	if kills < least*rounds {
		t.Errorf("only %d kills in %d rounds", kills, rounds)
	}
}

// Survived looks at a store after a crash of the script with a tag: whatever was said is there, no commit is there by half, the
// ledger is whole, recovery leaves nothing unfinished, and what was not said ends the same when it is done again.
func Survived(t *testing.T, reach Reach, address, tag, said string) {
	t.Helper()
	b, err := reach(ctx, address, nil)
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
	before := WholeCommits(t, s)
	for line := range strings.Lines(said) {
		run, snapshot, _ := strings.Cut(strings.TrimSpace(line), " ")
		if made := before[run]; made == "" || snapshot != "" && made != snapshot {
			t.Errorf("the commit of %s was reported as snapshot %q, and is %q", run, snapshot, made)
		}
	}
	sound(t, s, said)
	if _, err := s.Recover(ctx, memory.Recovery{Worker: "parent"}); err != nil {
		t.Error(err)
	}
	if again, err := s.Recover(ctx, memory.Recovery{Worker: "parent"}); err != nil || len(again) != 0 {
		t.Errorf("recovery has left %+v, %v", again, err)
	}
	after := WholeCommits(t, s)
	for run, snapshot := range before {
		if after[run] != snapshot {
			t.Errorf("recovery has moved the commit of %s from %s to %q", run, snapshot, after[run])
		}
	}
	for _, r := range crashRuns {
		repeat(t, s, r.name+"-"+tag, r.split)
	}
	sound(t, s, said)
}

func sound(t *testing.T, s *memory.Store, said string) {
	t.Helper()
	if _, err := s.VerifyLedger(ctx); err != nil {
		t.Errorf("after %q: %v", said, err)
	}
}

// repeat does a run again whose answer may have been lost. M5: where its commit was applied it is so once, and the answer is the
// one that was lost; else it is applied now.
func repeat(t *testing.T, s *memory.Store, run string, split bool) {
	t.Helper()
	known, err := s.Run(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	made := WholeCommits(t, s)[run]
	if (known.State == memory.CommitApplied) != (made != "") {
		t.Errorf("the run %s is in %q, and its snapshot is %q", run, known.State, made)
	}
	out, err := CommitRun(s, run, known.Start, split, crashWrites(run)...)
	if err != nil || out.Repeated != (made != "") || made != "" && out.Snapshot != made {
		t.Errorf("%s again: %+v, %v; the snapshot was %q", run, out, err, made)
	}
	if now := WholeCommits(t, s)[run]; now != out.Snapshot {
		t.Errorf("the snapshot of %s is %q, and %s was reported", run, now, out.Snapshot)
	}
}

// WholeCommits holds the newest snapshots to whole commits of two records each, and gives the snapshots of all commits by run. Older
// ones were looked at when they were new.
func WholeCommits(t *testing.T, s *memory.Store) map[string]string {
	t.Helper()
	list, err := s.Snapshots(ctx)
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]string{}
	for i, row := range list {
		if row.Number != int64(i) {
			t.Fatalf("the snapshot at place %d is number %d", i, row.Number)
		}
		if row.RunID != "" {
			if whole[row.RunID] != "" {
				t.Fatalf("the run %s was applied twice", row.RunID)
			}
			whole[row.RunID] = row.ID()
		}
		if i < len(list)-2 {
			continue
		}
		state, err := s.State(ctx, row.ID())
		if err != nil {
			t.Fatal(err)
		}
		records := state.Records()
		if len(records) != 2*len(whole) {
			t.Fatalf("snapshot %s has %d records of %d commits", row.ID(), len(records), len(whole))
		}
		for _, r := range records {
			if run := r.ID[:strings.LastIndex(r.ID, "-")]; whole[run] == "" {
				t.Fatalf("snapshot %s has %s, whose run has not committed", row.ID(), r.ID)
			}
		}
	}
	return whole
}

// Tally adds a figure of a campaign to the file that DMPL_TALLY names, for who counts over all stores.
func Tally(t *testing.T, what string, count int) {
	t.Helper()
	path := os.Getenv("DMPL_TALLY")
	if path == "" {
		return
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(f, "%d %s %s\n", count, t.Name(), what)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
