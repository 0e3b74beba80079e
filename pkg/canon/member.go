package canon

import (
	"encoding/binary"
	"slices"
)

// member is one member of an open object. It holds offsets only: the collector then never looks at members.
type member struct {
	prefix     uint64 // the key's first eight bytes, which settle most comparisons
	at         int    // offset of the name's literal in the document
	key, size  int    // decoded name, in NFC under json-v1: its offset in the document, or in Reader.names when odd
	start, end int    // `"name":value` in the output
	late       int    // errors postponed before this member; after endMember: 1 + index of its own, or 0
	odd        bool   // the name is not its own bytes in the document
	wide       bool   // the name holds a rune that NFC may change
}

// key gives a member's decoded name.
func (r *Reader) key(m *member) []byte {
	if m.odd {
		return r.names[m.key : m.key+m.size]
	}
	return r.src[m.key : m.key+m.size]
}

// late is an error that a lenient profile finds only on writing: not at all, if a later duplicate replaces the member.
type late struct {
	code   string
	offset int
	detail string
}

func (r *Reader) postpone(code string, offset int, detail string) {
	r.late = append(r.late, late{code, offset, detail})
}

// name passes a member's name and the colon, and leaves the cursor at the value.
func (r *Reader) name() *Error {
	at := r.pos
	if at >= len(r.src) || r.src[at] != '"' {
		return r.unexpected("a name in double quotes")
	}
	mark := len(r.late)
	t, err := r.scan()
	if err != nil {
		return err
	}
	m := r.grow()
	m.at, m.key, m.size = at, at+1, r.pos-at-2
	m.start, m.late = len(r.out), mark
	m.odd, m.wide = false, false
	if t == 0 {
		m.prefix = prefixAt(r.src, at+1, m.size)
	} else {
		r.decodeName(m, t)
		r.unlike = r.pos
	}
	if r.form.Profile == JCS {
		m.prefix = 0 // RFC 8785 orders names by UTF-16 unit, which bytes do not
	}
	if r.writing {
		r.writeString(at, t)
		r.out = append(r.out, ':')
	}
	if r.pos >= len(r.src) || r.src[r.pos] != ':' {
		r.space()
		if r.pos >= len(r.src) || r.src[r.pos] != ':' {
			return r.unexpected("':' after a name")
		}
	}
	r.pos++
	if r.pos < len(r.src) && r.src[r.pos] == ' ' {
		r.pos++
		r.unlike = r.pos
	}
	if r.pos < len(r.src) && r.src[r.pos] <= ' ' {
		r.space()
	}
	return nil
}

// grow adds a member, filled in place by name.
func (r *Reader) grow() *member {
	n := len(r.members)
	if n == cap(r.members) {
		r.members = slices.Grow(r.members, 1)
	}
	r.members = r.members[:n+1]
	return &r.members[n]
}

// decodeName resolves the escapes of a name and brings it to NFC where the profile does.
func (r *Reader) decodeName(m *member, t traits) {
	m.wide = t&wide != 0
	start, name := len(r.names), r.key(m)
	if t&escaped != 0 {
		r.names = unescape(r.names, name)
		name = r.names[start:]
	}
	if m.wide && r.form.Profile == JSONv1 {
		name = NFC(name)
	}
	r.setName(m, start, name)
}

// setName keeps a member's name in names from offset start, where it may stand already.
func (r *Reader) setName(m *member, start int, name []byte) {
	r.names = append(r.names[:start], name...)
	m.odd, m.key, m.size = true, start, len(name)
	m.prefix = prefixAt(r.names, start, len(name))
}

// prefixAt gives n bytes of b from offset i, at most eight, as a big-endian number filled up with zeros.
func prefixAt(b []byte, i, n int) uint64 {
	if i+8 <= len(b) {
		x := binary.BigEndian.Uint64(b[i:])
		if n < 8 {
			x &^= 1<<(64-8*n) - 1
		}
		return x
	}
	var word [8]byte
	copy(word[:], b[i:i+n])
	return binary.BigEndian.Uint64(word[:])
}

// endMember ends the innermost member in the output. Of its postponed errors only the first can be reported.
func (r *Reader) endMember(more bool) {
	m := &r.members[len(r.members)-1]
	m.end = len(r.out)
	if more {
		r.out = append(r.out, ',')
	}
	mark := m.late
	m.late = 0
	if len(r.late) > mark {
		r.late = r.late[:mark+1]
		m.late = mark + 1
	}
}

// closeObject ends the object whose members start at base and whose output starts at start: duplicates are found, and
// when writing, its members are put in order (C6).
func (r *Reader) closeObject(base, start int) *Error {
	r.depth--
	members := r.members[base:]
	if r.form.Profile == JCS {
		if err := r.uniqueInNFC(members); err != nil {
			return err
		}
	}
	if !r.ascending(members) {
		r.unlike = r.pos
		if err := r.disorder(members, start); err != nil {
			return err
		}
	}
	if r.writing {
		if len(r.late) > 0 && len(members) > 0 {
			r.keepFirstLate(members)
		}
		r.out = append(r.out, '}')
	}
	if len(r.names) > 0 {
		r.forgetNames(members)
	}
	r.members = r.members[:base]
	return nil
}

// disorder looks for duplicates among members that do not ascend, and when writing, puts them in order.
func (r *Reader) disorder(members []member, start int) *Error {
	if !r.writing && distinct(members) {
		return nil
	}
	order := r.sorted(members)
	if r.form.Profile.lenient() {
		order = r.lastWins(members, order)
		r.replaced = len(order) < len(members)
	} else if err := r.unique(members, order); err != nil {
		return err
	}
	if r.writing {
		r.permute(start+1, members, order)
	}
	return nil
}

// forgetNames frees the room of an object's decoded names.
func (r *Reader) forgetNames(members []member) {
	for i := range members {
		if members[i].odd {
			r.names = r.names[:members[i].key]
			return
		}
	}
}

// lastWins drops every member that a later one of the same name replaces, as Python's reader does (C2).
func (r *Reader) lastWins(members []member, order []int32) []int32 {
	kept := order[:0]
	for k, i := range order {
		if k+1 < len(order) && r.compare(&members[i], &members[order[k+1]]) == 0 {
			members[i].late = 0
			continue
		}
		kept = append(kept, i)
	}
	return kept
}

// keepFirstLate leaves, of the errors postponed in an object's members, the first that was not dropped.
func (r *Reader) keepFirstLate(members []member) {
	mark, first := len(r.late), 0
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].late > 0 {
			first = members[i].late
		}
	}
	for mark > 0 && r.late[mark-1].offset > members[0].at {
		mark--
	}
	if first > 0 {
		r.late[mark] = r.late[first-1]
		mark++
	}
	r.late = r.late[:mark]
}
