package dblgateway_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

func TestTrailThatIsNoneGivesOneProblem(t *testing.T) {
	state := []string{createState, insertState}
	event := func(old, with string) []string {
		return append(state, createEvents, strings.Replace(insertEvent, old, with, 1))
	}
	tests := []struct {
		name       string
		statements []string
		code       finding.Code
		pointer    string
		detail     string
	}{
		{"no tables", []string{"CREATE TABLE other (a)"}, finding.InputUnrecognised, "", "without a table events"},
		{"no state table", []string{createEvents}, finding.InputUnrecognised, "", "without a table v_state"},
		{"no state row", []string{createEvents, createState}, finding.ShapeMissing, "/v_digest", "no row with id current"},
		{"state digest is a number", []string{createEvents, createState, "INSERT INTO v_state VALUES (0, x'00', 'current')"}, finding.ShapeType, "/v_digest", "is BLOB, not TEXT"},
		{"last index is text", []string{createEvents, createState, "INSERT INTO v_state VALUES ('x', 'v', 'current')"}, finding.ShapeType, "/last_index", "is TEXT, not INTEGER"},
		{"last index below -1", []string{createEvents, createState, "INSERT INTO v_state VALUES (-2, 'v', 'current')"}, finding.ShapeRange, "/last_index", "-2"},
		{"events is a view", append(state, "CREATE VIEW events AS SELECT 1 AS idx"), finding.InputUnrecognised, "", "events is a view"},
		{"column missing", append(state, "CREATE TABLE events (idx INTEGER PRIMARY KEY)"), finding.InputUnrecognised, "", "no stored column parent_turn_id"},
		{"column generated", append(state, strings.Replace(createEvents, "lane TEXT", "lane TEXT AS (actor)", 1)), finding.InputUnrecognised, "", "no stored column lane"},
		{"kind is null", event("'INTENT'", "NULL"), finding.ShapeType, "/events/0/kind", "is NULL, not TEXT"},
		{"digest is a blob", event("'d'", "x'ff'"), finding.ShapeType, "/events/0/digest", "is BLOB, not TEXT"},
		{"lane is no UTF-8", event("'l'", "CAST(x'ff' AS TEXT)"), finding.CanonInvalidUTF8, "/events/0/lane", "no UTF-8"},
		{"canon_len is text", event("7", "'seven'"), finding.ShapeType, "/events/0/canon_len", "is TEXT, not INTEGER"},
		{"canon_len is real", event("7", "7.5"), finding.ShapeType, "/events/0/canon_len", "is REAL, not INTEGER"},
		{"canon_len is negative", event("7", "-7"), finding.ShapeRange, "/events/0/canon_len", "-7"},
		{"payload is no JSON", event(`{"a":1}`, `{"a":`), finding.CanonInvalidJSON, "/events/0/payload/a", "end of the input"},
		{"payload is a list", event(`{"a":1}`, `[1]`), finding.ShapeType, "/events/0/payload", "no object"},
		{"payload is empty", event(`{"a":1}`, ``), finding.CanonInvalidJSON, "/events/0/payload", "end of the input"},
		{"payload has a name twice", event(`{"a":1}`, `{"a":1,"a":2}`), finding.CanonDuplicateKey, "/events/0/payload/a", "stands twice"},
		{"value over the limit", event(`'{"a":1}'`, `zeroblob(70000000)`), finding.InputTooLarge, "", ""},
		{"rows with one idx", []string{
			createState, insertState, strings.Replace(createEvents, " PRIMARY KEY AUTOINCREMENT", "", 1),
			strings.Replace(insertEvent, "NULL)", "3)", 1), strings.Replace(insertEvent, "NULL)", "3)", 1),
		}, finding.InputDatabase, "", "row 3 follows row 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.sqlite")
			if err := database(t, path, tt.statements...).Close(); err != nil {
				t.Fatal(err)
			}
			_, _, err := tryRead(path, dialect.Options{})
			p := wantProblem(t, err, tt.code, path)
			if p.Pointer != tt.pointer || !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("%s: %s", p.Pointer, p.Detail)
			}
		})
	}
}

func TestDamagedTrailGivesAProblem(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(fixtures, "s01_chat_refs", "trail.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	overwritten := func(from, to int) []byte {
		data := bytes.Clone(whole)
		for i := from; i < to; i++ {
			data[i] = 0xA5
		}
		return data
	}
	tests := []struct {
		name string
		data []byte
		code finding.Code
	}{
		{"magic alone", whole[:16], finding.InputDatabase},
		{"cut in the header", whole[:80], finding.InputDatabase},
		{"one page", whole[:4096], finding.InputDatabase},
		{"cut in the middle", whole[:len(whole)/2], finding.InputDatabase},
		{"cut in a page", whole[:len(whole)/2+100], finding.InputDatabase},
		{"header overwritten", overwritten(16, 100), finding.InputDatabase},
		{"schema overwritten", overwritten(100, 4096), finding.InputDatabase},
		{"pages overwritten", overwritten(4096, len(whole)), finding.InputDatabase},
		{"text", []byte("this is no database, whatever its name"), finding.InputUnrecognised},
		{"nothing", nil, finding.InputUnrecognised},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.sqlite")
			lay(t, path, tt.data)
			_, _, err := tryRead(path, dialect.Options{})
			wantProblem(t, err, tt.code, path)
		})
	}
}

