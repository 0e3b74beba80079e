package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory/memorytest"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

var ledgerFixture = filepath.Join(fixtures, "store", "ledger.json")

func everyLedger(*testing.T) []invocation {
	return []invocation{{"store/ledger.json", []string{"verify", ledgerFixture}}}
}

// rewrittenLedger is a ledger with a change, and what finds it.
type rewrittenLedger struct{ what, code, path string }

// rewrittenLedgers are ledgers with one change each; where rechained, somebody has made every digest again.
func rewrittenLedgers(t *testing.T) []rewrittenLedger {
	t.Helper()
	dir, whole := t.TempDir(), memorytest.Ledger(t)
	var all []rewrittenLedger
	for _, c := range []struct {
		what, before, after string
		rechained           bool
		code                string
	}{
		{"a time that was edited", `"time_ticks":63840000`, `"time_ticks":63830000`, false, "ledger.row_changed"},
		{"a row that says another number", `"row":2,`, `"row":3,`, false, "ledger.number"},
		{"a row that follows another", `"previous":"` + whole[0].Digest, `"previous":"` + whole[1].Digest, false, "ledger.link"},
		{"another store", `"detail":"store-1"`, `"detail":"store-2"`, true, "ledger.store"},
		{"writes that nobody asked to commit", `commit_requested`, `writes_buffered`, true, "ledger.state"},
		{"a snapshot that is not next", `"snapshot_imported","memory_snapshot_id":"00000000000000000001"`, `"snapshot_imported","memory_snapshot_id":"00000000000000000007"`, true, "ledger.snapshot"},
		{"an abort for no reason", `"reason_code":"validation_failed",`, ``, true, "ledger.commit"},
		{"a token twice", `"detail":"2 by`, `"detail":"1 by`, true, "ledger.lease"},
	} {
		rows := slices.Clone(whole)
		at := slices.IndexFunc(rows, func(r memorytest.LedgerRow) bool { return bytes.Contains(r.Row, []byte(c.before)) })
		if at < 0 {
			t.Fatalf("%s: no row has %s", c.what, c.before)
		}
		rows[at].Row = bytes.Replace(rows[at].Row, []byte(c.before), []byte(c.after), 1)
		if c.rechained {
			rows = memorytest.Rechain(t, rows)
		}
		name := strings.ReplaceAll(c.what, " ", "-") + ".json"
		runtest.Put(t, dir, name, memorytest.ExportLedger(memorytest.LedgerStoreID, rows))
		all = append(all, rewrittenLedger{c.what, c.code, filepath.Join(dir, name)})
	}
	return all
}

// M8: each change of an exported ledger has its code.
func TestRewrittenLedgersAreFound(t *testing.T) {
	for _, c := range rewrittenLedgers(t) {
		r, exit := runJSON(t, "verify", c.path)
		if exit != 1 || !slices.ContainsFunc(r.errors(), func(f reportedEntry) bool { return f.Code == c.code }) {
			t.Errorf("%s: exit code %d:%s", c.what, exit, inShort(r.errors()))
		}
	}
}

// V0: a ledger is found by its content: by name, in a folder, compressed, on standard input; what does not belong to one is refused.
func TestALedgerIsVerifiedWhereverItLies(t *testing.T) {
	text, err := os.ReadFile(ledgerFixture)
	if err != nil {
		t.Fatal(err)
	}
	root := layout(t, map[string]string{"a/ledger.json": ledgerFixture, "b/ledger.json.gz": ledgerFixture, "c/memory_trace.json": goodTrace})
	for _, args := range [][]string{{"verify", ledgerFixture}, {"verify", root}, {"verify", filepath.Join(root, "b", "ledger.json.gz")}, {"verify", ledgerFixture, "--dialect", "native"}} {
		r, exit := runJSON(t, append(args, "--require-coverage", "100")...)
		ledgers := 0
		for _, result := range r.Results {
			if strings.Contains(result.Name, "ledger.json") && result.Verdict == "pass" {
				ledgers++
			}
		}
		want := 1
		if args[1] == root {
			want = 2
		}
		if exit != 0 && args[1] != root || ledgers != want {
			t.Errorf("%v: exit code %d, %d ledgers:%s", args, exit, ledgers, inShort(r.errors()))
		}
	}
	p := newProcess(t)
	p.In = bytes.NewReader(text)
	if code := p.Run([]string{"verify", "-"}); code != 0 {
		t.Errorf("standard input: exit code %d, %s%s", code, p.out, p.errs)
	}
	for _, more := range []string{"--retrieval", "--context-config"} {
		p := newProcess(t)
		if code := p.Run([]string{"verify", ledgerFixture, more, goodTrace}); code != 2 {
			t.Errorf("%s: exit code %d, %s", more, code, p.errs)
		}
	}
}
