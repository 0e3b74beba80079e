package dialecttest

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// Streams is the reader of a dialect of event streams. It is no [dialect.Reader]: a stream may be larger than memory and a
// database, so that it is read from its path, event by event, and lies in no folder of turns.
type Streams struct {
	Name   string
	Detect func(*dialect.File) (bool, error)
	// Read gives all that is read of a stream, to be compared with reflect.DeepEqual, and its inputs.
	Read func(path string, o dialect.Options) (model any, inputs []finding.Input, err error)
}

// RunStreams holds a reader of streams to the same contract as [Run] does, with samples: paths of streams that it must read.
//
//   - A sample is detected by its content, whatever its name, and every time.
//   - Equal bytes give equal models, from a path and from standard input.
//   - A sample that is empty or cut off, and a text with a NUL byte in it, is a [dialect.Problem] that names the file. A database
//     that is damaged may still be read: what it gives is for verify to judge. Nothing makes the reader panic.
//   - No reading changes the sample.
func RunStreams(t *testing.T, r Streams, samples ...string) {
	t.Helper()
	if len(samples) == 0 || r.Name == "" {
		t.Fatalf("%d samples of the dialect %q", len(samples), r.Name)
	}
	for _, path := range samples {
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := dialect.ReadFile(path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			detects(t, r.Detect, f)
			r.readsAlike(t, f)
			r.refuses(t, f)
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, f.Data) {
				t.Errorf("%s was changed: %v", path, err)
			}
		})
	}
}

func (r Streams) readsAlike(t *testing.T, f *dialect.File) {
	t.Helper()
	first, inputs, err := r.Read(f.Path, dialect.Options{Digests: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(inputs) == 0 || inputs[0].Path != f.Path || inputs[0].Dialect != r.Name || inputs[0].Bytes != f.Bytes || inputs[0].SHA256 == "" {
		t.Errorf("inputs %+v", inputs)
	}
	second, _, err := r.Read(f.Path, dialect.Options{})
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("equal bytes give two models: %v", err)
	}
	piped, _, err := r.Read("-", dialect.Options{Stdin: bytes.NewReader(f.Data)})
	if err != nil || !reflect.DeepEqual(first, piped) {
		t.Errorf("standard input gives another model: %v", err)
	}
}

// refuses cuts the sample off and damages it at many places.
func (r Streams) refuses(t *testing.T, f *dialect.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "damaged")
	text := f.Data[0] == '{'
	end := len(bytes.TrimSpace(f.Data))
	for at := 0; at < end; at += max(1, end/mostCuts) {
		r.problem(t, path, f.Data[:at], true)
		damaged := bytes.Clone(f.Data)
		damaged[at] = 0
		r.problem(t, path, damaged, text)
	}
}

func (r Streams) problem(t *testing.T, path string, data []byte, must bool) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := r.Read(path, dialect.Options{})
	switch {
	case err != nil:
		isClear(t, &dialect.File{Path: path, Data: data}, err)
	case must:
		t.Errorf("%d bytes were read", len(data))
	}
}
