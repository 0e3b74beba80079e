package cmd_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/thread/threadtest"
)

// unread are the values of a stream that verify passes whatever they are, as nothing else was changed, and why.
var unread = map[string]string{
	"*/actor":                   "a column that no digest covers and nothing repeats",
	"*/payload/_obs":            "observational by definition",
	"DECISION/payload/boundary": "in no digest; the pin of the configuration below it is read",
	"/length":                   "a page then, of which less can be checked: the report says what",
	"/offset":                   "a page then, of which less can be checked: the report says what",
	"/limit":                    "of the request, not of the store",
}

// rewritable are the values that verify passes where every digest over them is computed again: nothing else in the stream
// tells them. A v_digest kept elsewhere does.
var rewritable = map[string]string{
	"DECISION/payload":                            "what the policy decided: it is recorded and not re-run",
	"EXECUTION/payload":                           "what the model did, unless a later context holds it",
	"INTENT/payload/inputs":                       "what came with the request",
	"INTENT/payload/requested_model_id":           "what came with the request",
	"PROOF/payload/message_count":                 "repeated nowhere",
	"PROOF/payload/model_id":                      "in the digest of the release, which was computed again",
	"PROOF/payload/provider":                      "in the digest of the release, which was computed again",
	"*/digest":                                    "computed again",
	"*/canon_len":                                 "computed again",
	"*/prev_event_digest":                         "computed again",
	"EXECUTION/payload/_obs/render/render_digest": "computed again",
	"PROOF/payload/payload_digest":                "computed again",
	"/v_digest":                                   "computed again",
}

// bound are the parts of what may be rewritten above that are bound to other events all the same.
var bound = []string{
	"DECISION/payload/assembled_context", "DECISION/payload/context_spec", "DECISION/payload/decision", "DECISION/payload/intent_index",
	"DECISION/payload/policy/policy_id", "DECISION/payload/policy/policy_version", "DECISION/payload/policy_id", "DECISION/payload/policy_version",
	"DECISION/payload/reason_codes", "DECISION/payload/reasons", "DECISION/payload/result", "DECISION/payload/boundary/context_config_digest",
	"EXECUTION/payload/context_digest", "EXECUTION/payload/release_digest", "EXECUTION/payload/_obs/render/render_digest",
}

// places gives one place of a snapshot for each kind of value: `KIND/pointer in the event` with * for every index.
func places(s *threadtest.Snapshot) map[string]string {
	at := map[string]string{"/length": "/length", "/offset": "/offset", "/limit": "/limit", "/v_digest": "/v_digest"}
	for i, e := range s.Events() {
		kind, _ := e["kind"].(string)
		enter(at, e, kind, "/events/"+strconv.Itoa(i))
	}
	return at
}

func enter(at map[string]string, v any, name, pointer string) {
	switch v := v.(type) {
	case map[string]any:
		for member := range v {
			enter(at, v[member], name+"/"+member, pointer+"/"+member)
		}
	case []any:
		for i := range v {
			enter(at, v[i], name+"/*", pointer+"/"+strconv.Itoa(i))
		}
	default:
		at[name] = pointer
	}
}

// other gives another value of the same type.
func other(v any) any {
	switch v := v.(type) {
	case string:
		return v + "x"
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			return 1
		}
		return n + 1
	case bool:
		return !v
	}
	return "x"
}

// listed gives the longest entry that a value stands at or below, of which * is any kind of event; "" for none.
func listed(entries map[string]string, name string) string {
	_, below, _ := strings.Cut(name, "/")
	longest := ""
	for entry := range entries {
		pattern, of := entry, name
		if rest, any := strings.CutPrefix(entry, "*/"); any {
			pattern, of = rest, below
		}
		if (of == pattern || strings.HasPrefix(of, pattern+"/")) && len(entry) > len(longest) {
			longest = entry
		}
	}
	return longest
}

