package cmd_test

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dmpl/dmpl/cmd"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"dmpl": func() { os.Exit(cmd.Main()) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ESC", "\x1b")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Getuid() == 0, nil
			}
			return false, errors.New("unknown condition " + name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"blames":  blames,
			"bytes":   writeBytes,
			"clean":   clean,
			"exits":   exits,
			"fault":   fault,
			"fixture": copyFixture,
			"mkfifo":  makePipe,
			"oneline": oneLine,
			"refused": refused,
			"repeat":  writeRepeated,
			"say":     say,
			"sparse":  makeSparse,
		},
	})
}

// exits N command args... runs the command and wants exit code N: plain `! exec` cannot tell 1 from 2.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// fault PATTERN wants stderr to be one line `dmpl: …` that matches and one line `hint: …`, without control characters.
func fault(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fault PATTERN")
	}
	text := ts.ReadFile("stderr")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "dmpl: ") || !strings.HasPrefix(lines[1], "hint: ") {
		ts.Fatalf("stderr is not one message and one hint: %q", text)
	}
	if strings.ContainsFunc(lines[0]+lines[1], func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
		ts.Fatalf("stderr holds control characters: %q", text)
	}
	matched, err := regexp.MatchString(args[0], strings.TrimPrefix(lines[0], "dmpl: "))
	ts.Check(err)
	if !matched {
		ts.Fatalf("%q does not match %q", lines[0], args[0])
	}
}

// bytes FILE TEXT writes TEXT with its Go escapes resolved.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// repeat FILE N TEXT writes TEXT N times.
func writeRepeated(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(args[2], n)), 0o600))
}

// mkfifo FILE makes a named pipe.
func makePipe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mkfifo FILE")
	}
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// sparse FILE N makes a file of N bytes that takes no room.
func makeSparse(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sparse FILE N")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), nil, 0o600))
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// say TEXT... puts a line into the test log, so that a case left out is seen.
func say(ts *testscript.TestScript, _ bool, args []string) {
	ts.Logf("%s", strings.Join(args, " "))
}
