// Package threadtest changes recorded event streams for tests, as a forger would: with or without the digests over what
// was changed.
package threadtest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Edit is one change to a snapshot.
type Edit struct {
	At     string `json:"at"` // JSON Pointer; a name that is not there yet is added
	Value  any    `json:"value,omitempty"`
	Remove bool   `json:"remove,omitempty"`
}

// Snapshot is the JSON snapshot of a stream, as a tree.
type Snapshot struct {
	Tree map[string]any
	t    testing.TB
}

// Load reads the snapshot at path. Texts with lone surrogates do not survive.
func Load(t testing.TB, path string) *Snapshot {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, raw)
}

// Parse reads a snapshot. Numbers keep their text.
func Parse(t testing.TB, raw []byte) *Snapshot {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	s := &Snapshot{t: t}
	if err := d.Decode(&s.Tree); err != nil {
		t.Fatal(err)
	}
	return s
}

// Events gives the events, to be read and changed.
func (s *Snapshot) Events() []map[string]any {
	list, _ := s.Tree["events"].([]any)
	events := make([]map[string]any, len(list))
	for i, e := range list {
		events[i], _ = e.(map[string]any)
	}
	return events
}

// At gives the value at a JSON Pointer; nil where there is none.
func (s *Snapshot) At(pointer string) any {
	var v any = s.Tree
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch in := v.(type) {
		case map[string]any:
			v = in[unescape.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// Apply makes the changes, one after the other.
func (s *Snapshot) Apply(edits ...Edit) *Snapshot {
	s.t.Helper()
	for _, e := range edits {
		s.Tree, _ = s.edited(s.Tree, strings.Split(e.At, "/")[1:], e).(map[string]any)
	}
	return s
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func (s *Snapshot) edited(v any, path []string, e Edit) any {
	if len(path) == 0 {
		return e.Value
	}
	name, last := unescape.Replace(path[0]), len(path) == 1
	switch v := v.(type) {
	case map[string]any:
		if last && e.Remove {
			delete(v, name)
			return v
		}
		v[name] = s.edited(v[name], path[1:], e)
		return v
	case []any:
		i, err := strconv.Atoi(name)
		if err == nil && i >= 0 && i < len(v) {
			if last && e.Remove {
				return slices.Delete(v, i, i+1)
			}
			v[i] = s.edited(v[i], path[1:], e)
			return v
		}
	}
	s.t.Fatalf("no such place: %s", e.At)
	return nil
}

// JSON gives the snapshot as text.
func (s *Snapshot) JSON() []byte {
	s.t.Helper()
	raw, err := json.Marshal(s.Tree)
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// Write writes the snapshot to a file of the test and gives its path.
func (s *Snapshot) Write() string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "snapshot.json")
	if err := os.WriteFile(path, s.JSON(), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}
