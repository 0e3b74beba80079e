package cmd_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory/memorytest"
)

// storeShell runs commands on one store.
type storeShell struct {
	t        *testing.T
	store    string
	policies string
	writes   string
}

func newStoreShell(t *testing.T, store string) storeShell {
	t.Helper()
	dir := t.TempDir()
	s := storeShell{t, store, filepath.Join(dir, "policies.json"), filepath.Join(dir, "writes.json")}
	for path, text := range map[string]string{
		s.policies: `{"schema_version":"memory.policy_set.v1","retrieval":{},"admission":[],"commit":{"rules":[]},"retention":{"lanes":[]}}`,
		s.writes: `{"writes":[{"op":"append","record":{"record_id":"n","record_type":"note","created_at_ticks":7,"sequence_number":0,"source":50,"content":{"text":"` +
			strings.Repeat("x", 9000) + `"}}}]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run runs a command on the store. POLICIES and WRITES stand for files.
func (s storeShell) run(line string) (code int, out, errs string) {
	s.t.Helper()
	p := newProcess(s.t)
	args := []string{"store"}
	for _, word := range strings.Fields(line) {
		switch word {
		case "POLICIES":
			word = s.policies
		case "WRITES":
			word = s.writes
		}
		args = append(args, word)
	}
	args = append(args, "--store", s.store)
	for _, command := range []string{"run open", "run write", "run commit"} {
		if strings.HasPrefix(line, command) {
			args = append(args, "--env", "ci", "--buffered-write", "ci")
		}
	}
	code = p.Run(args)
	return code, p.out.String(), p.errs.String()
}

func (s storeShell) ok(lines ...string) (out string) {
	s.t.Helper()
	for _, line := range lines {
		code, said, errs := s.run(line)
		if code != 0 {
			s.t.Fatalf("dmpl store %s: exit %d\n%s", line, code, errs)
		}
		out += said
	}
	return out
}

// refused holds a command to exit code 2 and one clear line, with a hint.
func (s storeShell) refused(line, says string) {
	s.t.Helper()
	code, out, errs := s.run(line)
	lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n")
	if code != 2 || out != "" || len(lines) != 2 || !strings.HasPrefix(lines[0], "dmpl: ") || !strings.HasPrefix(lines[1], "hint: ") ||
		!strings.Contains(lines[0], says) || !strings.HasSuffix(lines[0], "(store.unusable)") || strings.Contains(errs, "secret") {
		s.t.Errorf("dmpl store %s: exit %d, want 2 and %q\n%s%s", line, code, says, out, errs)
	}
}

// known is all that a store says about itself.
func (s storeShell) known() string {
	s.t.Helper()
	return s.ok("snapshot list", "ledger verify", "ledger show", "snapshot export")
}

// storeSteps are what a run does on a store, in order, with what must have been done before.
var storeSteps = []string{"init", "run open a", "run write a WRITES", "run commit a --policies POLICIES", "run open left", "recover --idle 0s"}

// M4: a disk that is full at any point of any step: one clear line, the old state intact, and the step goes on when there is room.
func TestAFullDiskLeavesTheOldState(t *testing.T) {
	disk := memorytest.NewDisk(t, "1m")
	s := newStoreShell(t, "sqlite:"+filepath.Join(disk.Dir, "memory.db"))
	refusals := 0
	for i, step := range storeSteps {
		before := ""
		if i > 0 {
			before = s.known()
		}
		for free := int64(0); ; free += 4096 {
			disk.Fill(free)
			code, _, _ := s.run(step)
			if code == 0 {
				disk.Free()
				break
			}
			s.refused(step, ": the disk is full")
			disk.Free()
			refusals++
			if i == 0 {
				s.refused("snapshot list", "there is no store")
			} else if now := s.known(); now != before {
				t.Fatalf("%s with %d bytes free has left\n%s\nof\n%s", step, free, now, before)
			}
		}
	}
	if refusals < 3*len(storeSteps) {
		t.Errorf("only %d refusals", refusals)
	}
}

// M4: a disk that cannot be written: one clear line for each step, and the old state is there when it can be again.
func TestAReadOnlyDiskLeavesTheOldState(t *testing.T) {
	disk := memorytest.NewDisk(t, "1m")
	s := newStoreShell(t, "sqlite:"+filepath.Join(disk.Dir, "memory.db"))
	for i, step := range storeSteps {
		before := ""
		if i > 0 {
			before = s.known()
		}
		disk.Mode("ro")
		says := "cannot be"
		s.refused(step, says)
		if i > 0 {
			s.refused("snapshot list", says)
		}
		disk.Mode("rw")
		if i > 0 && s.known() != before {
			t.Fatalf("%s has left\n%s\nof\n%s", step, s.known(), before)
		}
		s.ok(step)
	}
}

// M1, M4, M7: files that are no store of this version, or a copy of another.
func TestAFileThatIsNoStoreOfThisVersion(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	newStoreShell(t, "sqlite:"+path).ok("init", "run open a", "run write a WRITES", "run commit a --policies POLICIES", "run open left")
	whole, err := os.ReadFile(path)
	if err := errors.Join(err, os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func([]byte) []byte
		says   string
	}{
		"newer.db": {func(b []byte) []byte { b[63] = 99; return b }, "has tables of version 99, and "},
		"rows.db": {
			func(b []byte) []byte {
				return bytes.ReplaceAll(b, []byte("memory.store.v1"), []byte("memory.store.v9"))
			},
			`the store's rows are "memory.store.v9", and memory.store.v1 is the version that is known`,
		},
		"foreign.db": {func(b []byte) []byte { b[68] ^= 1; return b }, "is the database of another program"},
		"cut.db":     {func(b []byte) []byte { return b[:len(b)/2] }, "is a damaged SQLite database"},
		"text.db":    {func([]byte) []byte { return []byte(strings.Repeat("no database. ", 99)) }, "is no SQLite database"},
	}
	for name, tt := range tests {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, tt.change(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		before, err1 := os.ReadFile(at)
		s := newStoreShell(t, "sqlite:"+at)
		for _, line := range append([]string{"snapshot list"}, storeSteps...) {
			s.refused(line, tt.says)
		}
		after, err2 := os.ReadFile(at)
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed, %v", name, err)
		}
	}
	copied := filepath.Join(dir, "copied.db")
	if err := errors.Join(os.WriteFile(path, whole, 0o600), os.WriteFile(copied, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := newStoreShell(t, "sqlite:"+copied)
	if original := newStoreShell(t, "sqlite:"+path).known(); s.known() != original {
		t.Error("a copy reads otherwise than the store")
	}
	for _, line := range []string{"init", "run open b", "recover --idle 0s", "gc", "snapshot import " + exported(t, s)} {
		s.refused(line, "copied.db: is a copy of the store at "+path)
	}
	if after, err := os.ReadFile(copied); err != nil || !bytes.Equal(whole, after) {
		t.Errorf("the copy was changed, %v", err)
	}
}

func exported(t *testing.T, s storeShell) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snapshot.json")
	if err := os.WriteFile(path, []byte(s.ok("snapshot export")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// postgresServer is a server of the test's own.
func postgresServer(t *testing.T) *memorytest.Server {
	t.Helper()
	server, err := memorytest.NewServer()
	if errors.Is(err, memorytest.ErrNoServer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// M4, M5: a server that refuses, is not there, or goes in the middle of a commit.
func TestAServerThatFailsIsOneClearLine(t *testing.T) {
	server := postgresServer(t)
	address, err := server.Address("store")
	if err := errors.Join(err, server.Lock("guest", "right")); err != nil {
		t.Fatal(err)
	}
	s := newStoreShell(t, address)
	s.refused("snapshot list", "there is no store in this database")
	s.ok("init", "run open a", "run write a WRITES", "run commit a --policies POLICIES")
	before := s.known()
	guest := strings.Replace(address, "dmpl@", "guest:%s@", 1)
	for store, says := range map[string]string{
		fmt.Sprintf(guest, "secret"):                        "the database refuses the user or the password",
		fmt.Sprintf(guest, "right"):                         "there is no store in this database", // that it may see
		strings.Replace(address, "/postgres?", "/none?", 1): "there is no such database",
		"postgres://dmpl:secret@127.0.0.1:1/none":           "the database is out of reach",
		"postgres://dmpl:secret@:x/none":                    "the address of the database is wrong",
	} {
		for _, line := range []string{"snapshot list", "run open b", "recover"} {
			newStoreShell(t, store).refused(line, says)
		}
	}
	if err := server.Exec("INSERT INTO store.dmpl_version VALUES (99)"); err != nil {
		t.Fatal(err)
	}
	s.refused("init", "the tables are of version 99, and ")
	if err := server.Exec("DELETE FROM store.dmpl_version WHERE version = 99"); err != nil {
		t.Fatal(err)
	}
	if s.known() != before {
		t.Error("the old state is not there")
	}
	for _, sent := range []bool{false, true} { // the connection breaks at the commit, before the server has it or after
		run := fmt.Sprint("sent-", sent)
		s.ok("run open "+run, "run write "+run+" WRITES")
		broken := newStoreShell(t, breaking(t, address, sent))
		broken.refused("run commit "+run+" --policies POLICIES", "the answer to a commit was lost, which is there whole or not at all")
		state := "buffer_open"
		if sent {
			state = "commit_applied"
		}
		out := s.ok("run show " + run)
		for asked := 1; asked < 500 && sent && !strings.Contains(out, state); asked++ { // the server may be at it still
			out = s.ok("run show " + run)
		}
		if !strings.Contains(out, state) {
			t.Errorf("%s: %s", run, out)
		}
		s.ok("ledger verify")
	}
}

// breaking gives the address of a store whose connections break at the first commit of a transaction that has written something.
func breaking(t *testing.T, address string, sent bool) string {
	t.Helper()
	var wrote atomic.Bool
	return relayed(t, address, func(message []byte) (send, end bool) {
		if bytes.Contains(message, []byte("INSERT INTO dmpl_ledger")) {
			wrote.Store(true)
		}
		end = wrote.Load() && bytes.Contains(message, []byte("Q\x00\x00\x00\x0bcommit\x00"))
		return !end || sent, end
	})
}

// relayed gives an address of the same store by way of a relay, which asks of each message of a client whether it is to be sent on,
// and whether the client is to be left alone after it.
func relayed(t *testing.T, address string, judge func(message []byte) (send, end bool)) string {
	t.Helper()
	host := address[strings.Index(address, "@")+1 : strings.Index(address, "/postgres?")]
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := door.Accept()
			if err != nil {
				return
			}
			all.Go(func() { relay(t, client, host, judge) })
		}
	})
	t.Cleanup(func() {
		if err := door.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
	return strings.Replace(address, host, door.Addr().String(), 1)
}

// relay carries what a client and the server say.
func relay(t *testing.T, client net.Conn, host string, judge func(message []byte) (send, end bool)) {
	server, err := net.Dial("tcp", host)
	if err != nil {
		t.Error(err)
		return
	}
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		_, _ = io.Copy(client, server) // until either is gone
		_ = client.Close()
	}()
	for buffer := make([]byte, 1<<16); ; {
		n, err := client.Read(buffer)
		send, end := judge(buffer[:n])
		if end {
			_ = client.Close()
		}
		if n > 0 && send {
			_, _ = server.Write(buffer[:n])
		}
		if err != nil || end {
			break
		}
	}
	if c, ok := server.(*net.TCPConn); ok {
		_ = c.CloseWrite() // the server reads all, and ends
	}
	<-answers
	_ = server.Close()
}
