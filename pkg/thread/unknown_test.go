package thread_test

import (
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/thread"
)

// X4: members and rules that nobody knows are named by their place; what is known, or stands where nothing is read, is not.
func TestUnknownInConfig(t *testing.T) {
	for _, c := range []struct {
		config string
		want   []string
	}{
		{`{"$schema":"x","schema_version":"1","context":{"max_refs":1,"handle_content_fetch":{"workbench_max_bytes":1}},
			"normalization":{"rules":["SCOPE_BOUND"],"conditional_rules":{"EXPAND_THREAD_HISTORY":{"trigger":1,"enabled":true}}}}`, nil},
		{`{"a/b":1,"context":{"max_ref":1,"handle_content_fetch":{"mode":1}},
			"normalization":{"rule":1,"rules":["SCOPE_BOUND","SCOPE"],"conditional_rules":{"OTHER":{},"EXPAND_THREAD_HISTORY":{"on":1}}}}`, []string{
			"/a~1b", "/context/max_ref", "/context/handle_content_fetch/mode", "/normalization/rule", "/normalization/conditional_rules/OTHER",
			"/normalization/conditional_rules/EXPAND_THREAD_HISTORY/on", "/normalization/rules/1",
		}},
		{`{"context":[1],"normalization":7}`, nil},
		{`[]`, nil},
	} {
		if got := thread.UnknownInConfig(value(t, c.config)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.config, got, c.want)
		}
	}
}
