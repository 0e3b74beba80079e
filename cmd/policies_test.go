package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/schemas"
)

// policyCase is a row of fixtures/policies/cases.json: a policy set, and what its one rule decides over native inputs.
type policyCase struct {
	Rule, File string
	Inputs     string   // a folder of fixtures/native/inputs
	Decision   string   // of the rule
	Says       string   // why the rule refused, as the ledger has it
	Kind       string   // of record, for retrieval rules
	Selected   []string // record ids in their order, for retrieval rules
}

func policyCases(t *testing.T) []policyCase {
	t.Helper()
	var cases []policyCase
	readExpected(t, filepath.Join(fixtures, "policies", "cases.json"), &cases)
	return cases
}

func (c policyCase) path() string { return filepath.Join(fixtures, "policies", c.File) }

// run executes the inputs under the policy set and gives the folder of the run.
func (c policyCase) run(t *testing.T) string {
	t.Helper()
	inputs := runtest.Copy(t, filepath.Join(fixtures, "native", "inputs", c.Inputs), filepath.Join(t.TempDir(), "inputs"))
	policies, err := os.ReadFile(c.path())
	if err != nil {
		t.Fatal(err)
	}
	runtest.Put(t, inputs, "policies.json", policies)
	out := filepath.Join(t.TempDir(), "run")
	visibility := "read_only"
	if c.isCommitRule() {
		visibility = "buffered_write"
	}
	p := newProcess(t)
	if code := p.Run([]string{"run", "--from", inputs, "--out", out, "--run-id", "r", "--visibility", visibility}); code != 0 {
		t.Fatalf("%s: exit %d: %s", c.File, code, p.errs)
	}
	return out
}

func (c policyCase) isCommitRule() bool {
	return c.Decision == "commit_applied" || c.Decision == "policy_rejected"
}

// rules gives the names of all rules that the schema of policy sets has: of the commit policy, of admission, of retrieval and of
// retention.
func policyRules(t *testing.T) []string {
	t.Helper()
	text, err := schemas.Read("memory.policy_set.v1")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct {
			Enum       []string
			Properties map[string]any
		}
	}
	var doc struct {
		Properties map[string]object
		Defs       map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	rules := slices.Concat(doc.Defs["rule"].Properties["rule"].Enum, doc.Defs["admission"].Properties["rule"].Enum, doc.Defs["retrieval"].Properties["order"].Enum)
	for _, part := range []string{"filters", "limits"} {
		for name := range doc.Defs["retrieval"].Properties[part].Properties {
			rules = append(rules, name)
		}
	}
	for name := range doc.Properties["retention"].Properties {
		rules = append(rules, name)
	}
	return rules
}

// D9: each rule of a policy set has a fixture in which it lets pass and one in which it does not; an order has one that it ranks.
func TestEachPolicyRuleHasItsFixtures(t *testing.T) {
	cases, rules := policyCases(t), policyRules(t)
	if len(rules) != 18 {
		t.Errorf("the schema has %d rules, and 18 are known: %q", len(rules), rules)
	}
	decisions := map[string][]string{"hook": {"in Go", "not in a command"}} // memory.JudgeCommit takes hooks
	for _, c := range cases {
		decisions[c.Rule] = append(decisions[c.Rule], fmt.Sprint(c.Decision, c.Selected))
		text, err := os.ReadFile(c.path())
		if err != nil {
			t.Fatal(err)
		}
		if found, err := schema.Validate("memory.policy_set.v1", text); err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", c.File, found, err)
		}
	}
	for _, rule := range rules {
		most := 2
		if strings.Contains(rule, "record_id") {
			most = 1
		}
		slices.Sort(decisions[rule])
		if list := slices.Compact(decisions[rule]); len(list) != most {
			t.Errorf("the rule %s has the decisions %q, and %d are due", rule, list, most)
		}
		delete(decisions, rule)
	}
	if len(decisions) > 0 {
		t.Errorf("no rules of a policy set: %v", decisions)
	}
}

