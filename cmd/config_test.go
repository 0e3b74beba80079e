package cmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestListFlagsAreReplacedAsAWhole(t *testing.T) {
	tests := []struct {
		name, file, env string
		args            []string
		want            []string
	}{
		{"default", "", "", nil, []string{"d"}},
		{"file", "ignore: [equiv.role, /a, 7]", "", nil, []string{"equiv.role", "/a", "7"}},
		{"file, one", "ignore: 'a,b'", "", nil, []string{"a,b"}},
		{"environment beats file", "ignore: [x]", "a, b", nil, []string{"a", "b"}},
		{"flag beats environment", "ignore: [x]", "a,b", []string{"--ignore", "c", "--ignore", "d,e"}, []string{"c", "d,e"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProcess(t)
			t.Setenv("DMPL_IGNORE", tt.env)
			if tt.file != "" {
				if err := os.WriteFile(filepath.Join(p.Dir, "dmpl.yaml"), []byte(tt.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := &cobra.Command{Use: "test"}
			got := c.Flags().StringArray("ignore", []string{"d"}, "")
			if err := c.ParseFlags(tt.args); err != nil {
				t.Fatal(err)
			}
			if err := p.FillFlags(c); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*got, tt.want) {
				t.Errorf("%q, want %q", *got, tt.want)
			}
		})
	}
}

// R4, M6: what takes something away is asked for on the command line, and nowhere else.
func TestWhatTakesAwayIsOnTheCommandLineAlone(t *testing.T) {
	for _, c := range []struct {
		file, env string
		args      []string
	}{
		{"update: true", "", []string{"replay", nativeFixture("runs", "single")}},
		{"", "DMPL_UPDATE", []string{"replay", nativeFixture("runs", "single")}},
		{"abort: true", "", []string{"store", "recover", "--store", "sqlite:none.db"}},
		{"", "DMPL_ABORT", []string{"store", "recover", "--store", "sqlite:none.db"}},
	} {
		p := newProcess(t)
		if c.env != "" {
			t.Setenv(c.env, "true")
		}
		if err := os.WriteFile(filepath.Join(p.Dir, "dmpl.yaml"), []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := p.Run(c.args); code != 2 || !strings.Contains(p.errs.String(), "is taken from the command line alone") {
			t.Errorf("%+v: exit code %d, %s", c, code, p.errs)
		}
		if c.env != "" {
			t.Setenv(c.env, "")
		}
	}
}
