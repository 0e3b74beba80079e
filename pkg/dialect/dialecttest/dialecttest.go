// Package dialecttest holds the contracts that readers of dialects must pass: of artifacts that are text files, and of streams.
package dialecttest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
)

// mostCuts bounds the places of one sample at which it is cut off or damaged.
const mostCuts = 400

// Run holds a reader to the contract of [dialect.Reader] with samples: paths of artifacts that it must read.
//
//   - A sample is detected by its content, whatever its name, and every time.
//   - Equal bytes give equal models.
//   - A sample that is empty, cut off, or has a NUL byte in it is a [dialect.Problem] that names the file, with an offset
//     inside it. Nothing makes the reader panic.
//   - Find lists the artifacts of a folder in the order of their paths, every time, and what it lists can be read.
func Run(t *testing.T, r dialect.Reader, samples ...string) {
	t.Helper()
	if len(samples) == 0 {
		t.Fatal("no samples")
	}
	if r.Name() == "" || r.Name() != strings.TrimSpace(r.Name()) {
		t.Errorf("the dialect's name is %q", r.Name())
	}
	for _, path := range samples {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			f, err := dialect.ReadFile(path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			detects(t, r.Detect, f)
			readsAlike(t, r, f)
			refuses(t, r, f)
		})
	}
	t.Run("find", func(t *testing.T) { finds(t, r, samples) })
}

// with gives the file other content.
func with(f *dialect.File, data []byte) *dialect.File {
	return &dialect.File{Path: f.Path, Data: data, Bytes: int64(len(data))}
}

func detects(t *testing.T, detect func(*dialect.File) (bool, error), f *dialect.File) {
	t.Helper()
	for _, name := range []string{f.Path, f.Path, "-", "anything.txt"} {
		other := with(f, f.Data)
		other.Path = name
		if is, err := detect(other); err != nil || !is {
			t.Errorf("%s as %s: detected %v, %v", f.Path, name, is, err)
		}
	}
	if is, _ := detect(with(f, nil)); is {
		t.Error("nothing is detected as an artifact")
	}
}

func readsAlike(t *testing.T, r dialect.Reader, f *dialect.File) {
	t.Helper()
	first, errFirst := r.Read(with(f, f.Data), dialect.Options{})
	second, errSecond := r.Read(with(f, bytes.Clone(f.Data)), dialect.Options{})
	if errFirst != nil || errSecond != nil {
		t.Fatalf("%v, %v", errFirst, errSecond)
	}
	if !reflect.DeepEqual(first, second) {
		t.Errorf("equal bytes give two models:\n%+v\n%+v", first, second)
	}
	if first.Dialect != r.Name() || len(first.Inputs) == 0 || first.Inputs[0].Path != f.Path {
		t.Errorf("dialect %s, inputs %+v", first.Dialect, first.Inputs)
	}
}

// refuses cuts the sample off and damages it, at every place or at many.
func refuses(t *testing.T, r dialect.Reader, f *dialect.File) {
	t.Helper()
	end := len(bytes.TrimSpace(f.Data))
	step := max(1, end/mostCuts)
	for at := 0; at < end; at += step {
		problem(t, r, with(f, f.Data[:at:at]))
		damaged := bytes.Clone(f.Data)
		damaged[at] = 0
		problem(t, r, with(f, damaged))
	}
	problem(t, r, with(f, append(bytes.Clone(f.Data), f.Data...)))
}

// problem holds the reader to one clear problem of a file that is no artifact.
func problem(t *testing.T, r dialect.Reader, f *dialect.File) {
	t.Helper()
	is, err := r.Detect(f)
	again, errAgain := r.Detect(f)
	if is != again || (err == nil) != (errAgain == nil) {
		t.Errorf("%d bytes: detected %v, %v and then %v, %v", len(f.Data), is, err, again, errAgain)
	}
	if err != nil {
		isClear(t, f, err)
	}
	a, err := r.Read(f, dialect.Options{})
	if err == nil {
		t.Errorf("%d bytes were read: %+v", len(f.Data), a.Trace)
		return
	}
	isClear(t, f, err)
}

func isClear(t *testing.T, f *dialect.File, err error) {
	t.Helper()
	var p *dialect.Problem
	if !errors.As(err, &p) {
		t.Errorf("%v is no problem", err)
		return
	}
	if p.Path != f.Path || p.Code == "" || p.Detail == "" || p.Offset < -1 || p.Offset > len(f.Data) || p.Pointer != "" && p.Pointer[0] != '/' {
		t.Errorf("%d bytes: %+v", len(f.Data), p)
	}
}

// finds lays the samples out in folders whose names sort otherwise than their paths as text.
func finds(t *testing.T, r dialect.Reader, samples []string) {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"b", "a", "a-b", filepath.Join("a", "z"), filepath.Join("a", "0")} {
		for _, path := range samples {
			copyFile(t, path, filepath.Join(root, folder, filepath.Base(path)))
		}
	}
	tree, err := r.Find(root, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Find(root, dialect.Options{})
	if err != nil || !reflect.DeepEqual(tree, again) {
		t.Errorf("a second look finds another tree: %v", err)
	}
	if len(tree.Entries) == 0 {
		t.Fatal("no artifact was found")
	}
	if !slices.IsSortedFunc(tree.Entries, func(a, b dialect.Entry) int { return slices.Compare(elements(a.Path), elements(b.Path)) }) {
		t.Errorf("the entries are not in the order of their paths: %+v", tree.Entries)
	}
	for _, e := range tree.Entries {
		f, err := dialect.ReadFile(e.Path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(f, dialect.Options{Shared: e.Shared}); err != nil {
			t.Errorf("%s was found and cannot be read: %v", e.Path, err)
		}
	}
	if empty, err := r.Find(t.TempDir(), dialect.Options{}); err != nil || len(empty.Entries) != 0 {
		t.Errorf("an empty folder: %+v, %v", empty, err)
	}
}

func elements(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
