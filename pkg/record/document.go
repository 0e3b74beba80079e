package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Text is a JSON document and where it comes from, for errors.
type Text struct {
	Path string
	At   string // pointer of the document in its file: "" for the file itself, "/3" for the fourth line
	JSON []byte
}

// Documents are what a run starts from.
type Documents struct {
	Snapshot, Config, Policies, Profiles Text
}

// read holds the documents to their schemas.
func (d Documents) read() (*trace.Recording, error) {
	r := &trace.Recording{}
	var err error
	for _, doc := range []struct {
		schema string
		text   Text
		to     *trace.Document
	}{
		{"memory.snapshot.v1", d.Snapshot, &r.Snapshot}, {"pipeline.config.v1", d.Config, &r.Config}, {"run.profiles.v1", d.Profiles, &r.ProfileSet},
	} {
		if *doc.to, err = Read(doc.schema, doc.text); err != nil {
			return nil, err
		}
	}
	if r.Policies, err = Parse(d.Policies); err != nil { // held to its schema by the execution
		return nil, err
	}
	r.Profiles, err = Profiles(r.ProfileSet)
	return r, err
}

// Profiles gives the tool profiles of a profiles.json that Read has given.
func Profiles(set trace.Document) (trace.Profiles, error) {
	var profiles trace.Profiles
	list, _ := set.Value.Get("tool_profiles")
	for i, e := range list.Elements() {
		p, _, err := shape.ReadProfile(set.Path, e.Raw())
		if err != nil {
			return nil, unreadable(Text{Path: set.Path}, err)
		}
		if slices.ContainsFunc(profiles, func(other trace.ToolProfile) bool { return other.Name == p.Name && other.Version == p.Version }) {
			return nil, &execute.Error{Path: set.Path, Pointer: fmt.Sprintf("/tool_profiles/%d", i), Detail: "a profile of this tool and version is there already"}
		}
		profiles = append(profiles, *p)
	}
	return profiles, nil
}

// Read holds a document to its schema, by the name that the formats of a run have it under. The error is an *execute.Error.
func Read(schema string, t Text) (trace.Document, error) {
	doc, findings, err := shape.Document(schema, t.Path, t.At, t.JSON)
	if err != nil {
		return doc, unreadable(t, err)
	}
	if len(findings) > 0 {
		return doc, &execute.Error{Path: t.Path, Pointer: findings[0].Pointer, Detail: findings[0].Detail}
	}
	return doc, nil
}

// Parse reads a document that nothing here holds to a schema. The error is an *execute.Error.
func Parse(t Text) (trace.Document, error) {
	value, err := canon.Parse(t.JSON)
	if err != nil {
		return trace.Document{}, unreadable(t, err)
	}
	return trace.Document{Path: t.Path, At: t.At, Value: value}, nil
}

func unreadable(t Text, err error) error {
	var bad *canon.Error
	if errors.As(err, &bad) {
		return &execute.Error{Path: t.Path, Pointer: t.At + bad.Pointer, Detail: bad.Detail}
	}
	return &execute.Error{Path: t.Path, Detail: err.Error()}
}

// withTools adds tool_runtime_profile_hash to a model configuration (D5). One that is there must be right.
func withTools(config []byte, r *trace.Recording) ([]byte, error) {
	value, err := canon.Parse(config)
	if err != nil || value.Kind() != canon.Object {
		return nil, fmt.Errorf("the model configuration is no JSON object: %s", config)
	}
	hash, err := toolRuntime(r)
	if err != nil {
		return nil, err
	}
	if stated, ok := value.Get("tool_runtime_profile_hash"); ok {
		if text, _ := stated.Text(); text != hash {
			return nil, fmt.Errorf("the model configuration states tool_runtime_profile_hash %s, and the profiles have %s", text, hash)
		}
		return oneLine(value), nil
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		for _, m := range value.Members() {
			w.Raw(m.Name, m.Value.Raw())
		}
		w.Text("tool_runtime_profile_hash", hash)
	})
	return oneLineOf(w.Bytes())
}

// toolRuntime gives the hash of the tools' profiles (D5).
func toolRuntime(r *trace.Recording) (string, error) {
	list, _ := r.ProfileSet.Value.Get("tool_profiles")
	order := make([]int, len(r.Profiles))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.Profiles[a].Name, r.Profiles[b].Name) })
	var err error
	w := document.NewWriter(document.Style{})
	w.List("", func() {
		for _, i := range order {
			sum, bad := canon.Digest(canon.JSONv1, list.Elements()[i].Raw())
			err = errors.Join(err, bad)
			w.Object("", func() {
				w.Text("tool_name", r.Profiles[i].Name)
				w.Text("tool_profile_version", r.Profiles[i].Version)
				w.Text("tool_profile_digest", sum.Hex())
			})
		}
	})
	if err != nil {
		return "", err
	}
	sum, err := canon.Digest(canon.JSONv1, w.Bytes())
	return sum.Hex(), err
}

// oneLine gives a document on one line: a line feed inside of it is white space between its parts.
func oneLine(v canon.Value) []byte {
	line := slices.Clone(v.Raw())
	for i, b := range line {
		if b == '\n' || b == '\r' {
			line[i] = ' '
		}
	}
	return line
}

func oneLineOf(text []byte) ([]byte, error) {
	v, err := canon.Parse(text)
	return oneLine(v), err
}

func trimmed(text []byte) []byte {
	v, err := canon.Parse(text)
	if err != nil {
		return text
	}
	return v.Raw()
}
