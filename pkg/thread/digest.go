package thread

import (
	"errors"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Digest is a SHA-256 over canonical bytes under the profile dbl (C2).
type Digest struct {
	Sum canon.Sum
	Len int // canonical bytes
}

// String gives the digest as the gateway stores it: `sha256:` and 64 hex digits.
func (d Digest) String() string { return canon.PrefixedHex.Spell(d.Sum) }

// digestOf digests a JSON text under the profile dbl. The error is an *Error with a code of canon.
func digestOf(l literal) (Digest, error) {
	profile := canon.DBL
	if l.inDBL {
		profile = canon.Raw
	}
	sum, length, err := canon.Measure(l.json, canon.Form{Profile: profile})
	if err != nil {
		return Digest{}, asError(err)
	}
	return Digest{Sum: sum, Len: length}, nil
}

// canonical gives the bytes of a JSON text under the profile dbl. A float anywhere is an error.
func canonical(l literal) ([]byte, error) {
	if l.inDBL {
		return l.json, nil
	}
	out, err := canon.Append(make([]byte, 0, len(l.json)+len(l.json)/8), l.json, canon.DBL)
	if err != nil {
		return nil, asError(err)
	}
	return out, nil
}

// asError turns what canon found into an *Error. Offsets are dropped: they belong to a text that dmpl put together.
func asError(err error) error {
	var bad *canon.Error
	if errors.As(err, &bad) {
		return fault(bad.Code, bad.Pointer, bad.Detail)
	}
	return err
}

// ConfigDigest gives the digest of a whole context configuration as parsed, unknown members included (X4). The error is an
// *Error: the configuration is invalid, or holds a float.
func ConfigDigest(config canon.Value) (Digest, error) {
	if _, err := ParseConfig(config); err != nil {
		return Digest{}, err
	}
	return digestOf(literalOf(config))
}
