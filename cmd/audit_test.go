package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
)

// auditEdit is a small change to a file of LlamaBrain, and what verify says of it, diff where the file stands against
// another one, or replay where it has a state.
type auditEdit struct {
	What, File, Against, State string
	Edits                      []struct {
		Pointer string
		Value   json.RawMessage
		Remove  bool
	}
	Repair  bool // the integrity hash is computed again
	Verdict string
	Codes   []string // of all errors: the root of a diff first, then the others sorted
	Notes   []string
}

func auditFixture(name string) string { return filepath.Join(fixtures, "audit", name) }

func auditEdits(t *testing.T) []auditEdit {
	t.Helper()
	var all []auditEdit
	readExpected(t, auditFixture("edits.json"), &all)
	if len(all) < 100 {
		t.Fatalf("%d edits, want 100 at least", len(all))
	}
	return all
}

// auditTree reads a file; a log is a list of its lines.
func auditTree(t *testing.T, path string) (tree any, isLog bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	isLog = strings.HasSuffix(path, ".jsonl")
	if isLog {
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		text = slices.Concat([]byte("["), bytes.Join(lines, []byte(",")), []byte("]"))
	}
	return decoded(t, text), isLog
}

func decoded(t *testing.T, text []byte) (tree any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func auditBytes(t *testing.T, tree any, isLog bool) []byte {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	documents := []any{tree}
	if isLog {
		documents = tree.([]any)
	}
	for _, d := range documents {
		if err := e.Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// write writes the changed file and gives the command line about it.
func (c auditEdit) write(t *testing.T, dir string) []string {
	t.Helper()
	path := filepath.Join(dir, strings.Map(func(r rune) rune {
		if r == ' ' || r == ',' {
			return '_'
		}
		return r
	}, c.What)+filepath.Ext(c.File))
	tree, isLog := auditTree(t, auditFixture(c.File))
	for _, e := range c.Edits {
		tokens := strings.Split(e.Pointer, "/")[1:]
		var value any
		if !e.Remove {
			value = decoded(t, e.Value)
		}
		tree = change(t, tree, tokens, value, e.Remove)
	}
	save := func() {
		if err := os.WriteFile(path, auditBytes(t, tree, isLog), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save()
	if c.Repair {
		p, err := llamabrain.ReadPackage(path, dialect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := canon.Digest(canon.Raw, p.IntegrityPreimage())
		if err != nil {
			t.Fatal(err)
		}
		tree = change(t, tree, []string{"PackageIntegrityHash"}, canon.Base64.Spell(sum), false)
		save()
	}
	if c.Against != "" {
		return []string{"diff", auditFixture(c.Against), path}
	}
	if c.State != "" {
		return []string{"replay", path, "--state", auditFixture(c.State)}
	}
	return []string{"verify", path}
}

// change sets or removes a value; a member may be new.
func change(t *testing.T, tree any, path []string, value any, remove bool) any {
	t.Helper()
	switch node := tree.(type) {
	case map[string]any:
		if len(path) > 1 {
			node[path[0]] = change(t, node[path[0]], path[1:], value, remove)
		} else if _, there := node[path[0]]; remove && there {
			delete(node, path[0])
		} else if !remove {
			node[path[0]] = value
		} else {
			t.Fatalf("no member %s", path[0])
		}
		return node
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(node) {
			t.Fatalf("no element %s", path[0])
		}
		if len(path) > 1 {
			node[i] = change(t, node[i], path[1:], value, remove)
		} else if remove {
			return slices.Delete(node, i, i+1)
		} else {
			node[i] = value
		}
		return node
	}
	t.Fatalf("nothing below %v", path)
	return nil
}

// V0, V5, E12: each small change gives the errors stated for it, and no others.
func TestEveryEditOfAnAuditFileGivesItsCodes(t *testing.T) {
	for _, c := range auditEdits(t) {
		t.Run(c.What, func(t *testing.T) {
			r, _ := runJSON(t, c.write(t, t.TempDir())...)
			if got := rootThenRest(r); !slices.Equal(got, c.Codes) || r.Verdict != c.Verdict {
				t.Errorf("%s, codes %v; want %s, %v:%s", r.Verdict, got, c.Verdict, c.Codes, describe(r.errors()))
			}
			wantNotes(t, r, c.Notes)
			if len(c.Notes) == 0 && len(c.Codes) == 0 && len(r.all()) > 0 {
				t.Errorf("not expected:%s", describe(r.all()))
			}
		})
	}
}

// rootThenRest gives the code of the root, then the others sorted.
func rootThenRest(r reported) []string {
	var root, rest []string
	for _, f := range r.errors() {
		if f.Class == "root" {
			root = append(root, f.Code)
			continue
		}
		rest = append(rest, f.Code)
	}
	return append(root, slices.Sorted(slices.Values(rest))...)
}

// V5: any one value changed gives a finding, but for those that no hash and no total covers: every report lists them.
func TestWhatVerifyCannotSeeIsKnown(t *testing.T) {
	unseen := []string{
		"/CreatorNotes", "/ModelFingerprint/ModelPath", "/SceneName", "CapturedAtUtcTicks", "DialogueText", "FallbackReason",
		"GeneratedTokenCount", "InteractionCount", "MemoryHashBefore", "MutationsApplied", "PlayerInput", "PromptHash",
		"PromptTokenCount", "SceneName", "Seed", "SnapshotTimeUtcTicks", "TotalTimeMs", "TriggerId", "TriggerReason", "TtftMs",
		"ViolationCount",
	}
	tree, _ := auditTree(t, auditFixture("package.json"))
	head := tree.(map[string]any)
	var pointers []string
	for name := range head {
		if name != "ModelFingerprint" && name != "Records" && name != "NpcIds" {
			pointers = append(pointers, "/"+name)
		}
	}
	for name := range head["ModelFingerprint"].(map[string]any) {
		pointers = append(pointers, "/ModelFingerprint/"+name)
	}
	for name := range head["Records"].([]any)[1].(map[string]any) {
		pointers = append(pointers, "/Records/1/"+name)
	}
	var got []string
	for _, pointer := range pointers {
		tree, _ := auditTree(t, auditFixture("package.json"))
		tokens := strings.Split(pointer, "/")[1:]
		change(t, tree, tokens, another(valueAt(tree, tokens)), false)
		path := filepath.Join(t.TempDir(), "package.json")
		if err := os.WriteFile(path, auditBytes(t, tree, false), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, code := runJSON(t, "verify", path); code == 0 {
			got = append(got, strings.TrimPrefix(pointer, "/Records/1/"))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, unseen) {
		t.Errorf("not seen\n%q, want\n%q", got, unseen)
	}
}

func valueAt(tree any, path []string) any {
	for _, token := range path {
		if list, ok := tree.([]any); ok {
			i, _ := strconv.Atoi(token)
			tree = list[i]
			continue
		}
		tree = tree.(map[string]any)[token]
	}
	return tree
}

// another gives a value of the same type.
func another(value any) any {
	switch v := value.(type) {
	case string:
		return v + "x"
	case bool:
		return !v
	}
	n, _ := value.(json.Number).Int64()
	return n + 1
}

// everyAudit are command lines about the files of the fixtures as they stand.
func everyAudit(t *testing.T) []invocation {
	t.Helper()
	var all []invocation
	for _, file := range []string{"package.json", "again.json", "again.lbpk", "log.jsonl", "save.llamasave", "persona.json", "turns.json"} {
		all = append(all, invocation{"audit verify " + file, []string{"verify", auditFixture(file)}})
	}
	for _, p := range [][2]string{{"package.json", "again.lbpk"}, {"log.jsonl", "log-again.jsonl"}, {"package.json", "log.jsonl"}, {"save.llamasave", "save.llamasave"}} {
		all = append(all, invocation{"audit diff " + p[0] + " " + p[1], []string{"diff", auditFixture(p[0]), auditFixture(p[1])}})
	}
	all = append(all, invocation{"audit replay turns.json", []string{"replay", auditFixture("turns.json"), "--state", auditFixture("save.llamasave")}})
	return append(all, invocation{"audit verify", []string{"verify", filepath.Join(fixtures, "audit")}})
}

// madeAudits are the changed files.
func madeAudits(t *testing.T) []invocation {
	t.Helper()
	dir := t.TempDir()
	var all []invocation
	for _, c := range auditEdits(t) {
		all = append(all, invocation{"audit: " + c.What, c.write(t, dir)})
	}
	left := layout(t, map[string]string{"a.json": auditFixture("package.json"), "b.json": auditFixture("log.jsonl")})
	right := layout(t, map[string]string{"a.json": auditFixture("again.json"), "c.json": auditFixture("log.jsonl")})
	return append(all, invocation{"audit: folders", []string{"diff", left, right}})
}

// E12: the files of two folders pair by their places; what stands on one side only is a difference.
func TestFoldersOfAuditFilesCompareFileByFile(t *testing.T) {
	all := madeAudits(t)
	r, code := runJSON(t, all[len(all)-1].args...)
	var got []string
	for _, result := range r.Results {
		got = append(got, result.Name+" "+result.Verdict)
	}
	if want := []string{"a.json equivalent", "b.json divergent", "c.json divergent"}; code != 1 || !slices.Equal(got, want) {
		t.Errorf("exit %d, %q, want %q", code, got, want)
	}
}
