package canon

import (
	"bytes"
	"slices"
	"strconv"
)

// distinct says of a few members that no two names can be equal: they differ in their length or in their first bytes.
// False only means that a closer look is needed.
func distinct(members []member) bool {
	const few = 16
	if len(members) > few {
		return false
	}
	for i := range members {
		for j := range members[:i] {
			if members[i].prefix == members[j].prefix && members[i].size == members[j].size {
				return false
			}
		}
	}
	return true
}

// unique refuses the earliest member whose name stands a second time (C1).
func (r *Reader) unique(members []member, order []int32) *Error {
	second, first := int32(-1), int32(-1)
	for k := 1; k < len(order); k++ {
		i, j := order[k-1], order[k]
		if r.compare(&members[i], &members[j]) == 0 && (second < 0 || j < second) {
			first, second = i, j
		}
	}
	if second < 0 {
		return nil
	}
	return r.duplicate(&members[first], &members[second])
}

// duplicate says whether two names are one and the same, or become so in NFC (C1, C3).
func (r *Reader) duplicate(first, second *member) *Error {
	code, detail := CodeDuplicateKey, "the name stands twice in its object, first at byte "
	if !bytes.Equal(r.spelling(first), r.spelling(second)) {
		code, detail = CodeKeyCollision, "the name equals, after NFC, the one at byte "
	}
	err := r.fail(code, second.at, detail+strconv.Itoa(first.at))
	err.Pointer = AppendToken(err.Pointer, printable(r.src[second.at:literalEnd(r.src, second.at)]))
	return err
}

// spelling gives a member's name before NFC.
func (r *Reader) spelling(m *member) []byte {
	return unescape(nil, r.src[m.at+1:literalEnd(r.src, m.at)-1])
}

// uniqueInNFC refuses names that become equal in NFC where the profile itself keeps them apart (C1 under jcs).
func (r *Reader) uniqueInNFC(members []member) *Error {
	if !slices.ContainsFunc(members, func(m member) bool { return m.wide }) {
		return nil
	}
	start, normal := len(r.names), slices.Clone(members)
	for i := range normal {
		r.setName(&normal[i], len(r.names), NFC(r.key(&normal[i])))
		normal[i].prefix = 0
	}
	err := r.unique(normal, r.sorted(normal))
	r.names = r.names[:start]
	return err
}
