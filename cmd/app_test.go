package cmd_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dmpl/dmpl/cmd"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// process is an App on buffers.
type process struct {
	*cmd.App
	out, errs *bytes.Buffer
}

func newProcess(t *testing.T) process {
	t.Helper()
	var out, errs bytes.Buffer
	return process{
		App: &cmd.App{In: strings.NewReader(""), Out: &out, Err: &errs, Now: fixedNow, Dir: t.TempDir()},
		out: &out, errs: &errs,
	}
}

func fixedNow() time.Time { return time.Date(2026, 2, 21, 0, 0, 0, 0, time.UTC) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestPanicIsOneLineAndExitCode2(t *testing.T) {
	p := newProcess(t)
	p.In = readerFunc(func([]byte) (int, error) { panic("a\x1b[31m fault\nof two lines") })
	t.Setenv("DMPL_DEBUG", "")
	if code := p.Run([]string{"canon"}); code != finding.ExitTrouble {
		t.Errorf("exit code %d", code)
	}
	lines := strings.Split(strings.TrimSpace(p.errs.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "dmpl: internal error: a") || !strings.HasPrefix(lines[1], "hint: ") {
		t.Errorf("stderr %q", p.errs)
	}
	if strings.Contains(p.errs.String(), "\x1b") {
		t.Errorf("stderr holds an escape: %q", p.errs)
	}
}

func TestPanicShowsItsStackOnRequest(t *testing.T) {
	p := newProcess(t)
	p.In = readerFunc(func([]byte) (int, error) { panic("a fault") })
	t.Setenv("DMPL_DEBUG", "1")
	if code := p.Run([]string{"canon"}); code != finding.ExitTrouble {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(p.errs.String(), "goroutine ") {
		t.Errorf("stderr %q", p.errs)
	}
}

func TestInterruptEndsWith130(t *testing.T) {
	p := newProcess(t)
	released := make(chan struct{})
	defer close(released)
	p.In = readerFunc(func([]byte) (int, error) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(os.Interrupt)
		}
		if err != nil {
			t.Error(err)
		}
		<-released // a read that would never end
		return 0, errors.New("released")
	})
	if code := p.Interruptible([]string{"canon"}); code != finding.ExitInterrupt {
		t.Errorf("exit code %d", code)
	}
	if got := p.errs.String(); got != "dmpl: interrupted\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestHelpAndResultsGoToOutOnly(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help", "canon"}, {"version"}, {"explain"}, {"canon", "--help"}} {
		p := newProcess(t)
		if code := p.Run(args); code != finding.ExitHolds {
			t.Errorf("%q: exit code %d", args, code)
		}
		if p.out.Len() == 0 || p.errs.Len() != 0 {
			t.Errorf("%q: %d bytes on stdout, stderr %q", args, p.out.Len(), p.errs)
		}
	}
}

func TestOneRunLeavesNothingToTheNext(t *testing.T) {
	p := newProcess(t)
	p.Run([]string{"explain", "--color", "always", "canon.duplicate_key"})
	p.out.Reset()
	p.Run([]string{"explain", "canon.duplicate_key"})
	if strings.Contains(p.out.String(), "\x1b") {
		t.Errorf("colour survived: %q", p.out)
	}
}

// Where the arguments begin with a command, it alone is built: nobody can tell from what it says.
func TestACommandThatIsBuiltAloneSaysTheSame(t *testing.T) {
	text := func(args ...string) string {
		p := newProcess(t)
		return fmt.Sprintf("%d %s %s", p.Run(args), p.out, p.errs)
	}
	for _, c := range newProcess(t).Tree().Commands() {
		alone, among := text(c.Name(), "--help"), text("help", c.Name())
		if alone != among || !strings.HasPrefix(alone, "0 ") {
			t.Errorf("%s: %q, among all %q", c.Name(), alone, among)
		}
		if wrong, among := text(c.Name(), "--nonsense"), text("-q", c.Name(), "--nonsense"); wrong != among || !strings.HasPrefix(wrong, "2 ") {
			t.Errorf("%s: %q, among all %q", c.Name(), wrong, among)
		}
	}
}

func TestResultThatCannotBeWrittenIsTrouble(t *testing.T) {
	for _, args := range [][]string{{"canon"}, {"canon", "--jsonl"}, {"digest", "canonical"}, {"explain"}, {"version"}} {
		p := newProcess(t)
		p.In = strings.NewReader("1\n")
		p.Out = writerFunc(func([]byte) (int, error) { return 0, errors.New("no space left") })
		if code := p.Run(args); code != finding.ExitTrouble {
			t.Errorf("%q: exit code %d", args, code)
		}
		if !strings.HasPrefix(p.errs.String(), "dmpl: cannot write the result: no space left\nhint: ") {
			t.Errorf("%q: stderr %q", args, p.errs)
		}
	}
}

func TestErrorsBecomeExitCodeMessageAndHint(t *testing.T) {
	action := finding.Lookup(finding.CanonDuplicateKey).Action
	tests := []struct {
		name string
		err  error
		code int
		want string
	}{
		{"none", nil, 0, ""},
		{"interrupt", fmt.Errorf("reading: %w", context.Canceled), 130, "dmpl: interrupted\n"},
		{
			"problem", &dialect.Problem{Code: finding.CanonDuplicateKey, Path: "a.json", Offset: 7, Pointer: "/k", Detail: "twice"},
			2, "dmpl: a.json: byte 7, at /k: twice (canon.duplicate_key)\nhint: " + action + "\n",
		},
		{
			"problem without a place", &dialect.Problem{Code: finding.CanonDuplicateKey, Path: "-", Offset: -1, Detail: "twice"},
			2, "dmpl: standard input: twice (canon.duplicate_key)\nhint: " + action + "\n",
		},
		{
			"canon", &canon.Error{Code: "canon.duplicate_key", Offset: 7, Pointer: "/k", Detail: "twice"},
			2, "dmpl: input: byte 7, at /k: twice (canon.duplicate_key)\nhint: " + action + "\n",
		},
		{"other", errors.New("two\nlines"), 2, "dmpl: two\\u000alines\nhint: dmpl --help lists the commands.\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProcess(t)
			if code := p.Fail(tt.err); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if got := p.errs.String(); got != tt.want {
				t.Errorf("stderr %q, want %q", got, tt.want)
			}
		})
	}
}

func TestJSONLStaysInBoundedMemory(t *testing.T) {
	const lines, bound = 400_000, 16 << 20 // some 30 MB of lines; bytes of heap
	line := []byte(`{"b":1.0,"a":"é","c":[1,2,3,{"x":null}],"d":"some more text to read over"}` + "\n")
	p := newProcess(t)
	left := lines
	p.In = readerFunc(func(b []byte) (int, error) {
		if left == 0 {
			return 0, io.EOF
		}
		left--
		return copy(b, line), nil
	})
	var highest uint64
	written, calls := 0, 0
	p.Out = writerFunc(func(b []byte) (int, error) {
		written += len(b)
		if calls++; calls%16 == 0 {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			highest = max(highest, stats.HeapAlloc)
		}
		return len(b), nil
	})
	if code := p.Run([]string{"digest", "canonical", "--jsonl"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, p.errs)
	}
	if want := lines * 65; written != want {
		t.Errorf("%d bytes written, want %d", written, want)
	}
	if highest == 0 || highest > bound {
		t.Errorf("heap grew to %d bytes, want at most %d", highest, bound)
	}
}
