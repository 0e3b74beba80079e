package dblgateway_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// listing gives every file of a folder with mode, modification time and digest.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var sum [sha256.Size]byte
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(data)
		}
		lines = append(lines, fmt.Sprintf("%s %s %d %x", path, info.Mode(), info.ModTime().UnixNano(), sum))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// lay writes a file with a modification time of long ago.
func lay(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Unix(1_700_000_000, 123_000_000)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func layFixture(t *testing.T, path, fixture string) {
	t.Helper()
	lay(t, path, gunzipped(t, filepath.Join(fixtures, fixture)))
}

// layLive lays out the copy of a live store: all of its rows are in the log.
func layLive(t *testing.T, path string) {
	t.Helper()
	layFixture(t, path, "s14_wal_live/live.sqlite")
	layFixture(t, path+"-wal", "s14_wal_live/live.sqlite-wal.gz")
}

func TestEvidenceIsNotAltered(t *testing.T) {
	tests := []struct {
		name string
		lay  func(t *testing.T, dir string) (path string)
	}{
		{"snapshot", func(t *testing.T, dir string) string {
			layFixture(t, filepath.Join(dir, "a.json"), "s01_chat_refs/snapshot.json")
			return filepath.Join(dir, "a.json")
		}},
		{"trail", func(t *testing.T, dir string) string {
			layFixture(t, filepath.Join(dir, "a.sqlite"), "s01_chat_refs/trail.sqlite")
			return filepath.Join(dir, "a.sqlite")
		}},
		{"trail with an empty log", func(t *testing.T, dir string) string {
			layFixture(t, filepath.Join(dir, "a.sqlite"), "s01_chat_refs/trail.sqlite")
			lay(t, filepath.Join(dir, "a.sqlite-wal"), nil)
			return filepath.Join(dir, "a.sqlite")
		}},
		{"trail with a log", func(t *testing.T, dir string) string {
			layLive(t, filepath.Join(dir, "a.sqlite"))
			return filepath.Join(dir, "a.sqlite")
		}},
		{"link to a trail with a log", func(t *testing.T, dir string) string {
			if err := os.Mkdir(filepath.Join(dir, "store"), 0o700); err != nil {
				t.Fatal(err)
			}
			layLive(t, filepath.Join(dir, "store", "a.sqlite"))
			if err := os.Symlink(filepath.Join("store", "a.sqlite"), filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "link")
		}},
		{"name that is no plain URI", func(t *testing.T, dir string) string {
			path := filepath.Join(dir, "a b?mode=rwc&c#d%2e%.sqlite")
			layFixture(t, path, "s01_chat_refs/trail.sqlite")
			return path
		}},
	}
	for _, tt := range tests {
		for _, mode := range []fs.FileMode{0o700, 0o500} {
			t.Run(fmt.Sprintf("%s in a folder of mode %o", tt.name, mode), func(t *testing.T) {
				spool := t.TempDir()
				t.Setenv("TMPDIR", spool)
				dir := t.TempDir()
				path := tt.lay(t, dir)
				if err := os.Chmod(dir, mode); err != nil {
					t.Fatal(err)
				}
				before := listing(t, dir)
				s, events, err := tryRead(path, dialect.Options{Digests: true})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Payload(len(events) - 1); err != nil {
					t.Error(err)
				}
				if during := listing(t, dir); !slices.Equal(before, during) {
					t.Errorf("before %q\nwhile open %q", before, during)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if after := listing(t, dir); !slices.Equal(before, after) {
					t.Errorf("before %q\nafter %q", before, after)
				}
				if left := listing(t, spool); len(left) != 1 {
					t.Errorf("left behind: %q", left)
				}
				if len(events) == 0 {
					t.Error("no events")
				}
			})
		}
	}
}

func TestLogIsPartOfTheTrail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.sqlite")
	layLive(t, path)
	s, events := read(t, path, dialect.Options{Digests: true})
	_, want := read(t, filepath.Join(fixtures, "s14_wal_live", "snapshot.json"), dialect.Options{})
	sameEvents(t, want, events)
	if len(s.Inputs) != 2 {
		t.Fatalf("inputs %+v", s.Inputs)
	}
	for i, in := range []finding.Input{
		{Path: path, Kind: dblgateway.KindTrail, Bytes: 4096},
		{Path: path + "-wal", Kind: dblgateway.KindWAL, Bytes: 1746912},
	} {
		data, err := os.ReadFile(in.Path)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Inputs[i]
		if got.Path != in.Path || got.Kind != in.Kind || got.Bytes != in.Bytes || got.SHA256 != fmt.Sprintf("%x", sha256.Sum256(data)) {
			t.Errorf("input %+v", got)
		}
	}
}

func TestCopyThatCannotBeMadeIsAProblem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.sqlite")
	layLive(t, path)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	for _, o := range []struct{ path, stdin string }{{path, ""}, {"-", "{}"}} {
		_, _, err := tryRead(o.path, dialect.Options{Stdin: strings.NewReader(o.stdin)})
		if p := wantProblem(t, err, finding.InputUnreadable, o.path); strings.Contains(p.Detail, os.TempDir()) || !strings.Contains(p.Detail, "temporary copy") {
			t.Errorf("detail %q", p.Detail)
		}
	}
}

