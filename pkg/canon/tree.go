package canon

import (
	"slices"
	"sync"
)

// ParseAs is Parse for a document that is read as the producer of a profile reads it (C2). Under py-sorted and dbl NaN
// and Infinity are numbers, and of members of one name the last gives the value and the first the place. Only json-v1
// brings names to NFC; under another profile Get and At find what is in NFC already.
func ParseAs(p Profile, src []byte) (Value, error) {
	r := trees.Get().(*Parser)
	defer r.release()
	r.reset(src, p)
	r.byteOrderMark()
	v, err := r.Value()
	if err != nil {
		return Value{}, err
	}
	if err := r.End(); err != nil {
		return Value{}, err
	}
	return v, nil
}

// trees keeps the stacks of one document for the next: fresh ones cost as much as reading does.
var trees = sync.Pool{New: func() any { return new(Parser) }}

func (r *Parser) reset(src []byte, p Profile) {
	r.Reader = Reader{src: src, members: r.Reader.members[:0], names: r.names[:0], order: r.order[:0], late: r.late[:0]}
	r.form.Profile = p
	r.text = string(src)
}

// release gives the stacks back, without what they point to; large ones are dropped.
func (r *Parser) release() {
	const most = 1 << 12
	if cap(r.members)+cap(r.elements)+cap(r.Reader.members)+cap(r.names) > most {
		return
	}
	clear(r.members[:cap(r.members)])
	clear(r.elements[:cap(r.elements)])
	r.members, r.elements = r.members[:0], r.elements[:0] // an error leaves them filled
	r.src, r.text, r.err = nil, "", nil
	trees.Put(r)
}

func (r *Parser) object() ([]Member, error) {
	return r.objectOf(func(string) (Value, error) { return r.Value() })
}

// objectOf passes the object at the cursor; value passes that of each member.
func (r *Parser) objectOf(value func(name string) (Value, error)) ([]Member, error) {
	base := len(r.members)
	err := r.Members(func(name []byte) error {
		m := Member{Name: r.nameOf(name)}
		var err error
		m.Value, err = value(m.Name)
		r.members = append(r.members, m)
		return err
	})
	var kept *[]Member
	if r.again != nil {
		kept = &r.again.members
	}
	members := keep(kept, r.members[base:])
	r.members = r.members[:base]
	if r.replaced {
		r.replaced = false
		members = lastValues(members)
	}
	return members, err
}

// nameOf gives the name of the innermost member.
func (r *Parser) nameOf(name []byte) string {
	m := &r.Reader.members[len(r.Reader.members)-1]
	switch {
	case r.again != nil && m.wide:
		return string(r.spelling(m))
	case r.again != nil:
		return r.again.name(name, m.prefix)
	case !m.odd:
		return r.text[m.key : m.key+m.size]
	}
	return string(name)
}

func (r *Parser) array() ([]Value, error) {
	base := len(r.elements)
	err := r.Elements(func(int) error {
		element, err := r.Value()
		r.elements = append(r.elements, element)
		return err
	})
	var kept *[]Value
	if r.again != nil {
		kept = &r.again.elements
	}
	elements := keep(kept, r.elements[base:])
	r.elements = r.elements[:base]
	return elements, err
}

// lastValues keeps each name once, at its first place and with its last value, as Python's dictionaries do (C2).
func lastValues(members []Member) []Member {
	const few = 16
	var places map[string]int
	if len(members) > few {
		places = make(map[string]int, len(members))
	}
	kept := members[:0]
	for _, m := range members {
		at, again := places[m.Name]
		if places == nil {
			at = slices.IndexFunc(kept, func(k Member) bool { return k.Name == m.Name })
			again = at >= 0
		}
		if again {
			kept[at].Value = m.Value
			continue
		}
		if places != nil {
			places[m.Name] = len(kept)
		}
		kept = append(kept, m)
	}
	return kept
}
