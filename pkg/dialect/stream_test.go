package dialect_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOpenGivesTheContent(t *testing.T) {
	text := strings.Repeat("a line\n", 20_000)
	for name, data := range map[string][]byte{"plain": []byte(text), "gzip": compressed(t, text)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, p := range []string{path, "-"} {
				s, err := dialect.Open(p, bytes.NewReader(data))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(s)
				if err != nil || string(got) != text {
					t.Errorf("%s: %d bytes, error %v", p, len(got), err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, path string
		code       finding.Code
	}{
		{"folder", dir, finding.InputNotAFile},
		{"nothing", filepath.Join(dir, "none"), finding.InputUnreadable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := dialect.Open(tt.path, nil)
			wantProblem(t, err, tt.code, tt.path)
		})
	}
}

func TestOpenGivesReadErrorsTheirCode(t *testing.T) {
	whole := compressed(t, strings.Repeat("a line\n", 1000))
	tests := []struct {
		name string
		in   io.Reader
		code finding.Code
	}{
		{"gzip header cut off", bytes.NewReader(whole[:5]), finding.InputGzip},
		{"gzip body cut off", bytes.NewReader(whole[:len(whole)-9]), finding.InputGzip},
		{"failing reader", io.MultiReader(strings.NewReader("some text"), failing{}), finding.InputUnreadable},
		{"reader that fails at once", failing{}, finding.InputUnreadable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := dialect.Open("-", tt.in)
			if err == nil {
				_, err = io.ReadAll(s)
			}
			wantProblem(t, err, tt.code, "-")
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

func wantProblem(t *testing.T, err error, code finding.Code, path string) {
	t.Helper()
	var p *dialect.Problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v is no problem", err)
	}
	if p.Code != code || p.Path != path {
		t.Errorf("%s for %s, want %s for %s", p.Code, p.Path, code, path)
	}
}
