package canon_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dmpl/dmpl/pkg/canon"
)

func lines(r io.Reader, limit int) (got []string, err error) {
	err = canon.Lines(r, limit, func(line int, data []byte) error {
		if line != len(got)+1 {
			return errors.New("lines are misnumbered")
		}
		got = append(got, string(data))
		return nil
	})
	return got, err
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	tests := []struct {
		name, in string
		limit    int
		want     []string
		tooLong  int // the line over the limit; 0 for none
	}{
		{"none", "", 0, nil, 0},
		{"line feed at the end", "a\nb\n", 0, []string{"a", "b"}, 0},
		{"no line feed at the end", "a\nb", 0, []string{"a", "b"}, 0},
		{"empty lines", "\n\na\n\n", 0, []string{"", "", "a", ""}, 0},
		{"carriage return is white space of the line", "a\r\nb", 0, []string{"a\r", "b"}, 0},
		{"long lines", long + "\n" + long + "y", 0, []string{long, long + "y"}, 0},
		{"a line as long as the buffer", long[:64<<10] + "\n" + long[:64<<10], 0, []string{long[:64<<10], long[:64<<10]}, 0},
		{"at the limit", "abcd\nefgh", 4, []string{"abcd", "efgh"}, 0},
		{"over the limit", "abcd\nabcde\nx", 4, []string{"abcd"}, 2},
		{"over the limit at the end", "abcde", 4, nil, 1},
		{"long at the limit", long + "\nx", len(long), []string{long, "x"}, 0},
		{"long over the limit", "a\n" + long, len(long) - 1, []string{"a"}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := lines(strings.NewReader(tt.in), tt.limit)
			var tooLong *canon.LineTooLong
			if errors.As(err, &tooLong) != (tt.tooLong > 0) || tooLong != nil && *tooLong != (canon.LineTooLong{Line: tt.tooLong, Limit: tt.limit}) {
				t.Errorf("error %v, want line %d too long", err, tt.tooLong)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %.80q, want %.80q", got, tt.want)
			}
		})
	}
	if _, err := lines(strings.NewReader("12345"), 4); err == nil || err.Error() != "line 1 is longer than 4 bytes" {
		t.Error(err)
	}
}

// endless never ends its line; reading it must.
type endless struct{ given int }

func (e *endless) Read(p []byte) (int, error) {
	e.given += len(p)
	return len(p), nil
}

func TestLinesStopsInALineWithoutEnd(t *testing.T) {
	in := &endless{}
	_, err := lines(in, 1<<20)
	var tooLong *canon.LineTooLong
	if !errors.As(err, &tooLong) || in.given > 2<<20 {
		t.Errorf("error %v after %d bytes", err, in.given)
	}
}

func TestLinesGivesBackErrors(t *testing.T) {
	broken := errors.New("broken")
	if got, err := lines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 0); err != broken || !reflect.DeepEqual(got, []string{"a"}) {
		t.Errorf("%q, error %v", got, err)
	}
	stop := errors.New("stop")
	if err := canon.Lines(strings.NewReader("a\nb"), 0, func(int, []byte) error { return stop }); err != stop {
		t.Error(err)
	}
}
