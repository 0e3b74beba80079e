package memory

import (
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Record is one memory in the form that stores and write lists have (M11). Its ID is the key where the type is a world
// state, else the id; in a write list it is empty where the entry gets its id when it is applied (P2 h).
type Record struct {
	Entry          // without Category, which LlamaBrain's kinds have in their content
	Type    string // one of the Type constants, or any other name
	Content []byte // a JSON object: what the type says
}

// The record types of LlamaBrain's kinds. Records of other types are kept as they are.
const (
	TypeFact    = "fact"
	TypeWorld   = "world"
	TypeEpisode = "episodic"
	TypeBelief  = "belief"
)

// contentWriter gives a writer of contents, of one after the other.
func contentWriter() *document.Writer { return document.NewWriter(document.Style{OmitNull: true}) }

func newRecord(w *document.Writer, e Entry, kind string, content func(*document.Writer)) Record {
	w.Reset()
	w.Object("", func() { content(w) })
	e.Category = nil
	return Record{Entry: e, Type: kind, Content: slices.Clone(w.Bytes())}
}

// writeUTF8 writes a text as UTF-8 can hold it: each half of a surrogate pair is U+FFFD (llamabrain.md §0).
func writeUTF8(w *document.Writer, name string, value *string) {
	if value != nil {
		w.Text(name, dotnet.UTF8(*value))
	}
}

// writeExact writes a real so that json-v1 loses nothing of it: a multiple of 1e-6 as a number, any other as text.
func writeExact(w *document.Writer, name string, x float64) {
	if Micros.Round(x) == x {
		w.Real(name, x)
		return
	}
	w.Text(name, strconv.FormatFloat(x, 'g', -1, 64))
}

// Record gives the fact as a record.
func (f Fact) Record() Record { return f.record(contentWriter()) }

func (f *Fact) record(by *document.Writer) Record {
	return newRecord(by, f.Entry, TypeFact, func(w *document.Writer) {
		writeUTF8(w, "Fact", &f.Text)
		writeUTF8(w, "Domain", f.Domain)
		writeUTF8(w, "Category", f.Category)
		if f.Keywords != nil {
			w.List("ContradictionKeywords", func() {
				for i := range f.Keywords {
					writeUTF8(w, "", &f.Keywords[i])
				}
			})
		}
	})
}

// Record gives the value of the world as a record.
func (w WorldState) Record() Record { return w.record(contentWriter()) }

func (w *WorldState) record(by *document.Writer) Record {
	e := w.Entry
	e.ID = w.Key
	return newRecord(by, e, TypeWorld, func(o *document.Writer) {
		if w.ID != "" {
			writeUTF8(o, "Id", &w.ID)
		}
		writeUTF8(o, "Value", &w.Value)
		writeUTF8(o, "Category", w.Category)
		o.Integer("ModifiedAtTicks", w.ModifiedAt)
		o.Integer("ModificationCount", w.Modifications)
	})
}

// Record gives the episode as a record.
func (e Episode) Record() Record { return e.record(contentWriter()) }

func (e *Episode) record(by *document.Writer) Record {
	return newRecord(by, e.Entry, TypeEpisode, func(w *document.Writer) {
		writeUTF8(w, "Description", &e.Description)
		w.Integer("EpisodeType", int64(e.Type))
		writeUTF8(w, "Participant", e.Participant)
		writeUTF8(w, "Category", e.Category)
		writeExact(w, "Significance", e.Significance)
		writeExact(w, "Strength", e.Strength)
		writeExact(w, "GameTime", e.GameTime)
		writeUTF8(w, "LocationId", e.Location)
	})
}

// Record gives the belief as a record.
func (b Belief) Record() Record { return b.record(contentWriter()) }

func (b *Belief) record(by *document.Writer) Record {
	return newRecord(by, b.Entry, TypeBelief, func(w *document.Writer) {
		writeUTF8(w, "Key", &b.Key)
		writeUTF8(w, "Subject", &b.Subject)
		writeUTF8(w, "BeliefContent", &b.Content)
		w.Integer("BeliefType", int64(b.Type))
		writeUTF8(w, "Category", b.Category)
		writeExact(w, "Confidence", b.Confidence)
		writeExact(w, "Sentiment", b.Sentiment)
		w.Bool("IsContradicted", b.Contradicted)
		writeUTF8(w, "Evidence", b.Evidence)
	})
}

// contents read the content of LlamaBrain's kinds into a state. What a new entry has is the default, as for one that is
// added.
var contents = map[string]func(*State, Entry, *document.Object){
	TypeFact: func(s *State, e Entry, o *document.Object) { s.Facts = append(s.Facts, readFact(o, Fact{Entry: e})) },
	TypeWorld: func(s *State, e Entry, o *document.Object) {
		w := WorldState{Entry: e, Key: e.ID}
		w.ID = o.Text("Id", "")
		s.World = append(s.World, readWorld(o, w))
	},
	TypeEpisode: func(s *State, e Entry, o *document.Object) {
		episode := NewEpisode("")
		episode.Entry = e
		s.Episodes = append(s.Episodes, readEpisode(o, episode, DMPLv1))
	},
	TypeBelief: func(s *State, e Entry, o *document.Object) {
		belief := NewBelief("", "")
		belief.Entry = e
		s.Beliefs = append(s.Beliefs, readBelief(o, belief, DMPLv1))
	},
}

// add appends what a record holds to the list of its kind.
func (s *State) add(r Record) error {
	read, known := contents[r.Type]
	if !known {
		s.Others = append(s.Others, r)
		return nil
	}
	v, err := canon.ParseAs(canon.DBL, r.Content)
	if err != nil {
		return err
	}
	o := document.Open(v)
	read(s, r.Entry, o)
	closed(o)
	return o.Err()
}

// Records gives all entries as records, by sequence number.
func (s State) Records() []Record {
	list := make([]Record, 0, s.size())
	by := contentWriter()
	for i := range s.Facts {
		list = append(list, s.Facts[i].record(by))
	}
	for i := range s.World {
		list = append(list, s.World[i].record(by))
	}
	for i := range s.Episodes {
		list = append(list, s.Episodes[i].record(by))
	}
	for i := range s.Beliefs {
		list = append(list, s.Beliefs[i].record(by))
	}
	return bySequence(append(list, s.Others...))
}

// ReadRecord reads a record: record_type, created_at_ticks, sequence_number, source and content must be there. The content
// of LlamaBrain's kinds is held to its members, and is then as the entry writes it: defaults filled in, reals rounded.
func ReadRecord(o *document.Object) Record {
	r, content := readOutside(o)
	read, known := contents[r.Type]
	if !known {
		r.Content = slices.Clone(content.Value().Raw())
		return r
	}
	var s State
	read(&s, r.Entry, content)
	closed(content)
	return s.Records()[0]
}

// readOutside reads what all records have, and gives the content.
func readOutside(o *document.Object) (Record, *document.Object) {
	must(o, "record_type", "created_at_ticks", "sequence_number", "source", "content")
	r := Record{Type: filled(o, "record_type")}
	r.ID, r.Namespace, r.Scope = o.Text("record_id", ""), o.Text("namespace", ""), o.Text("scope", "")
	r.Tags, r.ExpiresAt = someTexts(o.Texts("tags")), o.OptionalInteger("expires_at_ticks")
	r.CreatedAt, r.Sequence = o.Integer("created_at_ticks", 0), o.Integer("sequence_number", 0)
	r.Source = Source(readTrust(o, "source"))
	if o.Has("trust") {
		r.setTrust(readTrust(o, "trust"))
	}
	content := o.Object("content")
	closed(o)
	return r, content
}

// WriteRecord writes a record in its canonical members: all but an empty record_id and a missing expiry.
func WriteRecord(w *document.Writer, name string, r Record) {
	w.Object(name, func() {
		if r.ID != "" {
			writeUTF8(w, "record_id", &r.ID)
		}
		writeUTF8(w, "record_type", &r.Type)
		writeUTF8(w, "namespace", &r.Namespace)
		writeUTF8(w, "scope", &r.Scope)
		w.List("tags", func() {
			for i := range r.Tags {
				writeUTF8(w, "", &r.Tags[i])
			}
		})
		w.Integer("trust", int64(r.TrustLevel()))
		if r.ExpiresAt != nil {
			w.Integer("expires_at_ticks", *r.ExpiresAt)
		}
		w.Integer("created_at_ticks", r.CreatedAt)
		w.Integer("sequence_number", r.Sequence)
		w.Integer("source", int64(r.Source))
		w.Raw("content", r.Content)
	})
}

// canonical gives the json-v1 bytes of a record.
func (r Record) canonical() ([]byte, error) {
	w := document.NewWriter(document.Style{})
	WriteRecord(w, "", r)
	return canon.Append(nil, w.Bytes(), canon.JSONv1)
}

// clone gives a record that shares nothing with this one.
func (r Record) clone() Record {
	r.Tags, r.Content = slices.Clone(r.Tags), slices.Clone(r.Content)
	if r.Trust != nil {
		trust := *r.Trust
		r.Trust = &trust
	}
	if r.ExpiresAt != nil {
		expires := *r.ExpiresAt
		r.ExpiresAt = &expires
	}
	return r
}
