package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dmpl/dmpl/cmd"
	"github.com/dmpl/dmpl/pkg/run"
)

// dmpl runs a command and gives what it printed.
func dmpl(t *testing.T, args ...string) (string, error) {
	var out, errs bytes.Buffer
	a := &cmd.App{In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now, Dir: t.TempDir()}
	if code := a.Run(args); code != 0 {
		return out.String(), fmt.Errorf("dmpl %s: exit code %d: %s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String(), nil
}

// M1, M4, M5: agents on one store in a database, at the same time: every run commits once, and each replay finds start and commit.
func TestRunsShareADatabase(t *testing.T) {
	store, drop := fresh(t)
	defer drop()
	root := t.TempDir()
	must := func(args ...string) string {
		t.Helper()
		out, err := dmpl(t, append(args, "--store", store)...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	in := filepath.Join(root, "in")
	if err := os.CopyFS(in, os.DirFS(filepath.Join("..", "..", "..", "fixtures", "native", "inputs", "storage-failed"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(in, run.SnapshotFile)); err != nil {
		t.Fatal(err)
	}
	must("store", "init")
	records := func(out, id string) (string, error) {
		return dmpl(t, "run", "--store", store, "--from", in, "--out", filepath.Join(root, out, id), "--run-id", id,
			"--visibility", "buffered_write", "--env", "ci", "--buffered-write", "ci")
	}
	const agents, runs = 3, 5
	var group sync.WaitGroup
	failed := make([]error, agents)
	for agent := range agents {
		group.Go(func() {
			for n := range runs {
				_, err := records("runs", fmt.Sprintf("agent-%d-%d", agent, n))
				failed[agent] = errors.Join(failed[agent], err)
			}
		})
	}
	group.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(must("store", "snapshot", "list"), "commit "); got != agents*runs {
		t.Errorf("%d commits", got)
	}
	if again, err := records("again", "agent-0-0"); err != nil || !strings.Contains(again, "committed before") {
		t.Errorf("%s%v", again, err)
	}
	if said := must("replay", filepath.Join(root, "runs")); strings.Count(said, "equivalent ") != agents*runs {
		t.Error(said)
	}
	must("store", "ledger", "verify")
	ledger := filepath.Join(root, "ledger.json")
	if err := os.WriteFile(ledger, []byte(must("store", "ledger", "export")), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := dmpl(t, "verify", ledger); err != nil {
		t.Error(said, err)
	}
}