// A store without its log is no trail: the report must not say that it is empty.
func TestLogThatIsMissingIsNoEmptyTrail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.sqlite")
	layFixture(t, path, "s14_wal_live/live.sqlite")
	_, _, err := tryRead(path, dialect.Options{})
	if p := wantProblem(t, err, finding.InputUnrecognised, path); !strings.Contains(p.Detail, "-wal file is missing") {
		t.Errorf("detail %q", p.Detail)
	}
}

// database makes an SQLite file by statements.
func database(t *testing.T, path string, statements ...string) *sqlite.Conn {
	t.Helper()
	db, err := sqlite.OpenConn(path, sqlite.OpenReadWrite, sqlite.OpenCreate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // a second time it says so
	for _, s := range statements {
		if err := sqlitex.ExecuteTransient(db, s, nil); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

const (
	createEvents = "CREATE TABLE events (canon_len INTEGER, digest TEXT, payload_json TEXT, correlation_id TEXT, stream_id TEXT, intent_type TEXT," +
		" actor TEXT, parent_turn_id TEXT, turn_id TEXT, thread_id TEXT, lane TEXT, prev_event_digest TEXT, kind TEXT, idx INTEGER PRIMARY KEY AUTOINCREMENT)"
	createState = "CREATE TABLE v_state (last_index INTEGER, v_digest TEXT, id TEXT PRIMARY KEY)"
	insertState = "INSERT INTO v_state VALUES (0, 'v', 'current')"
	insertEvent = `INSERT INTO events VALUES (7, 'd', '{"a":1}', 'c', 's', 'i', 'a', NULL, 'tu', 'th', 'l', 'p', 'INTENT', NULL)`
)

func TestColumnsAreFoundByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.sqlite")
	db := database(t, path, createEvents, createState, insertState, insertEvent)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, events := read(t, path, dialect.Options{})
	want := thread.Event{
		Kind: "INTENT", PrevEventDigest: "p", Lane: "l", ThreadID: "th", TurnID: "tu", Actor: "a", IntentType: "i", StreamID: "s",
		CorrelationID: "c", Payload: []byte(`{"a":1}`), Digest: "d", CanonLen: 7,
	}
	sameEvents(t, []thread.Event{want}, events)
}

// A store may keep its texts as UTF-16, in either order of bytes.
func TestTextsOfAnyEncodingAreRead(t *testing.T) {
	payload := `{"message":"Größe 🙂","turn_id":"tu"}`
	insert := strings.Replace(insertEvent, `{"a":1}`, payload, 1)
	var wanted []thread.Event
	for i, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		path := filepath.Join(t.TempDir(), "trail.sqlite")
		if err := database(t, path, "PRAGMA encoding = '"+encoding+"'", createEvents, createState, insertState, insert, insert).Close(); err != nil {
			t.Fatal(err)
		}
		s, events := read(t, path, dialect.Options{})
		if again, err := s.Payload(1); err != nil || string(again) != payload {
			t.Errorf("%s: read again it is %q (%v)", encoding, again, err)
		}
		if i == 0 {
			wanted = events
		}
		if len(events) != 2 || string(events[1].Payload) != payload || events[1].Lane != "l" {
			t.Fatalf("%s: %+v", encoding, events)
		}
		sameEvents(t, wanted, events)
	}
}

// Rows that are committed while the trail is read are in it or not; what is in it is a beginning of the stream.
func TestStoreThatIsWrittenMeanwhileGivesABeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "live.sqlite")
	db := database(t, path, "PRAGMA journal_mode=WAL", createEvents, createState, insertState, insertEvent)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := sqlitex.Execute(db, insertEvent, nil); err != nil {
				done <- err
				return
			}
		}
	}()
	reads := 0
	for range 20 {
		s, events, err := tryRead(path, dialect.Options{})
		var p *dialect.Problem
		if errors.As(err, &p) && p.Code == finding.InputUnreadable {
			continue // it says that the store is being written, and gives nothing
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range events {
			if e.Index != i {
				t.Fatalf("index %d at position %d", e.Index, i)
			}
		}
		reads++
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if reads == 0 {
		t.Error("the store could not be read once")
	}
}
