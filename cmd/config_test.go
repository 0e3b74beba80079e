package cmd_test

import (
	"os"
	"path/filepath"
	"slices"
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