// D9: dmpl run decides by the rule, and says so in commit record and trace.
func TestARunDecidesByItsPolicySet(t *testing.T) {
	for _, c := range policyCases(t) {
		if c.Inputs == "" {
			continue
		}
		out := c.run(t)
		trace := readText(t, filepath.Join(out, "trace", "0000.jsonl"))
		switch {
		case c.isCommitRule():
			commit := readText(t, filepath.Join(out, "commit.json"))
			rejected := c.Decision == "policy_rejected"
			if strings.Contains(commit, `"reason_code":"policy_rejected"`) != rejected || strings.Contains(commit, `"buffer_state":"commit_applied"`) == rejected {
				t.Errorf("%s: %s", c.File, commit)
			}
			if !strings.Contains(trace, `"interceptor":"commit","decision_type":"`+c.Decision+`"`) || strings.Contains(trace, `"guardrails_triggered":["r"]`) != rejected {
				t.Errorf("%s: the trace does not have the decision: %s", c.File, trace)
			}
		case c.Kind == "":
			if strings.Contains(trace, `"decision_type":"admission_denied"`) != (c.Decision == "admission_denied") {
				t.Errorf("%s: %s", c.File, trace)
			}
		default:
			if got := selected(t, out, c.Kind); !slices.Equal(got, c.Selected) {
				t.Errorf("%s: %q, want %q", c.File, got, c.Selected)
			}
		}
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// selected gives the records of a kind that the first turn of a run had in view, by rank.
func selected(t *testing.T, dir, kind string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(readText(t, filepath.Join(dir, "retrieval", "0000.jsonl"))) {
		var row struct {
			Policy  string `json:"policy_id"`
			Records []struct {
				ID string `json:"record_id"`
			} `json:"selected_records"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Policy != "p" {
			continue
		}
		for _, r := range row.Records {
			ids = append(ids, r.ID)
		}
		return ids
	}
	t.Fatalf("no retrieval of %s under the policy", kind)
	return nil
}

// D9, M8: dmpl store run commit decides by the rule, and the decision is in the ledger.
func TestAStoreDecidesByThePolicySet(t *testing.T) {
	for _, c := range policyCases(t) {
		if !c.isCommitRule() {
			continue
		}
		store := "sqlite:" + filepath.Join(t.TempDir(), "memory.db")
		dmpl := func(want int, args ...string) string {
			p := newProcess(t)
			if code := p.Run(append(args, "--store", store)); code != want {
				t.Errorf("%s: dmpl %s: exit %d: %s", c.File, strings.Join(args, " "), code, p.errs)
			}
			return p.out.String()
		}
		commit := []string{"store", "run", "commit", "r", "--policies", c.path(), "--env", "ci", "--buffered-write", "ci"}
		exit := 1
		if c.Decision == "commit_applied" {
			exit = 0
		}
		if c.Inputs != "fallback" { // whose gate did not pass
			commit = append(commit, "--gate-passed")
		}
		dmpl(0, "store", "init")
		dmpl(0, "store", "run", "open", "r", "--env", "ci", "--buffered-write", "ci")
		dmpl(0, "store", "run", "write", "r", filepath.Join(fixtures, "native", "runs", c.Inputs, "commit.json"), "--env", "ci", "--buffered-write", "ci")
		dmpl(exit, commit...)
		var ledger struct {
			Rows []struct {
				Event  string
				Reason string `json:"reason_code"`
				Detail string
			}
		}
		if err := json.Unmarshal([]byte(dmpl(0, "store", "ledger", "show", "--format", "json")), &ledger); err != nil || len(ledger.Rows) == 0 {
			t.Fatalf("%d rows, %v", len(ledger.Rows), err)
		}
		last := ledger.Rows[len(ledger.Rows)-1]
		want := last
		if want.Event, want.Reason = "commit_applied", ""; exit != 0 {
			want.Event, want.Reason, want.Detail = "commit_aborted", "policy_rejected", c.Says
		}
		if last != want {
			t.Errorf("%s: the ledger ends with %+v, want %+v", c.File, last, want)
		}
	}
}

// D9: a command knows no hook, and refuses a policy set that names one.
func TestACommandKnowsNoHook(t *testing.T) {
	for _, args := range [][]string{{"digest", "policy-set"}, {"store", "run", "commit", "r", "--policies"}} {
		p := newProcess(t)
		if code := p.Run(append(args, filepath.Join(fixtures, "policies", "hook.json"))); code != 2 || !strings.Contains(p.errs.String(), `no hook is called "reviewed"`) {
			t.Errorf("%q: exit %d: %s", args, code, p.errs)
		}
	}
}

// V4: a lane decides which runs are kept.
func TestPruneDecidesByThePolicySet(t *testing.T) {
	for _, c := range policyCases(t) {
		if c.Rule != "lanes" {
			continue
		}
		root := t.TempDir()
		runtest.Write(t, filepath.Join(root, "old"), runtest.Features{Lane: run.Lane{Name: "ci", Deterministic: true}, Created: nowInTicks - 20*ticksPerDay})
		p := newProcess(t)
		if code := p.Run([]string{"runs", "prune", root, "--policies", c.path(), "--dry-run"}); code != 0 || !strings.HasPrefix(p.out.String(), c.Decision+" ") {
			t.Errorf("%s: exit %d: %s%s", c.File, code, p.out, p.errs)
		}
	}
}