func isBound(name string) bool {
	return slices.ContainsFunc(bound, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
}

// X6, E1: whatever one value of a stream is changed to, verify fails, and diff does not call the streams equivalent, but for
// the values listed above. Every entry of the lists is needed.
func TestEveryValueOfAStreamIsHeldOrListed(t *testing.T) {
	dir := filepath.Join(fixtures, "thread", "streams", "s01_chat_refs")
	base, config := filepath.Join(dir, "snapshot.json"), filepath.Join(dir, "context.json")
	raw, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	at := places(threadtest.Parse(t, raw))
	if len(at) < 200 {
		t.Fatalf("only %d kinds of values", len(at))
	}
	path := filepath.Join(t.TempDir(), "changed.json")
	run := func(s *threadtest.Snapshot, args ...string) int {
		if err := os.WriteFile(path, s.JSON(), 0o600); err != nil {
			t.Fatal(err)
		}
		return newProcess(t).Run(args)
	}
	needed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(at)) {
		changed := func() *threadtest.Snapshot {
			s := threadtest.Parse(t, raw)
			return s.Apply(threadtest.Edit{At: at[name], Value: other(s.At(at[name]))})
		}
		if strings.Contains(name, "/_obs/") && !strings.HasSuffix(name, "trace_id") && !strings.Contains(name, "render_digest") {
			continue // one value is as good as the others
		}
		held := run(changed(), "verify", path, "--context-config", config) == 1
		if entry := listed(unread, name); held == (entry != "") && !isBound(name) {
			t.Errorf("%s: changed, verify fails: %v; listed: %q", name, held, entry)
		} else {
			needed[entry] = true
		}
		if got := run(changed(), "diff", base, path); got == 0 && held || got == 1 && !held {
			t.Errorf("%s: changed, diff gives %d, verify fails: %v", name, got, held)
		}
		held = run(changed().Repair(), "verify", path, "--context-config", config) == 1
		entry := listed(rewritable, name)
		if entry == "" {
			entry = listed(unread, name)
		}
		if rewritten := rewritable[name] != "" || !isBound(name); held == (entry != "" && rewritten) {
			t.Errorf("%s: changed and repaired, verify fails: %v; listed: %q", name, held, entry)
		}
		needed[entry] = needed[entry] || !held
	}
	for _, entries := range []map[string]string{unread, rewritable} {
		for entry, why := range entries {
			if !needed[entry] {
				t.Errorf("%s (%s) is listed for nothing", entry, why)
			}
		}
	}
}

// X6: what no digest covers switches no check off: a forged context is found whatever the columns and pins beside it say.
func TestNothingBesideAContextHidesAForgery(t *testing.T) {
	dir := filepath.Join(fixtures, "thread", "streams", "s01_chat_refs")
	forged := threadtest.Edit{At: "/events/5/payload/context_spec/intent/user_input", Value: "Explain less"}
	handle := []threadtest.Edit{forged}
	for _, i := range []string{"4", "5", "6", "7"} {
		handle = append(handle, threadtest.Edit{At: "/events/" + i + "/intent_type", Value: "artifact.handle"})
	}
	for name, edits := range map[string][]threadtest.Edit{
		"the sentinel":        {forged, {At: "/events/5/payload/boundary/context_config_digest", Value: "CONTEXT_RESOLUTION_DISABLED"}},
		"no boundary":         {forged, {At: "/events/5/payload/boundary", Remove: true}},
		"the type of handles": handle,
	} {
		path := threadtest.Load(t, filepath.Join(dir, "snapshot.json")).Apply(edits...).Repair().Write()
		for command, code := range map[string]string{"verify": "stream.reassembly", "replay": "replay.context_changed"} {
			r, exit := runJSON(t, command, path, "--context-config", filepath.Join(dir, "context.json"))
			if found := slices.ContainsFunc(r.errors(), func(f reportedEntry) bool { return f.Code == code }); exit != 1 || !found {
				t.Errorf("%s, %s: exit %d with %+v", name, command, exit, r.errors())
			}
		}
	}
}
