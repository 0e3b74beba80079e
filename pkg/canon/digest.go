package canon

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Sum is a SHA-256 digest (C9).
type Sum [sha256.Size]byte

// Hex gives the digest as 64 lowercase hex digits (C9).
func (s Sum) Hex() string {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], s[:])
	return string(text[:])
}

// Digest gives the SHA-256 of the canonical bytes of the one document src (C9). The error is an *Error.
func Digest(p Profile, src []byte) (Sum, error) { return DigestForm(src, Form{Profile: p}) }

// DigestForm is Digest for a form with choices of its own; errors as AppendForm.
func DigestForm(src []byte, f Form) (Sum, error) {
	sum, _, err := Measure(src, f)
	return sum, err
}

// Measure is DigestForm and tells also how many canonical bytes there are.
func Measure(src []byte, f Form) (sum Sum, length int, err error) {
	if f.Profile == Raw {
		return sha256.Sum256(src), len(src), nil
	}
	r := kept.Get().(*Reader)
	defer r.release()
	r.src, r.out = src, slices.Grow(r.out[:0], len(src)+len(src)/16)
	if err := r.write(f); err != nil {
		return Sum{}, 0, err
	}
	return sha256.Sum256(r.out), len(r.out), nil
}

// kept has the memory of one document for the next: fresh memory costs as much as the digest of a small document does, and a fifth
// of what that of a large one does.
var kept = sync.Pool{New: func() any { return NewReader(nil) }}

// release gives the memory back, without what it points to; what is large is dropped.
func (r *Reader) release() {
	const mostMembers = 1 << 12
	if cap(r.out)+cap(r.names)+cap(r.parts) > maxRoom || cap(r.members) > mostMembers {
		return
	}
	*r = Reader{
		out: r.out[:0], members: r.members[:0], names: r.names[:0], order: r.order[:0], parts: r.parts[:0],
	}
	kept.Put(r)
}

// maxRoom is the most bytes that are kept.
const maxRoom = 32 << 20

// Encoding is how a digest is spelled (C2). The zero value is Hex.
type Encoding struct {
	style  encodingStyle
	length int // hex digits of a prefix
}

type encodingStyle uint8

const (
	hexStyle encodingStyle = iota
	prefixedStyle
	base64Style
	cutStyle
)

// The encodings of whole digests (C2).
var (
	Hex         = Encoding{style: hexStyle}      // 64 lowercase hex digits
	PrefixedHex = Encoding{style: prefixedStyle} // "sha256:" and Hex
	Base64      = Encoding{style: base64Style}   // standard Base64 with padding
)

// HexPrefix is the encoding that keeps the first n hex digits, 1 to 64 (C2).
func HexPrefix(n int) Encoding {
	return Encoding{style: cutStyle, length: min(max(n, 1), 2*sha256.Size)}
}

// String names the encoding for reports: hex, sha256:hex, base64, hex prefix of n.
func (e Encoding) String() string {
	switch e.style {
	case prefixedStyle:
		return "sha256:hex"
	case base64Style:
		return "base64"
	case cutStyle:
		return "hex prefix of " + strconv.Itoa(e.length)
	}
	return "hex"
}

// Spell gives the digest in this encoding.
func (e Encoding) Spell(s Sum) string {
	switch e.style {
	case prefixedStyle:
		var text [len(digestPrefix) + 2*sha256.Size]byte
		hex.Encode(text[copy(text[:], digestPrefix):], s[:])
		return string(text[:])
	case base64Style:
		return base64.StdEncoding.EncodeToString(s[:])
	case cutStyle:
		return s.Hex()[:e.length]
	}
	return s.Hex()
}

const digestPrefix = "sha256:"

// read gives the one spelling that Spell would give for a stated digest; false when it is none in this encoding.
// C9: with Hex and PrefixedHex the prefix may be there or not.
func (e Encoding) read(stated string) (string, bool) {
	switch e.style {
	case base64Style:
		sum, err := base64.StdEncoding.Strict().DecodeString(stated)
		return stated, err == nil && len(sum) == sha256.Size && len(stated) == base64.StdEncoding.EncodedLen(sha256.Size)
	case cutStyle:
		return stated, len(stated) == e.length && isLowerHex(stated)
	}
	digits, ok := ParseDigest(stated)
	if e.style == prefixedStyle {
		digits = digestPrefix + digits
	}
	return digits, ok
}

// ParseDigest gives the 64 lowercase hex digits of a stated SHA-256, which may have the prefix "sha256:" (C9).
func ParseDigest(stated string) (hex string, ok bool) {
	hex = strings.TrimPrefix(stated, digestPrefix)
	if len(hex) != 2*sha256.Size || !isLowerHex(hex) {
		return "", false
	}
	return hex, true
}

func isLowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}
