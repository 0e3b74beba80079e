package thread

import "github.com/dmpl/dmpl/pkg/canon"

// SeedDigest computes the context digest in the seed's form: without the model messages, which hold text of the model.
// It is for comparing two runs and never equals a stored value (X3). Errors as ContextDigest.
func SeedDigest(spec, assembled canon.Value) (Digest, error) {
	return contextForm(spec, assembled, seedForm)
}

// Likeness says how alike two contexts are (X3).
type Likeness string

// The degrees of likeness (X3).
const (
	Identical     Likeness = "identical"     // equal in the form that is stored
	Observational Likeness = "observational" // they differ only in what the model answered
	Different     Likeness = "different"
)

// CompareContexts says how alike two stored contexts are: by the stored form, then without model messages, then also
// without the digests of execution-only references, which change on every run (X3). Errors as ContextDigest.
func CompareContexts(spec, assembled, otherSpec, otherAssembled canon.Value) (Likeness, error) {
	for _, mask := range []contextMask{gatewayForm, seedForm, maskedForm} {
		a, err := contextForm(spec, assembled, mask)
		if err != nil {
			return "", err
		}
		b, err := contextForm(otherSpec, otherAssembled, mask)
		if err != nil {
			return "", err
		}
		if a != b {
			continue
		}
		if mask == gatewayForm {
			return Identical, nil
		}
		return Observational, nil
	}
	return Different, nil
}
