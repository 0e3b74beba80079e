package canon

import "strconv"

// value passes the value at the cursor, white space before it already passed, and writes it when writing.
func (r *Reader) value() *Error {
	if r.pos >= len(r.src) {
		return r.noValue("a value")
	}
	start := r.pos
	switch c := r.src[start]; c {
	case '"':
		t, err := r.scan()
		if err != nil {
			return err
		}
		if r.fields != nil && r.fields.declared {
			return r.datetime(start)
		}
		if r.writing {
			r.writeString(start, t)
		}
		return nil
	case '{':
		return r.object()
	case '[':
		return r.array()
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	case 'N':
		return r.nonFinite("NaN")
	case 'I':
		return r.nonFinite("Infinity")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if c == '-' && start+1 < len(r.src) && r.src[start+1] == 'I' {
			return r.nonFinite("-Infinity")
		}
		integer, err := r.number()
		if err != nil {
			return err
		}
		if r.fields != nil && r.fields.declared {
			return r.notDatetime(start)
		}
		if r.writing {
			return r.writeNumber(start, integer)
		}
		return nil
	}
	return r.noValue("a value")
}

func (r *Reader) literal(w string) *Error {
	start := r.pos
	if err := r.word(w); err != nil {
		return err
	}
	if r.fields != nil && r.fields.declared && w != "null" {
		return r.notDatetime(start)
	}
	if r.writing {
		r.out = append(r.out, w...)
	}
	return nil
}

// object passes and writes the object at the cursor.
func (r *Reader) object() *Error {
	if r.fields != nil && r.fields.declared {
		return r.notDatetime(r.pos)
	}
	base, start, fields := len(r.members), len(r.out), r.fields
	if r.writing {
		r.out = append(r.out, '{')
	}
	empty, err := r.open('}')
	if err != nil {
		return err
	}
	for more := !empty; more; {
		if err := r.name(); err != nil {
			return err
		}
		if fields != nil {
			r.fields = fields.child(string(r.key(&r.members[len(r.members)-1])))
		}
		if err := r.value(); err != nil {
			return err
		}
		if more, err = r.more('}'); err != nil {
			return err
		}
		if r.writing {
			r.endMember(more)
		}
	}
	r.fields = fields
	return r.closeObject(base, start)
}

// array passes and writes the array at the cursor.
func (r *Reader) array() *Error {
	if r.fields != nil && r.fields.declared {
		return r.notDatetime(r.pos)
	}
	fields, mark := r.fields, len(r.late)
	if r.writing {
		r.out = append(r.out, '[')
	}
	empty, err := r.open(']')
	if err != nil {
		return err
	}
	more := !empty
	for i := 0; more; i++ {
		if fields != nil {
			r.fields = fields.child(strconv.Itoa(i))
		}
		if err := r.value(); err != nil {
			return err
		}
		if more, err = r.more(']'); err != nil {
			return err
		}
		if r.writing && more {
			r.out = append(r.out, ',')
		}
		r.late = r.late[:min(len(r.late), mark+1)]
	}
	r.fields = fields
	r.depth--
	if r.writing {
		r.out = append(r.out, ']')
	}
	return nil
}

// open enters the array or object at the cursor, and leaves the cursor at its first name or value.
func (r *Reader) open(closing byte) (empty bool, err *Error) {
	if r.depth == MaxDepth {
		return false, r.fail(CodeTooDeep, r.pos, "arrays and objects nest deeper than "+strconv.Itoa(MaxDepth))
	}
	r.depth++
	r.pos++
	r.space()
	if r.pos < len(r.src) && r.src[r.pos] == closing {
		r.pos++
		return true, nil
	}
	return false, nil
}

// more passes the comma or the closing bracket after a member or element, and the white space after a comma.
func (r *Reader) more(closing byte) (bool, *Error) {
	if r.pos < len(r.src) && r.src[r.pos] <= ' ' {
		r.space()
	}
	if r.pos < len(r.src) {
		switch r.src[r.pos] {
		case ',':
			r.pos++
			r.space()
			return true, nil
		case closing:
			r.pos++
			return false, nil
		}
	}
	return false, r.unexpected("',' or '" + string(rune(closing)) + "'")
}
