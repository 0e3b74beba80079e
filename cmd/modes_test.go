package cmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// surroundings are what says where a command runs and what is allowed there.
type surroundings struct {
	env, optIn string // empty: not said
}

var everySurroundings = func() (all []surroundings) {
	for _, env := range []string{"", "ci", "CI", "prod", "ci ", "c"} {
		for _, optIn := range []string{"", "ci", "dev,ci", "prod-2,ci-2", "*"} {
			all = append(all, surroundings{env, optIn})
		}
	}
	return all
}()

// mayWrite is the rule a second time (M2): the environment is set, and stands in the list as it is spelt.
func (s surroundings) mayWrite() bool {
	return s.env != "" && slices.Contains(strings.Split(s.optIn, ","), s.env)
}

// ways are those in which a setting reaches a command: each gives the command line, and sets the rest.
var ways = map[string]func(t *testing.T, p process, s surroundings, args []string) []string{
	"flags": func(_ *testing.T, _ process, s surroundings, args []string) []string {
		if s.env != "" {
			args = append(args, "--env", s.env)
		}
		if s.optIn != "" {
			args = append(args, "--buffered-write", s.optIn)
		}
		return args
	},
	"environment": func(t *testing.T, _ process, s surroundings, args []string) []string {
		t.Setenv("DMPL_ENV", s.env)
		t.Setenv("DMPL_BUFFERED_WRITE", s.optIn)
		return args
	},
	"dmpl.yaml": func(t *testing.T, p process, s surroundings, args []string) []string {
		text := "run-id: a\n"
		if s.env != "" {
			text += "env: \"" + s.env + "\"\n"
		}
		if s.optIn != "" {
			text += "buffered-write: [\"" + strings.ReplaceAll(s.optIn, ",", `", "`) + "\"]\n"
		}
		runtest.Put(t, p.Dir, "dmpl.yaml", []byte(text))
		return args
	},
}

// modeBench is a store whose ledger tells whether something was written.
type modeBench struct {
	*storeBench
	n int
}

func newModeBench(t *testing.T) *modeBench { return &modeBench{storeBench: newStoreBench(t, "")} }

func (b *modeBench) ledger() string {
	b.t.Helper()
	return b.exits(0, "store", "ledger", "show", "--store", b.store)
}

// tries runs a command in some surroundings, and holds it to what it may do there.
func (b *modeBench) tries(t *testing.T, way string, s surroundings, allowed, writes bool, args ...string) {
	t.Helper()
	t.Setenv("DMPL_ENV", "")
	t.Setenv("DMPL_BUFFERED_WRITE", "")
	before := b.ledger()
	p := newProcess(t)
	line := ways[way](t, p, s, append(slices.Clone(args), "--store", b.store))
	code := p.Run(line)
	if allowed != (code == 0) || !allowed && code != 2 {
		t.Errorf("%s %+v: dmpl %s: exit code %d, %s", way, s, strings.Join(args, " "), code, p.errs)
	}
	if wrote := b.ledger() != before; wrote != (allowed && writes) {
		t.Errorf("%s %+v: dmpl %s: something was written: %t", way, s, strings.Join(args, " "), wrote)
	}
	if at := slices.Index(args, "--out"); at >= 0 {
		if _, err := os.Stat(args[at+1]); (err == nil) != allowed {
			t.Errorf("%s %+v: dmpl %s: a run was recorded: %t", way, s, strings.Join(args, " "), err == nil)
		}
	}
}

// M2: a run reads by default, writes only in an environment that is set and opted in, and is never more than was asked for.
func TestModesOfRuns(t *testing.T) {
	for way := range ways {
		for _, mode := range []string{"", "off", "read_only", "buffered_write", "Buffered_Write", "buffered-write", "write", "live_read_write"} {
			for _, marked := range []bool{false, true} {
				t.Run(way+" "+mode, func(t *testing.T) {
					b := newModeBench(t)
					for _, s := range everySurroundings {
						if (way != "flags" || mode != "buffered_write" && mode != "live_read_write") && s.optIn != "ci" {
							continue
						}
						b.n++
						args := []string{"run", "--from", b.path("storage-failed"), "--out", b.path("out" + strings.Repeat("i", b.n))}
						if mode != "" {
							args = append(args, "--visibility", mode)
						}
						if marked {
							args = append(args, "--non-deterministic")
						}
						allowed, writes := false, false
						switch mode {
						case "", "off", "read_only":
							allowed = !marked
						case "buffered_write":
							allowed, writes = !marked && s.mayWrite(), true
						case "live_read_write":
							allowed, writes = marked && s.mayWrite(), true
						}
						b.tries(t, way, s, allowed, writes, append(args, "--run-id", strings.Repeat("i", b.n))...)
					}
				})
			}
		}
	}
}

// M2: the same for the commands by which a run writes step by step.
func TestModesOfStoreRuns(t *testing.T) {
	dir := t.TempDir()
	runtest.Put(t, dir, "writes.json", []byte(`{"writes":[]}`))
	runtest.Put(t, dir, "policies.json", []byte(`{"schema_version":"memory.policy_set.v1","retrieval":{},"admission":[],"commit":{"rules":[]},"retention":{"lanes":[]}}`))
	for way := range ways {
		b := newModeBench(t)
		for i, s := range everySurroundings {
			id := strings.Repeat("r", i+1)
			b.tries(t, way, s, s.mayWrite(), true, "store", "run", "open", id)
			if !s.mayWrite() {
				b.exits(0, "store", "run", "open", id, "--store", b.store, "--env", "x", "--buffered-write", "x")
			}
			b.tries(t, way, s, s.mayWrite(), true, "store", "run", "write", id, filepath.Join(dir, "writes.json"))
			b.tries(t, way, s, s.mayWrite(), true, "store", "run", "commit", id, "--policies", filepath.Join(dir, "policies.json"))
		}
	}
}