// Any single damaged byte is read as something or gives a problem: it ends, and nothing panics.
func TestAnyByteOfATrailMayBeDamaged(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(fixtures, "s15_lone_surrogates", "trail.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.sqlite")
	problems := 0
	for at := 0; at < len(whole); at += 331 {
		data := bytes.Clone(whole)
		data[at] ^= 0xFF
		lay(t, path, data)
		s, _, err := tryRead(path, dialect.Options{})
		var p *dialect.Problem
		switch {
		case err == nil:
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		case errors.As(err, &p):
			problems++
		default:
			t.Fatalf("byte %d: %v", at, err)
		}
	}
	if problems == 0 {
		t.Error("no damage was noticed")
	}
}

const oneEvent = `{"index":0,"kind":"INTENT","prev_event_digest":"p","lane":"l","thread_id":"th","turn_id":"tu","parent_turn_id":null,` +
	`"actor":"a","intent_type":"i","stream_id":"s","correlation_id":"c","payload":{"a":1},"digest":"d","canon_len":7,"is_authoritative":false}`

func snapshotOf(events string) string {
	return `{"length":1,"offset":0,"limit":200,"v_digest":"v","events":[` + events + `]}`
}

func TestSnapshotThatIsNoneGivesOneProblem(t *testing.T) {
	event := func(old, with string) string { return snapshotOf(strings.Replace(oneEvent, old, with, 1)) }
	tests := []struct {
		name, content string
		code          finding.Code
		pointer       string
		offset        int // -2: any
	}{
		{"nothing", ``, finding.InputUnrecognised, "", -1},
		{"white space", " \n", finding.InputUnrecognised, "", -1},
		{"a list", `[]`, finding.InputUnrecognised, "", -1},
		{"another object", `{"a":1}`, finding.InputUnrecognised, "", -1},
		{"events alone", `{"events":[]}`, finding.InputUnrecognised, "", -1},
		{"byte order mark", "\xEF\xBB\xBF" + snapshotOf(oneEvent), finding.CanonInvalidJSON, "", 0},
		{"cut off after the brace", `{`, finding.CanonInvalidJSON, "", 1},
		{"cut off in a name", `{"leng`, finding.CanonInvalidJSON, "", -2},
		{"cut off behind a name", `{"length"`, finding.CanonInvalidJSON, "", 9},
		{"cut off in a value", `{"length":"ab`, finding.CanonInvalidJSON, "/length", -2},
		{"cut off in the events", snapshotOf(oneEvent)[:70], finding.CanonInvalidJSON, "/events/0/index", -2},
		{"cut off at the end", strings.TrimSuffix(snapshotOf(oneEvent), "}"), finding.CanonInvalidJSON, "", len(snapshotOf(oneEvent)) - 1},
		{"text behind it", snapshotOf(oneEvent) + `x`, finding.CanonInvalidJSON, "", len(snapshotOf(oneEvent))},
		{"trailing comma", `{"length":1,}`, finding.CanonInvalidJSON, "", 12},
		{"no comma", `{"length":1 "offset":2}`, finding.CanonInvalidJSON, "", 12},
		{"name twice", `{"length":1,"length":1,"events":[]}`, finding.CanonDuplicateKey, "/length", 12},
		{"name twice, once escaped", `{"length":1,"\u006cength":1,"events":[]}`, finding.CanonDuplicateKey, "/length", 12},
		{"events no list", `{"v_digest":"v","events":{}}`, finding.CanonInvalidJSON, "/events", -2},
		{"length is text", `{"length":"1","events":[]}`, finding.ShapeType, "/length", 10},
		{"length has a fraction", `{"length":1.0,"events":[]}`, finding.ShapeRange, "/length", 10},
		{"length is negative", `{"length":-1,"events":[]}`, finding.ShapeRange, "/length", 10},
		{"v_digest is null", `{"v_digest":null,"events":[]}`, finding.ShapeType, "/v_digest", 12},
		{"other member is broken", `{"length":1,"x":[1,],"events":[]}`, finding.CanonInvalidJSON, "/x/1", -2},
		{"event is a list", snapshotOf(`[]`), finding.ShapeType, "/events/0", 60},
		{"event is no value", snapshotOf(`,`), finding.CanonInvalidJSON, "/events/0", 60},
		{"index is text", event(`"index":0`, `"index":"0"`), finding.ShapeType, "/events/0/index", -2},
		{"index is true", event(`"index":0`, `"index":true`), finding.ShapeType, "/events/0/index", -2},
		{"index is negative", event(`"index":0`, `"index":-1`), finding.ShapeRange, "/events/0/index", -2},
		{"index is 0.0", event(`"index":0`, `"index":0.0`), finding.ShapeRange, "/events/0/index", -2},
		{"index is beyond 64 bits", event(`"index":0`, `"index":99999999999999999999`), finding.ShapeRange, "/events/0/index", -2},
		{"kind is missing", event(`"kind":"INTENT",`, ``), finding.ShapeMissing, "/events/0/kind", -2},
		{"lane is null", event(`"lane":"l"`, `"lane":null`), finding.ShapeType, "/events/0/lane", -2},
		{"parent is missing", event(`"parent_turn_id":null,`, ``), finding.ShapeMissing, "/events/0/parent_turn_id", -2},
		{"parent is a number", event(`"parent_turn_id":null`, `"parent_turn_id":1`), finding.ShapeType, "/events/0/parent_turn_id", -2},
		{"payload is text", event(`{"a":1}`, `"a"`), finding.ShapeType, "/events/0/payload", -2},
		{"payload is missing", event(`"payload":{"a":1},`, ``), finding.ShapeMissing, "/events/0/payload", -2},
		{"canon_len is missing", event(`,"canon_len":7`, ``), finding.ShapeMissing, "/events/0/canon_len", -2},
		{"name twice in an event", event(`"lane":"l"`, `"lane":"l","lane":"l"`), finding.CanonDuplicateKey, "/events/0/lane", -2},
		{"name twice in a payload", event(`{"a":1}`, `{"a":1,"a":1}`), finding.CanonDuplicateKey, "/events/0/payload/a", -2},
		{"lone name twice", event(`{"a":1}`, `{"\ud800":1,"\uD800":1}`), finding.CanonDuplicateKey, "/events/0/payload/\uF000", -2},
		{"not a number", event(`{"a":1}`, `{"a":NaN}`), finding.CanonNonFinite, "/events/0/payload/a", -2},
		{"invalid UTF-8", event(`{"a":1}`, "{\"a\":\"\xff\"}"), finding.CanonInvalidUTF8, "/events/0/payload/a", -2},
		{"deep", snapshotOf(strings.Repeat("[", 100_000)), finding.CanonTooDeep, "", 60 + 254},
		{"depth 257", event(`{"a":1}`, `{"a":`+strings.Repeat("[", 253)+strings.Repeat("]", 253)+`}`), finding.CanonTooDeep, "", -2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := tryRead("-", dialect.Options{Stdin: strings.NewReader(tt.content)})
			p := wantProblem(t, err, tt.code, "-")
			if p.Pointer != tt.pointer || tt.offset != -2 && p.Offset != tt.offset {
				t.Errorf("at %d, %s: %s", p.Offset, p.Pointer, p.Detail)
			}
		})
	}
}

