package cmd_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread/threadtest"
)

// streamPair is a row of fixtures/thread/diff.json.
type streamPair struct {
	Name, Stream string
	Edits        []threadtest.Edit
	Repair       bool
	Verdict      string
	Codes        []string
}

func streamPairs(t *testing.T) []streamPair {
	t.Helper()
	var pairs []streamPair
	readExpected(t, filepath.Join(fixtures, "thread", "diff.json"), &pairs)
	if len(pairs) < 40 {
		t.Fatalf("%d pairs, want 40 at least", len(pairs))
	}
	return pairs
}

// args writes the edited side and gives the command line that compares it.
func (p streamPair) args(t *testing.T) []string {
	t.Helper()
	whole := gatewayStream(p.Stream, "snapshot.json")
	edited := threadtest.Load(t, whole).Apply(p.Edits...)
	if p.Repair {
		edited.Repair()
	}
	return []string{"diff", whole, edited.Write()}
}

// E1, X8: the rows of diff.json are what the command says of both sides together.
func TestEveryPairOfStreamsHasItsOutcome(t *testing.T) {
	for _, p := range streamPairs(t) {
		r, _ := runJSON(t, p.args(t)...)
		var codes []string
		for _, f := range r.all() {
			codes = append(codes, f.Code)
		}
		slices.Sort(codes)
		if codes = slices.Compact(codes); r.Verdict != p.Verdict || !slices.Equal(codes, p.Codes) {
			t.Errorf("%s: %s with %v, want %s with %v", p.Name, r.Verdict, codes, p.Verdict, p.Codes)
		}
	}
}

func gatewayStream(name, file string) string {
	return filepath.Join(fixtures, "thread", "streams", name, file)
}

// madeStreams writes the edited side of every pair and gives the command lines that compare it.
func madeStreams(t *testing.T) []invocation {
	t.Helper()
	var all []invocation
	for _, p := range streamPairs(t) {
		all = append(all, invocation{"stream " + p.Name, p.args(t)})
	}
	damaged := filepath.Join(t.TempDir(), "damaged.sqlite")
	if err := os.WriteFile(damaged, []byte("SQLite format 3\x00 and nothing else"), 0o600); err != nil {
		t.Fatal(err)
	}
	surrogates := gatewayStream("s15_lone_surrogates", "snapshot.json")
	alone, none := folders(t, map[string]string{"s": surrogates}, nil)
	return append(all,
		invocation{"stream in one folder only", []string{"diff", alone, none}},
		invocation{"stream damaged", []string{"diff", damaged, surrogates}},
		invocation{"stream with lone surrogates", []string{"diff", surrogates, surrogates}},
	)
}

