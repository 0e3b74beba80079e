package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
)

// maxValue is how many bytes of a value the report embeds whole (CONTRACT Z3).
const maxValue = 64 << 10

// JSON writes the report as dmpl.report.v1 (CONTRACT Z4): the same report gives the same bytes.
//
// Each input, check, finding, edit and timeline row stands on a line of its own, and is written before the next is
// looked at, so a report of any length needs no more memory than its longest finding. A member that has no value is
// left out, so an absent value and null stay apart. A value of more than 65,536 bytes, as it stands in the artifact,
// becomes {"cut", "bytes", "sha256"}: its beginning, cut at a character, its length in bytes and its digest (Z3).
// The error is that of w.
func JSON(w io.Writer, r finding.Report) error {
	out := &jsonWriter{w: bufio.NewWriterSize(w, 64<<10)}
	out.report(r)
	return out.w.Flush()
}

// jsonWriter lays a report out: members of the outer objects are indented, lists hold one element a line.
// A write error stays in w until Flush gives it back.
type jsonWriter struct {
	w     *bufio.Writer
	line  []byte
	first bool // no member or element was written yet in the innermost object or list
}

func (j *jsonWriter) report(r finding.Report) {
	tool := object(nil).text("name", "dmpl").text("version", r.Version).end()
	j.raw("{")
	j.first = true
	j.member("  ", "schema_version", appendText(nil, finding.SchemaVersion))
	j.member("  ", "tool", tool)
	j.member("  ", "command", appendText(nil, r.Command))
	j.member("  ", "verdict", appendText(nil, string(known(r.Verdict()))))
	j.member("  ", "exit_code", strconv.AppendInt(nil, int64(r.ExitCode()), 10))
	j.member("  ", "summary", appendText(nil, Summary(r)))
	j.open("  ", "results")
	for _, result := range r.Results {
		j.next("    ")
		j.result(result)
	}
	j.close("  ")
	j.raw("\n}\n")
}

const (
	inResult = "      "
	inList   = "        "
)

func (j *jsonWriter) result(r finding.Result) {
	j.raw("{")
	j.first = true
	j.member(inResult, "name", appendText(nil, r.Name))
	list(j, "inputs", r.Inputs, inputLine)
	j.member(inResult, "verdict", appendText(nil, string(known(r.Verdict))))
	list(j, "checks", r.Checks, checkLine)
	n := count(r.Checks)
	j.member(inResult, "counts", object(nil).number("pass", n.passed).number("fail", n.failed).number("not_checked", n.notChecked).end())
	if c := r.Coverage; c != nil {
		j.member(inResult, "coverage", object(nil).number("checked", c.Checked).number("claims", c.Claims).end())
	}
	list(j, "findings", r.Findings, findingLine)
	list(j, "ignored", r.Ignored, ignoredLine)
	if r.Alignment != nil {
		j.member(inResult, "alignment", alignmentLine(*r.Alignment))
	}
	j.timeline(r.Timeline)
	j.raw("\n    }")
	j.first = false
}

// list writes a member of the result that is a list of one-line objects.
func list[T any](j *jsonWriter, name string, elements []T, line func(object, T) []byte) {
	j.open(inResult, name)
	for _, e := range elements {
		element(j, e, line)
	}
	j.close(inResult)
}

func element[T any](j *jsonWriter, e T, line func(object, T) []byte) {
	j.next(inList)
	j.line = line(object(j.line[:0]), e)
	_, _ = j.w.Write(j.line)
}

// timeline writes the rows, which are not there all at once, and nothing where there is none.
func (j *jsonWriter) timeline(rows iter.Seq[finding.Row]) {
	if rows == nil {
		return
	}
	some := false
	for row := range rows {
		if !some {
			j.open(inResult, "timeline")
			some = true
		}
		element(j, row, rowLine)
	}
	if some {
		j.close(inResult)
	}
}

func inputLine(o object, in finding.Input) []byte {
	return o.text("path", in.Path).text("dialect", in.Dialect).text("kind", in.Kind).
		raw("bytes", strconv.AppendInt(nil, in.Bytes, 10)).text("sha256", in.SHA256).end()
}

