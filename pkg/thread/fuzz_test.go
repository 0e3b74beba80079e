package thread_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// FuzzStages: whatever is asked, a stage gives canonical bytes or an error, and the same twice.
func FuzzStages(f *testing.F) {
	for _, name := range []string{"context_digest", "decision_digest", "event_digest", "config_digest", "ref_resolution", "build_context"} {
		n := 0
		for line := range bytes.Lines(read(f, filepath.Join("..", "..", "fixtures", "thread", name+".jsonl"))) {
			if n++; n%5 == 1 {
				f.Add(line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		input, err := thread.Read(src)
		if err != nil {
			return
		}
		for name, stage := range stages {
			out, err := stage(input)
			again, errAgain := stage(input)
			if (err == nil) != (errAgain == nil) || !bytes.Equal(out, again) {
				t.Errorf("%s: %s, error %v; again %s, error %v", name, out, err, again, errAgain)
			}
			if err != nil {
				continue
			}
			if normal, err := canon.Append(nil, out, canon.DBL); err != nil || !bytes.Equal(normal, out) {
				t.Errorf("%s: the answer %s is not canonical: %s, error %v", name, out, normal, err)
			}
		}
	})
}
