package canon

import "slices"

// Sparse is Value for a document that is an object whose members of some names are seldom looked into. They are read as
// strictly, but the arrays and objects in them are folded: what stands there is read again each time that it is asked for.
func (r *Parser) Sparse(seldom ...string) (v Value, err error) {
	if r.Kind() != Object {
		return r.Value()
	}
	start := r.pos
	v.members, err = r.objectOf(func(name string) (Value, error) {
		if !slices.Contains(seldom, name) {
			return r.Value()
		}
		return r.shallow()
	})
	v.raw, v.inDBL = r.src[start:r.pos], start >= r.unlike
	return v, err
}

// shallow passes a value of which only the first level is kept.
func (r *Parser) shallow() (v Value, err error) {
	if r.Kind() != Object {
		return r.Value()
	}
	start := r.pos
	r.folding = true
	v.members, err = r.object()
	r.folding = false
	v.raw, v.inDBL = r.src[start:r.pos], start >= r.unlike
	return v, err
}

// unfolded is the value with what stands in it. Its document was read strictly, by C1 and so by dbl.
func (v *Value) unfolded() *Value {
	if !v.folded {
		return v
	}
	whole, _ := ParseAs(DBL, v.raw)
	return &whole
}
