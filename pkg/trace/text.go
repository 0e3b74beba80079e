package trace

import (
	"bytes"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Text gives a string field's text, decoded and in NFC (CONTRACT C3); "" when the field is not ok.
func (f Field) Text() string { return string(f.decoded()) }

// Verbatim gives a string field's text, decoded and in whatever normal form it has: orders go by it (CONTRACT P3). "" when the
// field is not ok.
func (f Field) Verbatim() string { return string(f.verbatim()) }

// Is says that the field is ok and holds this text.
func (f Field) Is(text string) bool {
	if !f.Ok() || f.plain(len(text)+1) {
		return f.Ok() && len(f.Raw) == len(text)+2 && string(f.Raw[1:len(f.Raw)-1]) == text
	}
	return string(f.decoded()) == text
}

// HasPrefix says that the field is ok and its text begins so.
func (f Field) HasPrefix(prefix string) bool {
	if !f.Ok() || f.plain(len(prefix)+1) {
		return f.Ok() && len(f.Raw) > len(prefix)+1 && string(f.Raw[1:len(prefix)+1]) == prefix
	}
	return bytes.HasPrefix(f.decoded(), []byte(prefix))
}

// plain says that the first n bytes stand for themselves: neither escapes nor anything that NFC could change.
func (f Field) plain(n int) bool {
	for _, c := range f.Raw[:min(n, len(f.Raw))] {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Digest gives the 64 hex digits of a SHA-256 digest (CONTRACT C9), or false for any other text.
func (f Field) Digest() (string, bool) {
	if !f.Ok() {
		return "", false
	}
	return canon.ParseDigest(f.Text())
}

// IsDigest says that the field holds a SHA-256 digest (CONTRACT C9, V5).
func (f Field) IsDigest() bool {
	if f.Ok() && len(f.Raw) == digits+2 && allHex(f.Raw[1:digits+1]) {
		return true
	}
	_, ok := f.Digest()
	return ok
}

// digits is the length of a digest in hex.
const digits = 64

// allHex looks at every digit without branching: digests are random, and half the branches would be guessed wrong.
func allHex(text []byte) bool {
	bad := byte(0)
	for _, c := range text {
		bad |= notHex[c]
	}
	return bad == 0
}

// notHex marks what is no lowercase hex digit.
var notHex = func() (table [256]byte) {
	for c := range table {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			table[c] = 1
		}
	}
	return table
}()

func (f Field) decoded() []byte { return canon.NFC(f.verbatim()) }

func (f Field) verbatim() []byte {
	if !f.Ok() {
		return nil
	}
	if bytes.IndexByte(f.Raw, '\\') < 0 && len(f.Raw) > 1 {
		return f.Raw[1 : len(f.Raw)-1] // the reader has been over it: without escapes the text stands as it is
	}
	text, err := canon.Text(f.Raw)
	if err != nil {
		return nil
	}
	return text
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
	x, okX := f.Digest()
	y, okY := g.Digest()
	if okX && okY {
		return x == y
	}
	return f.Same(g)
}
