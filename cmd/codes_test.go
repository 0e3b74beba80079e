package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/finding"
)

// produced collects reason codes with the first command line that gave each.
type produced map[finding.Code]string

func (p produced) add(code finding.Code, by string) {
	if _, ok := p[code]; !ok {
		p[code] = by
	}
}

// report takes the codes out of a JSON report.
func (p produced) report(t *testing.T, by string, text []byte) {
	t.Helper()
	var r reported
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%s: %v", by, err)
	}
	for _, f := range r.all() {
		p.add(finding.Code(f.Code), by)
	}
}

var messageCode = regexp.MustCompile(`\(([a-z]+\.[a-z0-9_]+)\)\n`)

// message takes the code out of what a command without a report says on standard error.
func (p produced) message(by, text string) {
	if found := messageCode.FindStringSubmatch(text); found != nil {
		p.add(finding.Code(found[1]), by)
	}
}

// Z3: each code of the table is produced by a fixture, or by an input that a repository cannot keep.
func TestEveryCodeIsProduced(t *testing.T) {
	codes := produced{}
	for _, in := range everyReport(t) {
		codes.report(t, in.name, reportOf(t, in, "json"))
	}
	var inputs []inputCase
	readExpected(t, filepath.Join(fixtures, "input", "expected.json"), &inputs)
	for _, c := range inputs {
		if c.Verdict == nil {
			p := newProcess(t)
			p.Run(append(strings.Fields(c.Command), filepath.Join(fixtures, "input", c.File)))
			codes.message("input/"+c.File, p.errs.String())
		}
	}
	for _, in := range slices.Concat(madeInputs(t), madeStreams(t), madeAudits(t)) {
		codes.report(t, in.name, reportOf(t, in, "json"))
	}
	for _, in := range madeRuns(t) {
		codes.report(t, in.name, reportOf(t, in, "json"))
	}
	old := newProcess(t) // a report that needs a clock: no other does
	old.Now = func() time.Time { return fixedNow().Add(2 * day) }
	old.Run([]string{"replay", nativeFixture("runs", "single"), "--max-age", "1", "--format", "json"})
	codes.report(t, "an old recording", old.out.Bytes())
	refused := newProcess(t)
	refused.Run([]string{"run", "--from", nativeFixture("inputs", "single"), "--out", t.TempDir(), "--config", nativeFixture("tree", "policy-2.json")})
	codes.message("inputs that cannot be executed", refused.errs.String())
	for _, c := range rewrittenLedgers(t) {
		codes.report(t, c.what, reportOf(t, invocation{c.what, []string{"verify", c.path}}, "json"))
	}
	for _, c := range heldToStores(t) {
		codes.report(t, c.what, reportOf(t, invocation{c.what, c.args}, "json"))
	}
	for _, r := range storeRefusals(t) {
		p := newProcess(t)
		p.Run(r.args)
		codes.message(strings.Join(r.args, " "), p.errs.String())
	}
	for _, e := range recordedEdits(t) {
		codes.report(t, "native/edits.json: "+e.What, reportOf(t, invocation{e.What, e.write(t)}, "json"))
	}
	for _, e := range finding.Entries() {
		if codes[e.Code] == "" {
			t.Errorf("nothing produces %s (%s)", e.Code, e.Rule)
		}
	}
	for code, by := range codes {
		if finding.Lookup(code).Code == "" {
			t.Errorf("%s is in no table and comes from %s", code, by)
		}
	}
}

// madeInputs are what a repository cannot keep: a pipe, a file over the size cap, an unreadable one.
func madeInputs(t *testing.T) []invocation {
	t.Helper()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large.json")
	trace, err := os.ReadFile(filepath.Join(fixtures, "demo", "left", "memory_trace.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, append(trace, strings.Repeat(" ", 10<<20)...), 0o600); err != nil {
		t.Fatal(err)
	}
	faulty := filepath.Join(dir, "faulty.json")
	if err := os.WriteFile(faulty, tinyEvents(20_000), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "damaged.sqlite")
	trail, err := os.ReadFile(streamFixture("s01_chat_refs", "trail.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, trail[:5000], 0o600); err != nil {
		t.Fatal(err)
	}
	var tampered []invocation
	for _, c := range tamperings(t) {
		tampered = append(tampered, invocation{c.What, c.write(t, dir)})
	}
	return append(tampered, []invocation{
		{"a trail that was cut off", []string{"verify", damaged}},
		{"a trace with very many faults", []string{"verify", faulty}},
		{"a pipe", []string{"verify", pipe}},
		{"a trace over the size cap", []string{"verify", large}},
		{"a file that is not there", []string{"verify", filepath.Join(dir, "none")}},
		{"an empty folder", []string{"verify", t.TempDir()}},
	}...)
}