func TestSnapshotsThatAreUnusual(t *testing.T) {
	event := func(old, with string) string { return snapshotOf(strings.Replace(oneEvent, old, with, 1)) }
	tests := []struct {
		name, content string
		codes         []finding.Code
		reason        string
	}{
		{"as usual", snapshotOf(oneEvent), nil, ""},
		{"white space everywhere", " {\n\"v_digest\" : \"v\" ,\t\"events\" : [ " + oneEvent + " ] , \"offset\" : 0 , \"length\" : 1 }\r\n", nil, ""},
		{"additive members", strings.Replace(event(`"lane"`, `"new":[{}],"lane"`), `"limit"`, `"more":{"a":[]},"limit"`, 1), nil, ""},
		{"depth 256", event(`{"a":1}`, `{"a":`+strings.Repeat("[", 252)+strings.Repeat("]", 252)+`}`), nil, ""},
		{"only half a name alike", event(`{"a":1}`, `{"\ud800":1,"\ue000":1,"\ue800":1}`), []finding.Code{finding.ShapeTolerated}, ""},
		{"backslash before the letter u", event(`{"a":1}`, `{"a":"\\ud800","b":"\ud83d\ude42"}`), nil, ""},
		{"lone surrogate in a column", event(`"lane":"l"`, `"lane":"\ud800"`), []finding.Code{finding.ShapeTolerated}, ""},
		{"lone surrogate in an additive member", strings.Replace(snapshotOf(oneEvent), `"limit":200`, `"x":"\udc00"`, 1), []finding.Code{finding.ShapeTolerated}, ""},
		{"authority contradicts the kind", event(`"is_authoritative":false`, `"is_authoritative":true`), []finding.Code{finding.ShapeValue}, ""},
		{"authority of a decision", event(`"INTENT"`, `"DECISION"`), []finding.Code{finding.ShapeValue}, ""},
		{"no length", strings.Replace(snapshotOf(oneEvent), `"length":1,`, ``, 1), []finding.Code{finding.ShapeMissing}, "the snapshot does not say how many events the store has"},
		{"no offset", strings.Replace(snapshotOf(oneEvent), `"offset":0,`, ``, 1), []finding.Code{finding.ShapeMissing}, ""},
		{"no v_digest", strings.Replace(snapshotOf(oneEvent), `"v_digest":"v",`, ``, 1), []finding.Code{finding.ShapeMissing}, ""},
		{"more events than stated", strings.Replace(snapshotOf(oneEvent), `"length":1`, `"length":0`, 1), nil, "the snapshot holds 1 of 0 events: more than it states"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, events := read(t, "-", dialect.Options{Stdin: strings.NewReader(tt.content)})
			if got := codes(s.Shape); strings.Join(text(got), " ") != strings.Join(text(tt.codes), " ") {
				t.Errorf("findings %+v", s.Shape)
			}
			if len(events) != 1 || s.Reason != tt.reason || s.Whole != (tt.reason == "") {
				t.Errorf("%d events, %+v", len(events), s)
			}
		})
	}
}

