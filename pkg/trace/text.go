package trace

import (
	"bytes"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Text gives a string field's text, decoded and in NFC (CONTRACT C3); "" when the field is not ok.
func (f Field) Text() string {
	if !f.Ok() {
		return ""
	}
	text, err := canon.Text(f.Raw)
	if err != nil {
		return ""
	}
	return string(canon.NFC(text))
}

// Same says that two well-formed fields hold the same value under json-v1: bytes first, canonical forms after
// (CONTRACT C3–C7, E4).
func (f Field) Same(g Field) bool {
	return bytes.Equal(f.Raw, g.Raw) || canon.Equal(f.Raw, g.Raw, canon.Form{})
}

// SameDigest compares two fingerprints: a `sha256:` prefix is read over (CONTRACT C9), an opaque text is compared as
// it stands (CONTRACT V5).
func (f Field) SameDigest(g Field) bool {
	if bytes.Equal(f.Raw, g.Raw) {
		return true
	}
	x, okX := canon.ParseDigest(f.Text())
	y, okY := canon.ParseDigest(g.Text())
	if okX && okY {
		return x == y
	}
	return f.Same(g)
}
