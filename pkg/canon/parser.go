package canon

import "slices"

// Parser is a Reader that also gives the values it passes, for very many documents of which each is looked at once: all are
// read into the same memory. It reads as strictly as any Reader (C1), and its names are spelled as they stand, not in NFC, so
// that a document has the same Value as under dbl. The zero value is ready for Reset.
type Parser struct {
	// Children are gathered on two stacks, so that each object and each list takes exactly the memory it needs.
	Reader
	text     string // the document, for names that stand in it as they are
	members  []Member
	elements []Value
	again    *memory // of the Values; nil: they take memory of their own
	folding  bool    // arrays and objects are passed folded
}

// Reset begins a document that depth arrays and objects are open around. The Values given before are void.
func (r *Parser) Reset(src []byte, depth int) {
	if r.again == nil {
		r.again = new(memory)
	}
	r.Reader = Reader{
		src: src, depth: depth,
		members: r.Reader.members[:0], names: r.names[:0], order: r.order[:0], late: r.late[:0],
	}
	r.members, r.elements, r.folding = r.members[:0], r.elements[:0], false // an error leaves them as they are
	r.again.empty()
}

// Value passes the value at the cursor as Skip does, and gives it.
func (r *Parser) Value() (v Value, err error) {
	kind, start := r.Kind(), r.pos
	v.folded = r.folding && (kind == Object || kind == Array)
	switch {
	case kind == Object && !v.folded:
		v.members, err = r.object()
	case kind == Array && !v.folded:
		v.elements, err = r.array()
	default:
		_, err = r.Skip()
	}
	v.raw, v.inDBL = r.src[start:r.pos], start >= r.unlike
	return v, err
}

// nameBits leaves some hundred names a place of their own each, mostly.
const nameBits = 11

// memory is what Values are made of, used again for the next document.
type memory struct {
	members  []Member
	elements []Value
	names    [1 << nameBits]string // by hash: documents of one kind have the same names
}

func (m *memory) empty() {
	const most = 1 << 15 // of a document that is larger than most, nothing is kept
	if cap(m.members)+cap(m.elements) > most {
		m.members, m.elements = nil, nil
	}
	m.members, m.elements = m.members[:0], m.elements[:0]
}

// keep gives a copy of what was gathered, at the end of kept or in memory of its own where kept is nil.
func keep[T any](kept *[]T, gathered []T) []T {
	if len(gathered) == 0 {
		return nil
	}
	if kept == nil {
		return slices.Clone(gathered)
	}
	from := len(*kept)
	*kept = append(*kept, gathered...)
	return slices.Clip((*kept)[from:])
}

// name gives a text, and the same copy of it again where it was asked for lately. Prefix holds its first bytes.
func (m *memory) name(text []byte, prefix uint64) string {
	if len(text) == 0 {
		return ""
	}
	hash := prefix ^ uint64(text[len(text)-1])<<32 ^ uint64(len(text))<<40
	known := &m.names[hash*0x9E3779B97F4A7C15>>(64-nameBits)]
	if *known != string(text) {
		*known = string(text)
	}
	return *known
}
