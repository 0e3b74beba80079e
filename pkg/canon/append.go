package canon

// Append appends the canonical bytes of the one document src to dst (C2). On an error, an *Error, dst is as it was.
func Append(dst, src []byte, p Profile) ([]byte, error) {
	return AppendForm(dst, src, Form{Profile: p})
}

// AppendForm is Append for a form with choices of its own (C5, C8). Besides an *Error it may give one about the form.
func AppendForm(dst, src []byte, f Form) ([]byte, error) {
	if f.Profile == Raw {
		return append(dst, src...), nil
	}
	r := NewReader(src)
	r.out = dst
	if err := r.write(f); err != nil {
		return dst, err
	}
	return r.out, nil
}

// write appends the canonical bytes of the input to the output.
func (r *Reader) write(f Form) error {
	decimals, err := f.decimals()
	if err != nil {
		return err
	}
	r.form, r.decimals, r.writing = f, decimals, true
	if f.Profile == JSONv1 {
		r.fields = fieldsOf(f.Datetimes)
	}
	return r.document()
}

// document writes the one document of the input.
func (r *Reader) document() error {
	r.byteOrderMark()
	if _, err := r.Skip(); err != nil {
		return err
	}
	if err := r.End(); err != nil {
		return err
	}
	if len(r.late) > 0 {
		return r.fail(r.late[0].code, r.late[0].offset, r.late[0].detail)
	}
	return nil
}

// byteOrderMark passes one at the start, as the reader of py-sorted does (C2).
func (r *Reader) byteOrderMark() {
	if r.form.Profile == PySorted && r.hasPrefix(string(byteOrderMark)) {
		r.pos = len(byteOrderMark)
	}
}

// Equal tells whether two documents have the same canonical form. Equal bytes of a valid document are; a document
// that has no canonical form equals nothing.
func Equal(a, b []byte, f Form) bool {
	x, err := AppendForm(make([]byte, 0, len(a)), a, f)
	if err != nil {
		return false
	}
	if string(a) == string(b) {
		return true
	}
	y, err := AppendForm(make([]byte, 0, len(b)), b, f)
	return err == nil && string(x) == string(y)
}