// X8: diff takes snapshots, trails, gzip and standard input, in every combination.
func TestDiffTakesStreamsInEveryForm(t *testing.T) {
	raw, err := os.ReadFile(gatewayStream("s01_chat_refs", "snapshot.json"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(raw); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	gz := filepath.Join(t.TempDir(), "snapshot.json.gz")
	if err := os.WriteFile(gz, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var sorted any
	if err := json.Unmarshal(raw, &sorted); err != nil {
		t.Fatal(err)
	}
	// The events stand first here: the head of the file names no snapshot.
	eventsFirst := filepath.Join(t.TempDir(), "sorted.json")
	text, err := json.Marshal(sorted)
	if err != nil || os.WriteFile(eventsFirst, text, 0o600) != nil {
		t.Fatal(err)
	}
	// The first payload is larger than the head, and what names a snapshot stands last.
	large := filepath.Join(t.TempDir(), "large.json")
	var whole struct {
		VDigest string `json:"v_digest"`
	}
	if err := json.Unmarshal(raw, &whole); err != nil {
		t.Fatal(err)
	}
	text = slices.Concat([]byte(`{"events":`), raw[bytes.IndexByte(raw, '['):bytes.LastIndexByte(raw, ']')+1], []byte(`,"limit":2000,"offset":0,"length":32,"v_digest":"`+whole.VDigest+`"}`))
	text = bytes.Replace(text, []byte(`"_obs":{`), []byte(`"_obs":{"large":"`+strings.Repeat("x", 70<<10)+`",`), 1)
	if err := os.WriteFile(large, text, 0o600); err != nil {
		t.Fatal(err)
	}
	forms := []string{gatewayStream("s01_chat_refs", "snapshot.json"), gatewayStream("s01_chat_refs", "trail.sqlite"), gz, eventsFirst, large, "-"}
	for _, left := range forms {
		for _, right := range forms[:5] {
			for _, in := range [][]byte{raw, packed.Bytes()} {
				p := newProcess(t)
				p.In = bytes.NewReader(in)
				if code := p.Run([]string{"diff", left, right}); code != finding.ExitHolds || !strings.HasPrefix(p.out.String(), "equivalent") {
					t.Errorf("%s, %s: exit code %d\n%s%s", left, right, code, p.out, p.errs)
				}
			}
		}
	}
}

// X8: what differs only in observational text is equivalent, and the summary line says so.
func TestTheSummaryNamesObservationalText(t *testing.T) {
	for _, in := range madeStreams(t) {
		if in.name != "stream messages" {
			continue
		}
		p := newProcess(t)
		if code := p.Run(append(in.args, "--quiet")); code != finding.ExitHolds || !strings.Contains(p.out.String(), "1 context different only in observational text") {
			t.Errorf("exit code %d: %s%s", code, p.out, p.errs)
		}
		return
	}
	t.Fatal("the fixture is missing")
}

// folders lays two folders out: the same turns in both, and under their places the streams that are named.
func folders(t *testing.T, left, right map[string]string) (leftRoot, rightRoot string) {
	t.Helper()
	roots := []string{t.TempDir(), t.TempDir()}
	for i, streams := range []map[string]string{left, right} {
		if err := os.CopyFS(roots[i], os.DirFS(filepath.Join(fixtures, "runs", "base"))); err != nil {
			t.Fatal(err)
		}
		for place, stream := range streams {
			raw, err := os.ReadFile(stream)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(roots[i], place)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return roots[0], roots[1]
}

// X8: of two folders the streams count as the turns do: none is left out in silence.
func TestDiffOfFoldersComparesTheirStreams(t *testing.T) {
	chat, trail, denies := gatewayStream("s01_chat_refs", "snapshot.json"), gatewayStream("s01_chat_refs", "trail.sqlite"), gatewayStream("s03_denies", "snapshot.json")
	for _, tt := range []struct {
		name        string
		left, right map[string]string
		exit        int
		code        string // of some finding; "" for none
	}{
		{"the same", map[string]string{"a/s": chat}, map[string]string{"a/s": trail}, 0, ""},
		{"another", map[string]string{"a/s": chat}, map[string]string{"a/s": denies}, 3, "streamdiff.configuration"},
		{"on the left alone", map[string]string{"s": chat}, nil, 1, "streamdiff.missing"},
		{"on the right alone", map[string]string{"s": chat}, map[string]string{"s": chat, "a/s": chat}, 1, "streamdiff.missing"},
	} {
		left, right := folders(t, tt.left, tt.right)
		for _, dialect := range []string{"auto", "dblgateway"} {
			r, code := runJSON(t, "diff", left, right, "--dialect", dialect)
			found := slices.ContainsFunc(r.all(), func(f reportedEntry) bool { return f.Code == tt.code })
			if dialect == "dblgateway" && tt.right == nil {
				continue // a folder without a stream is empty then
			}
			if code != tt.exit || found != (tt.code != "") {
				t.Errorf("%s, %s: exit %d, %+v", tt.name, dialect, code, r.errors())
			}
			if want := map[string]int{"auto": 3, "dblgateway": 0}[dialect] + max(len(tt.left), len(tt.right)); len(r.Results) != want {
				t.Errorf("%s, %s: %d results, want %d", tt.name, dialect, len(r.Results), want)
			}
		}
	}
}

// Z2: a stream and a trace cannot be compared, and neither can flags of traces be applied to streams.
func TestDiffRefusesAStreamAndATrace(t *testing.T) {
	stream := gatewayStream("s01_chat_refs", "snapshot.json")
	trace := filepath.Join(fixtures, "demo", "left", "memory_trace.json")
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{stream, trace}, "is an event stream and"},
		{[]string{trace, stream}, "is an event stream and"},
		{[]string{stream, filepath.Join(fixtures, "demo")}, "is an event stream and"},
		{[]string{stream, stream, "--profiles", "x"}, "belong to traces"},
		{[]string{stream, stream, "--left-retrieval", "x"}, "belong to traces"},
	} {
		p := newProcess(t)
		if code := p.Run(append([]string{"diff"}, tt.args...)); code != finding.ExitTrouble || !strings.Contains(p.errs.String(), tt.says) || p.out.Len() > 0 {
			t.Errorf("%v: exit code %d\n%s%s", tt.args, code, p.out, p.errs)
		}
	}
}

// Z4: an input that cannot be read is a finding of the report, whatever the other side is.
func TestDiffReportsAnUnreadableStream(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.sqlite")
	if err := os.WriteFile(garbage, []byte("SQLite format 3\x00 and nothing else"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{garbage, filepath.Join(dir, "none")} {
		for _, args := range [][]string{{gatewayStream("s01_chat_refs", "snapshot.json"), other}, {other, gatewayStream("s01_chat_refs", "trail.sqlite")}} {
			p := newProcess(t)
			if code := p.Run(append([]string{"diff", "--format", "json"}, args...)); code != finding.ExitTrouble || !strings.Contains(p.out.String(), `"input.`) {
				t.Errorf("%v: exit code %d\n%s%s", args, code, p.out, p.errs)
			}
		}
	}
}
