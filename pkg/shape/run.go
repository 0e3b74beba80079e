package shape

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// none stands for the model of a document that is only held to its schema.
type none struct{}

// spec is the schema of such a document.
type spec []member[none]

// format is the schema of a document, and what else is asked of one whose members are in order.
type format struct {
	spec spec
	also func(r *reader, document canon.Value)
}

// documents holds the format of each document of a native run, and of an exported ledger, by the name that schemas/ has it under. The trace itself and
// tool profiles have models of their own; a policy set is held to its schema by its reader. Like every table
// here they are made when one is asked for: most commands start without any.
var documents = sync.OnceValue(func() map[string]format {
	return map[string]format{
		"dmpl.run.v1":        {manifestSpec(), closed},
		"memory.snapshot.v1": {snapshotSpec(), nil},
		"pipeline.config.v1": {configSpec(), nil},
		"run.profiles.v1":    {profilesSpec(), nil},
		"run.turn.v1":        {turnSpec(), nil},
		"run.output.v1":      {outputSpec(), nil},
		"run.tool_result.v1": {toolResultSpec(), nil},
		"run.candidates.v1":  {candidatesSpec(), nil},
		"run.prompt.v1":      {promptSpec(), nil},
		"memory.commit.v1":   {commitSpec(), reasoned},
		"memory.ledger.v1":   {ledgerSpec(), rowed},
	}
})

// Document holds a document of a native run to its schema and gives it with the findings. At is the pointer of the document
// in its file: "" for the file itself, "/3" for the fourth line. The error is a *canon.Error.
func Document(schema, path, at string, data []byte) (trace.Document, []finding.Finding, error) {
	known, ok := documents()[schema]
	if !ok {
		return trace.Document{}, nil, fmt.Errorf("no document that is known has the schema %q", schema)
	}
	r := readers.Get().(*reader)
	r.begin(path, at, data)
	defer r.release()
	findings, err := whole(r, known.spec, &none{})
	if err != nil {
		return trace.Document{}, nil, err
	}
	value, err := canon.Parse(data)
	if err != nil {
		return trace.Document{}, nil, err
	}
	if known.also != nil && len(findings) == 0 {
		known.also(r, value)
		findings = r.findings
	}
	return trace.Document{Path: path, At: at, Value: value}, findings, nil
}

// readers keeps the memory of one document for the next: a run has very many lines.
var readers = sync.Pool{New: func() any { return newReader("", nil) }}

func (r *reader) begin(path, at string, data []byte) {
	r.src.Reset(data)
	*r = reader{src: r.src, data: data, path: path, at: r.at[:0], twin: r.twin}
	if at != "" {
		r.push(step{name: strings.TrimPrefix(at, "/")})
	}
}

// release gives the memory back, without what it points to; that of a large document is dropped.
func (r *reader) release() {
	if len(r.data) <= 1<<20 {
		r.begin("", "", nil)
		readers.Put(r)
	}
}

// The rows of a spec.

func one(name string, n need, want canon.Kind, checks ...func(*reader, *none, *trace.Field)) member[none] {
	m := member[none]{name: name, need: n, want: want}
	if len(checks) > 0 {
		m.check = checks[0]
	}
	return m
}

func filled(name string, n need) member[none] { return one(name, n, canon.String, nonEmpty[none]) }
func free(name string, n need) member[none]   { return one(name, n, canon.String) }
func flag(name string, n need) member[none]   { return one(name, n, canon.Bool) }

// amount is a whole number of 0 or more.
func amount(name string, n need) member[none] { return number(name, n, 0, math.MaxInt64) }

// number is a whole number within bounds: a literal without fraction and exponent (CONTRACT C4).
func number(name string, n need, least, most int64) member[none] {
	return one(name, n, canon.Number, func(r *reader, _ *none, f *trace.Field) {
		value, ok := canon.Integer(f.Raw)
		if !ok || value < least || value > most {
			r.reject(finding.ShapeRange, f, "%s is not a whole number of %d to %d", name, least, most)
		}
	})
}

func digest(name string, n need) member[none] {
	return one(name, n, canon.String, func(r *reader, _ *none, f *trace.Field) {
		if len(f.Raw) != 66 || !f.IsDigest() {
			r.reject(finding.ShapeValue, f, "%s is no SHA-256 digest of 64 lowercase hex digits", name)
		}
	})
}

func word(name string, n need, words ...string) member[none] {
	return one(name, n, canon.String, oneOf[none](words...))
}

func known(name, only string) member[none] {
	return one(name, required, canon.String, version[none](only))
}

// pipelineVersion is closed: an unknown version is never read as the newest (CONTRACT P2).
func pipelineVersion() member[none] {
	return one("pipeline_version", required, canon.String, func(r *reader, t *none, f *trace.Field) {
		nonEmpty(r, t, f)
		if f.Ok() && !slices.ContainsFunc([]string{"dmpl-v1", "llamabrain-v1"}, f.Is) {
			r.reject(finding.ShapeVersion, f, "pipeline_version is none of dmpl-v1, llamabrain-v1, the versions that are known")
		}
	})
}

func nested(name string, n need, s spec) member[none] {
	m := one(name, n, canon.Object)
	m.read = func(r *reader, t *none) error { return object(r, s, t) }
	return m
}

// list is a list of objects, each held to the spec.
func list(name string, n need, s spec) member[none] {
	m := one(name, n, canon.Array)
	m.read = func(r *reader, t *none) error {
		return r.src.Elements(func(i int) error {
			r.push(step{index: i})
			defer r.pop()
			return element(r, s, t, &trace.Field{})
		})
	}
	return m
}

func strs(name string, n need) member[none] {
	m := one(name, n, canon.Array)
	m.read = func(r *reader, _ *none) error {
		var list []trace.Field
		return texts(r, &list)
	}
	return m
}

// mapOf is an object whose members all have one type.
func mapOf(name string, n need, value member[none]) member[none] {
	m := one(name, n, canon.Object)
	m.read = func(r *reader, t *none) error {
		return r.src.Members(func(key []byte) error {
			named := value
			named.name = string(key)
			r.push(step{name: named.name})
			defer r.pop()
			return valueOf(r, &named, t)
		})
	}
	return m
}