func text(codes []finding.Code) []string {
	var out []string
	for _, c := range codes {
		out = append(out, string(c))
	}
	return out
}

func TestEventOverTheLimitIsRefused(t *testing.T) {
	content := snapshotOf(strings.Replace(oneEvent, `"a":1`, `"a":"`+strings.Repeat("x", 65<<20)+`"`, 1))
	_, _, err := tryRead("-", dialect.Options{Stdin: strings.NewReader(content)})
	wantProblem(t, err, finding.InputTooLarge, "-")
}

// Events that lie across the ends of what is read at once, and texts that are all escapes.
func TestEventsOfAnySizeAreRead(t *testing.T) {
	var b strings.Builder
	want := 0
	for size := 1; size < 1<<21; size = size*3 + 1 {
		if want > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.Replace(oneEvent, `"a":1`, `"a":"`+strings.Repeat(`\"\\`, size/4)+strings.Repeat("x", size)+`"`, 1))
		want++
	}
	_, events := read(t, "-", dialect.Options{Stdin: strings.NewReader(snapshotOf(b.String()))})
	if len(events) != want {
		t.Errorf("%d events, want %d", len(events), want)
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	for path, code := range map[string]finding.Code{
		dir: finding.InputNotAFile, filepath.Join(dir, "none"): finding.InputUnreadable,
	} {
		_, _, err := tryRead(path, dialect.Options{})
		wantProblem(t, err, code, path)
	}
}

func TestErrorOfTheCallerEndsTheReading(t *testing.T) {
	stop := errors.New("enough")
	for _, name := range []string{"snapshot.json", "trail.sqlite"} {
		calls := 0
		s, err := dblgateway.Read(filepath.Join(fixtures, "s01_chat_refs", name), dialect.Options{}, func(thread.Event) error {
			calls++
			return stop
		})
		if !errors.Is(err, stop) || calls != 1 || s != nil {
			t.Errorf("%s: %d calls, error %v", name, calls, err)
		}
	}
}

// A column with a lone surrogate has it as three bytes, as thread.Event keeps it.
func TestLoneSurrogateInAColumnSurvives(t *testing.T) {
	content := snapshotOf(strings.Replace(oneEvent, `"lane":"l"`, `"lane":"\ud83d\ude42\udc00"`, 1))
	_, events := read(t, "-", dialect.Options{Stdin: strings.NewReader(content)})
	if events[0].Lane != "\U0001F642\xED\xB0\x80" {
		t.Errorf("lane %q", events[0].Lane)
	}
}

// What the contract of readers asks of every dialect of text files: a snapshot that is cut off, or has a NUL byte in it, is a
// problem with an offset inside it.
func TestSnapshotThatIsCutOffOrDamagedIsAProblem(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(fixtures, "s15_lone_surrogates", "snapshot.json"))
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; at < len(whole); at += 61 {
		damaged := bytes.Clone(whole)
		damaged[at] = 0
		for name, data := range map[string][]byte{"cut off": whole[:at], "damaged": damaged} {
			_, _, err := tryRead("-", dialect.Options{Stdin: bytes.NewReader(data)})
			var p *dialect.Problem
			if !errors.As(err, &p) {
				t.Fatalf("%s at byte %d: %v", name, at, err)
			}
			if p.Offset < 0 || p.Offset > len(data) {
				t.Errorf("%s at byte %d: offset %d, %v", name, at, p.Offset, p)
			}
		}
	}
}
