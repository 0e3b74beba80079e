package cmd_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/run"
)

// M4, M5, M6: a process that records a run is killed at any moment; whatever it left, the same run again is applied once, and a
// recording that is complete says what the store says.
func TestARunThatIsKilledIsAppliedOnce(t *testing.T) {
	b := newStoreBench(t, "")
	b.now = time.Now // as in the processes
	const kills = 16
	cut, whole, none := 0, 0, 0
	for n := range kills {
		id := fmt.Sprint("run-", n)
		args := []string{
			"run", "--store", b.store, "--from", b.path("storage-failed"), "--out", b.path(id), "--run-id", id,
			"--visibility", "buffered_write", "--env", "ci", "--buffered-write", "ci",
		}
		limited, stop := context.WithTimeout(context.Background(), time.Duration(n+1)*12*time.Millisecond)
		c := exec.CommandContext(limited, os.Args[0], args...) // killed with SIGKILL when the time is over
		c.Args[0] = "dmpl"                                     // by this name the test is dmpl
		_ = c.Run()
		stop()
		switch read, err := run.Read(b.path(id), nil, 0); {
		case err != nil:
			none++
		case read.Trace.Recording.CutShort != "":
			cut++
		default:
			whole++
			if said := b.exits(0, "replay", b.path(id), "--store", b.store); !strings.HasPrefix(said, "equivalent") {
				t.Errorf("%s: %s", id, said)
			}
		}
		b.exits(0, "store", "recover", "--idle", "0s", "--store", b.store)
		args[6] = b.path(id + "-again")
		said := b.exits(0, args...)
		if !strings.Contains(said, "commit_applied") {
			t.Errorf("%s: %s", id, said)
		}
		b.exits(0, "replay", b.path(id+"-again"), "--store", b.store)
	}
	t.Logf("%d were complete, %d cut short, %d had written nothing", whole, cut, none)
	if got := strings.Count(b.exits(0, "store", "snapshot", "list", "--store", b.store), "commit "); got != kills {
		t.Errorf("%d commits of %d runs", got, kills)
	}
	b.exits(0, "store", "ledger", "verify", "--store", b.store)
}
