package pipeline

import (
	"bytes"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// mutationTypes are the names of the mutation types, by value.
var mutationTypes = []string{"AppendEpisodic", "TransformBelief", "TransformRelationship", "EmitWorldIntent"}

// String gives the name of a mutation type, or its number where it has none.
func (t MutationType) String() string {
	if t >= 0 && int(t) < len(mutationTypes) {
		return mutationTypes[t]
	}
	return strconv.Itoa(int(t))
}

// severities are the names of the severities, by value.
var severities = []string{"Soft", "Hard", "Critical"}

// String gives the name of a severity.
func (s Severity) String() string { return severities[s] }

// readMutations reads a list of mutations. A confidence that is missing is 1.
func readMutations(o *document.Object, name string, v Version) []Mutation {
	var list []Mutation
	o.Each(name, func(m *document.Object) {
		list = append(list, Mutation{
			Type:       MutationType(readEnum(m, "Type", int(AppendEpisodic), mutationTypes...)),
			Target:     m.OptionalText("Target"),
			Content:    m.OptionalText("Content"),
			Confidence: memory.ReadReal(m, "Confidence", 1, v),
			SourceText: m.OptionalText("SourceText"),
		})
	})
	return list
}

func writeMutations(w *document.Writer, name string, list []Mutation) {
	w.List(name, func() {
		for _, m := range list {
			w.Object("", func() {
				w.Text("Type", m.Type.String())
				w.OptionalText("Target", m.Target)
				w.OptionalText("Content", m.Content)
				w.Real("Confidence", m.Confidence)
				w.OptionalText("SourceText", m.SourceText)
			})
		}
	})
}

// readIntents reads a list of intents.
func readIntents(o *document.Object, name string) []Intent {
	var list []Intent
	o.Each(name, func(i *document.Object) {
		list = append(list, Intent{
			Type:       i.OptionalText("IntentType"),
			Target:     i.OptionalText("Target"),
			Parameters: readParameters(i, "Parameters"),
			Priority:   i.Int("Priority", 0),
			SourceText: i.OptionalText("SourceText"),
		})
	})
	return list
}

func writeIntents(w *document.Writer, name string, list []Intent) {
	w.List(name, func() {
		for _, i := range list {
			w.Object("", func() { writeIntent(w, i) })
		}
	})
}

func writeIntent(w *document.Writer, i Intent) {
	w.OptionalText("IntentType", i.Type)
	w.OptionalText("Target", i.Target)
	writeParameters(w, "Parameters", i.Parameters)
	w.Integer("Priority", int64(i.Priority))
	w.OptionalText("SourceText", i.SourceText)
}

func readParameters(o *document.Object, name string) []Parameter {
	object := o.Object(name).Value()
	if !finite(object) {
		o.Fail(name, "NaN and Infinity are no JSON")
		return nil
	}
	return parametersOf(object)
}

// parametersOf gives the members of an object as parameters.
func parametersOf(object canon.Value) []Parameter {
	var list []Parameter
	for _, m := range object.Members() {
		p := Parameter{Name: m.Name}
		if text, ok := m.Value.Text(); ok {
			p.Value = text
		} else {
			p.JSON = appendJSON(nil, m.Value)
		}
		list = append(list, p)
	}
	return list
}

// writeParameters writes an object by hand: the name of a parameter may be empty.
func writeParameters(w *document.Writer, name string, list []Parameter) {
	dst := []byte{'{'}
	for i, p := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.QuoteASCII(dst, []byte(p.Name)), ':')
		if p.JSON != nil {
			dst = append(dst, p.JSON...)
		} else {
			dst = canon.QuoteASCII(dst, []byte(p.Value))
		}
	}
	w.Raw(name, append(dst, '}'))
}

// finite tells whether a value is free of the tokens NaN and Infinity, which the reader lets pass.
func finite(v canon.Value) bool {
	for _, m := range v.Members() {
		if !finite(m.Value) {
			return false
		}
	}
	for _, e := range v.Elements() {
		if !finite(e) {
			return false
		}
	}
	return v.Kind() != canon.Number || !bytes.ContainsAny(v.Raw(), "NI")
}

// appendJSON appends a value as compact ASCII JSON: numbers as they stand, lone surrogates as escapes.
func appendJSON(dst []byte, v canon.Value) []byte {
	switch v.Kind() {
	case canon.Object:
		return appendObject(dst, v.Members())
	case canon.Array:
		dst = append(dst, '[')
		for i, e := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, e)
		}
		return append(dst, ']')
	case canon.String:
		text, _ := v.Text()
		return canon.QuoteASCII(dst, []byte(text))
	default:
		return append(dst, v.Raw()...)
	}
}

func appendObject(dst []byte, members []canon.Member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.QuoteASCII(dst, []byte(m.Name)), ':')
		dst = appendJSON(dst, m.Value)
	}
	return append(dst, '}')
}
