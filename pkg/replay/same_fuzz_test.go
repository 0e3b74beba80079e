package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// mangled changes a file at a place, as the bytes of a fuzzer say.
func mangled(text []byte, kind, place, value byte) []byte {
	if len(text) == 0 {
		return []byte{value}
	}
	at := (int(place)*257 + int(value)) % len(text)
	lines := bytes.SplitAfter(text, []byte("\n"))
	i := int(place) % len(lines)
	switch kind % 8 {
	case 0: // a byte
		return slices.Replace(slices.Clone(text), at, at+1, value)
	case 1: // a digit
		if next := bytes.IndexAny(text[at:], "0123456789"); next >= 0 {
			return slices.Replace(slices.Clone(text), at+next, at+next+1, '0'+value%10)
		}
		return text
	case 2: // a line twice
		return bytes.Join(slices.Insert(lines, i, lines[i]), nil)
	case 3: // a line less
		return bytes.Join(slices.Delete(lines, i, i+1), nil)
	case 4: // a line in another place
		line := lines[i]
		rest := slices.Delete(slices.Clone(lines), i, i+1)
		return bytes.Join(slices.Insert(rest, int(value)%(len(rest)+1), line), nil)
	case 5: // a member more
		if next := bytes.IndexByte(text[at:], '{'); next >= 0 {
			return slices.Insert(slices.Clone(text), at+next+1, []byte(`"more":1,`)...)
		}
		return text
	case 6: // white space
		if next := bytes.IndexAny(text[at:], ",:"); next >= 0 {
			return slices.Insert(slices.Clone(text), at+next+1, ' ')
		}
		return text
	default: // the end
		return text[:at]
	}
}

// R1: whatever is done to a run whose manifest fits, what is walked through says what is said of a run that is read whole.
func FuzzSameRun(f *testing.F) {
	names := []string{"turns", "tools", "references", "candidates", "prompts", "fallback", "off", "stage-failed", "policy-rejected", "retry"}
	for i := range names {
		for kind := range byte(8) {
			f.Add(byte(i), []byte{kind, 3, 200, 7, kind, 5, 90, 30})
		}
	}
	f.Fuzz(func(t *testing.T, which byte, edits []byte) {
		from := filepath.Join(native, "runs", names[int(which)%len(names)])
		dir := runtest.Copy(t, from, filepath.Join(t.TempDir(), "run"))
		list := files(t, from)
		for e := range slices.Chunk(edits[:min(len(edits), 32)], 4) {
			if len(e) < 4 {
				break
			}
			name := list[int(e[1])%len(list)]
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			runtest.Put(t, dir, name, mangled(text, e[0], e[2], e[3]))
		}
		runtest.Repair(t, dir)
		replayRun(t, dir, replay.RunOptions{Until: replay.All})
	})
}
