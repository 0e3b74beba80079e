package pipeline

import (
	"bytes"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
)

// StageDigests are what two runs of an attempt are compared by (E10).
type StageDigests struct {
	Prompt canon.Sum // of the UTF-8 bytes
	Parse  canon.Sum // of json-v1 of the parsed answer, as `dmpl step` prints it
	Gate   canon.Sum // of json-v1 of the gate's result, likewise
}

// Digests gives the digests of an attempt that was answered.
func (a *Attempt) Digests() (d StageDigests, err error) {
	var by Digester
	d.Prompt = a.Prompt.SHA256()
	if d.Parse, err = by.Parsed(a.Parsed); err != nil {
		return d, err
	}
	d.Gate, err = by.Gate(a.Gate)
	return d, err
}

// withoutHalves makes each half of a surrogate pair that a document has as an escape U+FFFD, in place: json-v1 has no such text (C1), and
// where it leaves the pipeline it is U+FFFD (llamabrain.md §0).
func withoutHalves(doc []byte) []byte {
	for i := 0; i < len(doc); i++ {
		next := bytes.IndexByte(doc[i:], '\\')
		if next < 0 {
			break
		}
		i += next
		unit := unitAt(doc, i)
		switch {
		case unit >= 0xD800 && unit < 0xDC00 && unitAt(doc, i+6)&^0x3FF == 0xDC00:
			i += 11
		case unit >= 0xD800 && unit < 0xE000:
			copy(doc[i+2:], "fffd")
			i += 5
		default: // another escape: its second character is no backslash that begins one
			i++
		}
	}
	return doc
}

// unitAt gives the UTF-16 unit of an escape, 0 where none stands there.
func unitAt(doc []byte, i int) uint64 {
	if i+6 > len(doc) || doc[i] != '\\' || doc[i+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(doc[i+2:i+6]), 16, 16)
	if err != nil {
		return 0
	}
	return unit
}