func checkLine(o object, c finding.Check) []byte {
	return o.text("id", c.ID).text("status", string(c.Status)).number("count", c.Count).text("reason", c.Reason).end()
}

func ignoredLine(o object, i finding.Ignored) []byte {
	return o.text("what", i.What).number("count", i.Count).text("reason", i.Reason).end()
}

func rowLine(o object, r finding.Row) []byte {
	tools := []byte{'['}
	for i, tool := range r.Tools {
		if i > 0 {
			tools = append(tools, ',')
		}
		tools = appendText(tools, tool)
	}
	return o.text("side", r.Side).number("index", r.Index).text("role", r.Role).text("decision", r.Decision).
		raw("tools", append(tools, ']')).text("digest", r.Digest).end()
}

func alignmentLine(a finding.Alignment) []byte {
	edits := []byte{'['}
	for i, e := range a.Edits {
		if i > 0 {
			edits = append(edits, ',')
		}
		edit := object(nil).text("kind", string(e.Kind)).number("left", e.Left).number("right", e.Right).number("count", e.Count).end()
		edits = append(edits, edit...)
	}
	return object(nil).number("left_events", a.LeftEvents).number("right_events", a.RightEvents).
		raw("edits", append(edits, ']')).text("note", a.Note).end()
}

func findingLine(o object, f finding.Finding) []byte {
	o = o.text("code", string(f.Code)).text("rule", f.Rule()).text("severity", string(f.Severity)).text("class", string(f.Class))
	o = o.text("artifact", f.Artifact)
	if f.RightArtifact != "" {
		o = o.text("right_artifact", f.RightArtifact)
	}
	if f.EventIndex != finding.NoEvent {
		o = o.number("event_index", f.EventIndex)
	}
	if f.Subject != "" {
		o = o.text("subject", f.Subject)
	}
	o = o.text("pointer", f.Pointer)
	if f.RightArtifact != "" || f.RightPointer != "" {
		o = o.text("right_pointer", f.RightPointer)
	}
	return o.value("expected", f.Expected).value("actual", f.Actual).
		text("title", finding.Lookup(f.Code).Title).text("detail", f.Detail).text("hint", hint(f)).end()
}

func (j *jsonWriter) raw(s string) { _, _ = j.w.WriteString(s) }

// next begins a member or an element on a line of its own.
func (j *jsonWriter) next(indent string) {
	if !j.first {
		j.raw(",")
	}
	j.first = false
	j.raw("\n" + indent)
}

func (j *jsonWriter) member(indent, name string, value []byte) {
	j.next(indent)
	j.raw(`"` + name + `": `)
	_, _ = j.w.Write(value)
}

func (j *jsonWriter) open(indent, name string) {
	j.member(indent, name, []byte{'['})
	j.first = true
}

func (j *jsonWriter) close(indent string) {
	if !j.first {
		j.raw("\n" + indent)
	}
	j.raw("]")
	j.first = false
}

// object is the text of one JSON object on one line, being written.
type object []byte

func (o object) name(name string) object {
	sep := byte(',')
	if len(o) == 0 {
		sep = '{'
	}
	o = append(o, sep, '"')
	return append(append(o, name...), '"', ':')
}

func (o object) text(name, s string) object {
	return object(appendText(o.name(name), s))
}

func (o object) number(name string, n int) object {
	return strconv.AppendInt(o.name(name), int64(n), 10)
}

func (o object) raw(name string, json []byte) object {
	return append(o.name(name), json...)
}

// value embeds a value from an artifact, or nothing where there is none.
func (o object) value(name string, v finding.Value) object {
	if v == nil {
		return o
	}
	o = o.name(name)
	if len(v) > maxValue {
		return append(o, cutValue(v)...)
	}
	whole, _ := appendValue(o, v, everything)
	return whole
}

func (o object) end() []byte { return append(o, '}') }

func cutValue(v finding.Value) []byte {
	end := maxValue
	for back := 1; back < utf8.UTFMax && !utf8.RuneStart(v[end]); back++ {
		end--
	}
	sum := sha256.Sum256(v)
	return object(nil).text("cut", string(v[:end])).number("bytes", len(v)).text("sha256", hex.EncodeToString(sum[:])).end()
}
