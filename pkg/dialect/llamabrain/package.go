package llamabrain

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
)

// Package is a debug package as it was read.
type Package struct {
	audit.Package
	Inputs    []finding.Input
	Shape     []finding.Finding
	Malformed bool // a member beside the records has a wrong type
}

// ReadPackage reads a debug package, plain or compressed. What is missing or null has its producer's default, members
// that the format does not name are left out (llamabrain.md §9); each tolerance is a note. An error is a
// [dialect.Problem].
func ReadPackage(path string, o dialect.Options) (*Package, error) {
	f, err := dialect.ReadFile(path, o.Stdin, o.Limit)
	if err != nil {
		return nil, err
	}
	p := &Package{Inputs: []finding.Input{f.Input(Name, KindPackage, o.Digests)}}
	text, err := unpacked(f, o.Limit)
	if err != nil {
		return nil, err
	}
	r := packageReader{shape: shape{path: path}, src: canon.NewReader(text), text: text, into: p}
	if err := r.read(); err != nil {
		return nil, syntax(path, err)
	}
	p.Shape = r.shape.found()
	return p, nil
}

// unpacked gives the JSON of a package. What is compressed is bounded as a document is (C1).
func unpacked(f *dialect.File, limit int64) ([]byte, error) {
	text, compressed := bytes.CutPrefix(f.Data, []byte(magic))
	if compressed && len(text) > 0 {
		if limit <= 0 {
			limit = dialect.DefaultLimit
		}
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, problem(finding.InputGzip, f.Path, "what follows LBPK does not decompress: "+err.Error())
		}
		if text, err = io.ReadAll(io.LimitReader(z, limit+1)); err != nil {
			return nil, problem(finding.InputGzip, f.Path, "what follows LBPK does not decompress: "+err.Error())
		}
		if int64(len(text)) > limit {
			return nil, problem(finding.InputTooLarge, f.Path, fmt.Sprintf("decompresses to more than %d bytes", limit))
		}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, problem(finding.CanonInvalidJSON, f.Path, "the package is empty")
	}
	return text, nil
}

// packageReader reads a package member by member, so that of the records nothing is kept but what they say.
type packageReader struct {
	shape
	src  *canon.Reader
	text []byte
	into *Package
	head []byte // the members besides the records, each after a comma
}

var recordsPlace = place{finding.NoEvent, "/Records"}

func (r *packageReader) read() error {
	if kind := r.src.Kind(); kind != canon.Object && kind != canon.Invalid {
		return problem(finding.InputUnrecognised, r.path, "is "+kind.String()+", not an object: no debug package")
	}
	hasRecords := false
	err := r.src.Members(func(name []byte) error {
		if string(name) == "Records" {
			hasRecords = true
			return r.records()
		}
		span, err := r.src.Skip()
		if err == nil {
			r.head = append(canon.QuoteASCII(append(r.head, ','), name), ':')
			r.head = append(r.head, r.text[span.Start:span.End]...)
		}
		return err
	})
	if err == nil {
		err = r.src.End()
	}
	if err != nil {
		return err
	}
	if !hasRecords {
		r.tolerate(defaulted, recordsPlace)
	}
	return r.readHead()
}

func (r *packageReader) records() error {
	if kind := r.src.Kind(); kind != canon.Array && kind != canon.Invalid {
		if kind == canon.Null {
			r.tolerate(defaulted, recordsPlace)
		} else {
			r.report(finding.ShapeType, recordsPlace, "expected array, found "+kind.String())
			r.into.Malformed = true
		}
		_, err := r.src.Skip()
		return err
	}
	return r.src.Elements(func(i int) error {
		span, err := r.src.Skip()
		if err != nil {
			return err
		}
		record, err := r.record(r.text[span.Start:span.End], place{i, "/Records/" + strconv.Itoa(i)})
		r.into.Records = append(r.into.Records, record)
		return err
	})
}

// headNames are the members of a package and of its fingerprint, for the notes about those that are not there.
var headNames = []string{
	"Version", "PackageId", "CreatedAtUtcTicks", "CreatorNotes", "ModelFingerprint", "GameVersion", "SceneName", "NpcIds",
	"TotalInteractions", "ValidationFailures", "FallbacksUsed", "PackageIntegrityHash",
}

var fingerprintNames = []string{
	"ModelPath", "ModelFileName", "ModelFileSizeBytes", "ModelFileHashPrefix", "QuantizationType", "ContextLength", "GpuLayers",
	"BatchSize", "FingerprintHash",
}

func (r *packageReader) readHead() error {
	r.head = append(r.head, '}')
	r.head[0] = '{'
	if len(r.head) == 1 {
		r.head = []byte("{}")
	}
	v, err := canon.Parse(r.head)
	if err != nil {
		return err
	}
	o := document.Open(v)
	records := r.into.Records
	r.into.Package = audit.ReadHead(o)
	r.into.Records = records
	if r.refuse(o, place{index: finding.NoEvent}) {
		r.into.Malformed = true
		return nil
	}
	r.tolerateIn(o, headNames)
	r.tolerateIn(o.Object("ModelFingerprint"), fingerprintNames)
	switch version := r.into.Version; {
	case version > audit.Version:
		r.report(finding.ShapeVersion, place{finding.NoEvent, "/Version"},
			fmt.Sprintf("the package has version %d, and only version %d is known", version, audit.Version))
	case version < audit.Version:
		r.tolerate(olderVersion, place{finding.NoEvent, "/Version"})
	}
	return nil
}

// tolerateIn notes the members of an object that are not there, and those that nobody knows.
func (s *shape) tolerateIn(o *document.Object, names []string) {
	for _, name := range names {
		if !o.Has(name) {
			s.tolerate(defaulted, place{finding.NoEvent, canon.AppendToken(o.Pointer(), name)})
		}
	}
	for _, name := range o.Unknown() {
		s.tolerate(unnamed, place{finding.NoEvent, canon.AppendToken(o.Pointer(), name)})
	}
}
