package thread

import (
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
)

// configMembers are the members of a configuration that the gateway knows, by the pointer of their object.
var configMembers = []struct {
	at    string
	names []string
}{
	{"", []string{"$schema", "schema_version", "context", "normalization"}},
	{"/context", []string{
		"max_refs", "empty_refs_policy", "expand_last_n", "allow_execution_refs_for_prompt", "canonical_sort", "enforce_scope_bound",
		"handle_content_fetch",
	}},
	{"/context/handle_content_fetch", []string{
		"allow_handle_content_fetch", "high_risk_context_admit_mode", "workbench_resolver_url", "workbench_auth_bearer_token",
		"workbench_fetch_timeout_ms", "workbench_max_bytes", "workbench_admit_kinds",
	}},
	{"/normalization", []string{"rules", "conditional_rules"}},
	{"/normalization/conditional_rules", []string{"EXPAND_THREAD_HISTORY"}},
	{"/normalization/conditional_rules/EXPAND_THREAD_HISTORY", []string{"trigger", "enabled"}},
}

// configRules are the rules that the gateway knows.
var configRules = []string{"FILTER_INTENT_ONLY", "SCOPE_BOUND", "SORT_CANONICAL"}

// UnknownInConfig gives the pointers of the members and rules of a configuration that nobody knows: they count in its
// digest and nowhere else (X4). Nil for none.
func UnknownInConfig(config canon.Value) []string {
	var unknown []string
	for _, o := range configMembers {
		object, _ := config.At(o.at)
		for _, m := range object.Members() {
			if !slices.Contains(o.names, m.Name) {
				unknown = append(unknown, canon.AppendToken(o.at, m.Name))
			}
		}
	}
	rules, _ := config.At("/normalization/rules")
	for i, rule := range rules.Elements() {
		if name, _ := rule.Text(); !slices.Contains(configRules, name) {
			unknown = append(unknown, "/normalization/rules/"+strconv.Itoa(i))
		}
	}
	return unknown
}
