package pipeline

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

// filters are the filters in the order in which they are applied (M11). The first that drops a record is the one that
// decided.
var filters = [...]struct {
	name  string
	set   func(f *Filters) bool
	keeps func(f *Filters, e *memory.Entry, now int64) bool
	write func(w *document.Writer, f *Filters)
}{
	{
		"namespace",
		func(f *Filters) bool { return f.Namespaces != nil },
		func(f *Filters, e *memory.Entry, _ int64) bool { return slices.Contains(f.Namespaces, e.Namespace) },
		func(w *document.Writer, f *Filters) { w.Texts("namespace", f.Namespaces) },
	},
	{
		"scope",
		func(f *Filters) bool { return f.Scopes != nil },
		func(f *Filters, e *memory.Entry, _ int64) bool { return slices.Contains(f.Scopes, e.Scope) },
		func(w *document.Writer, f *Filters) { w.Texts("scope", f.Scopes) },
	},
	{
		"tags",
		func(f *Filters) bool { return f.Tags != nil },
		func(f *Filters, e *memory.Entry, _ int64) bool {
			return !slices.ContainsFunc(f.Tags, func(tag string) bool { return !slices.Contains(e.Tags, tag) })
		},
		func(w *document.Writer, f *Filters) { w.Texts("tags", f.Tags) },
	},
	{
		"trust",
		func(f *Filters) bool { return f.MinTrust != nil },
		func(f *Filters, e *memory.Entry, _ int64) bool { return e.TrustLevel() >= *f.MinTrust },
		func(w *document.Writer, f *Filters) { w.Integer("trust", int64(*f.MinTrust)) },
	},
	{
		"ttl",
		func(f *Filters) bool { return f.TTL },
		func(_ *Filters, e *memory.Entry, now int64) bool { return e.ExpiresAt == nil || *e.ExpiresAt > now },
		func(w *document.Writer, f *Filters) { w.Bool("ttl", f.TTL) },
	},
}

// Dropping gives the name of the first filter that drops a record at a snapshot time; false where all keep it.
func (f *Filters) Dropping(e *memory.Entry, now int64) (filter string, dropped bool) {
	for i := range filters {
		if filters[i].set(f) && !filters[i].keeps(f, e, now) {
			return filters[i].name, true
		}
	}
	return "", false
}

// AppliedFilter is one filter of a retrieval and how many records it dropped (M11).
type AppliedFilter struct {
	Name    string
	Dropped int
}

// applied gives the filters that are set, in their order.
func (f *Filters) applied() []AppliedFilter {
	var list []AppliedFilter
	for i := range filters {
		if filters[i].set(f) {
			list = append(list, AppliedFilter{Name: filters[i].name})
		}
	}
	return list
}

// Write writes the filters that are set as the member `applied_filters` of a retrieval event has them.
func (f *Filters) Write(w *document.Writer, name string) {
	w.Object(name, func() { f.writeSet(w) })
}

func (f *Filters) writeSet(w *document.Writer) {
	for i := range filters {
		if filters[i].set(f) {
			filters[i].write(w, f)
		}
	}
}
