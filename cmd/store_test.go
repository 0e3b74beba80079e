package cmd_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
	"github.com/dmpl/dmpl/pkg/schema"
)

// pendingStore gives the --store flag of a store whose run "left" is pending under the lease of another worker.
func pendingStore(t *testing.T) string {
	t.Helper()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "memory.db")
	backend, err := sqlite.Open(ctx, path, true)
	if err != nil {
		t.Fatal(err)
	}
	s := memory.NewStore(backend, memory.At(nowInTicks))
	sum, err := memory.PayloadFingerprint(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []func() error{
		func() error { _, err := s.Create(ctx, "store"); return err },
		func() error { _, err := s.Open(ctx, "left", ""); return err },
		func() error { _, err := s.Request(ctx, "left", "commit", sum.Hex()); return err },
		func() error { _, err := s.Acquire(ctx, "left", "other", memory.LeaseLength); return err },
		s.Close,
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	return "sqlite:" + path
}

// storeRefusals are commands on stores that are refused, with what each says.
func storeRefusals(t *testing.T) []struct {
	args []string
	exit int
	says string
} {
	t.Helper()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put := file("put.json", `{"writes":[{"op":"put","record":{"record_id":"n","record_type":"note","created_at_ticks":7,"sequence_number":0,"source":50,"content":{}}}]}`)
	policies := func(limit string) string {
		return file("policies"+limit+".json", `{"schema_version":"memory.policy_set.v1","retrieval":{},"admission":[],"commit":{"rules":[{"id":"few","rule":"most_writes","limit":`+limit+`}]},"retention":{"lanes":[]}}`)
	}
	none, some := policies("0"), policies("9")
	ledger := file("ledger.json", `{"schema_version":"memory.ledger.v1","store_id":"s","rows":[]}`)
	left, own := pendingStore(t), "sqlite:"+filepath.Join(dir, "own.db")
	on := func(store, line string) []string {
		args := append(strings.Fields("store "+line), "--store", store)
		if strings.HasPrefix(line, "run ") && !strings.HasPrefix(line, "run abort") {
			args = append(args, "--env", "ci", "--buffered-write", "ci")
		}
		return args
	}
	type refusal = struct {
		args []string
		exit int
		says string
	}
	return []refusal{
		{on(own, "snapshot list"), 2, "store.unusable"},
		{on(own, "init"), 0, ""},
		{append(on(own, "run open a"), "--env", "prod"), 2, "store.not_allowed"},
		{on(own, "snapshot show 00000000000000000007"), 2, "store.unknown_snapshot"},
		{on(own, "run commit a --policies "+some), 2, "store.state"},
		{on(own, "run open a"), 0, ""},
		{on(own, "run open b"), 0, ""},
		{on(own, "run open c"), 0, ""},
		{on(own, "run write a "+put), 0, ""},
		{on(own, "run write b "+put), 0, ""},
		{on(own, "run write c "+put), 0, ""},
		{on(own, "run commit a --policies "+some), 0, ""},
		{on(own, "run commit b --policies "+some), 1, "store.validation_failed"},
		{on(own, "run commit c --policies "+none), 1, "store.policy_rejected"},
		{on(own, "run open a --snapshot 00000000000000000000"), 0, ""},
		{on(own, "run commit a --policies "+some), 1, "store.payload_mismatch"},
		{on(left, "run abort left"), 2, "store.lease"},
		{on(left, "recover"), 1, "store.pending"},
		{on(left, "ledger verify"), 0, ""},
		{[]string{"store", "ledger", "verify", ledger}, 1, "store.ledger_broken"},
	}
}

// M2 to M8: what a store refuses has its exit code and its reason.
func TestAStoreSaysWhyItRefuses(t *testing.T) {
	for _, r := range storeRefusals(t) {
		p := newProcess(t)
		if code := p.Run(r.args); code != r.exit || !strings.Contains(p.errs.String(), r.says) || (r.says == "") != (p.errs.String() == "") {
			t.Errorf("dmpl %s: exit %d, want %d and %q\n%s%s", strings.Join(r.args, " "), code, r.exit, r.says, p.out, p.errs)
		}
	}
}

// M8: an exported ledger is a memory.ledger.v1.
func TestAnExportedLedgerFollowsItsSchema(t *testing.T) {
	p := newProcess(t)
	if code := p.Run([]string{"store", "ledger", "export", "--store", pendingStore(t)}); code != 0 {
		t.Fatalf("exit %d: %s", code, p.errs)
	}
	if problems, err := schema.Validate("memory.ledger.v1", p.out.Bytes()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v in %s", err, problems, p.out)
	}
}

// M6, M7: a worker ends what it can, goes on, and stops cleanly when it is asked to.
func TestAWorkerStopsWhenItIsAskedTo(t *testing.T) {
	store := pendingStore(t)
	c := exec.Command(os.Args[0], "store", "recover", "--watch", "--store", store)
	c.Args[0] = "dmpl" // by this name the test is dmpl
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n') // the lease of the tests' clock ran out long ago
	if err != nil || !strings.HasPrefix(line, `run "left"  commit_applied`) {
		t.Errorf("%q, %v", line, err)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
