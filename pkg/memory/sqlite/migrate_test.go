package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory/sqlite"
)

// A file of the first version, where what lives and what is gone stood in one table, is read as it was.
func TestAFileOfAnEarlierVersionIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.db")
	if err := sqlite.OpenAsVersion(ctx, path, 1); err != nil {
		t.Fatal(err)
	}
	raw(
		t, path,
		`INSERT INTO about VALUES (1, CAST('{"schema_version":"memory.store.v1","store_id":"old","oldest_snapshot":0}' AS BLOB))`,
		`INSERT INTO snapshot VALUES (1, NULL, CAST('{"number":1,"next_sequence_number":3}' AS BLOB)), (2, NULL, CAST('{"number":2,"next_sequence_number":3}' AS BLOB))`,
		`INSERT INTO record VALUES (1, 1, 2, 'note', 'a', CAST('{"v":"old"}' AS BLOB)), (1, 2, NULL, 'note', 'a', CAST('{"v":"new"}' AS BLOB)), (2, 1, NULL, 'note', 'b', CAST('{"v":"same"}' AS BLOB))`,
		`INSERT INTO run VALUES ('open', 'buffer_open', CAST('{"run_id":"open","state":"buffer_open"}' AS BLOB))`,
	)
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for snapshot, want := range map[string]string{"00000000000000000001": `{"v":"old"}{"v":"same"}`, "00000000000000000002": `{"v":"new"}{"v":"same"}`} {
		got := ""
		if err := s.Records(ctx, snapshot, func(record []byte) error { got += string(record); return nil }); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", snapshot, got, err, want)
		}
	}
	if run, err := s.Run(ctx, "open"); err != nil || run.State != "buffer_open" {
		t.Errorf("%+v, %v", run, err)
	}
}
