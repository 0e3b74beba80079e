package pipeline

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

// StageDigests are what two runs of an attempt are compared by (E10).
type StageDigests struct {
	Prompt canon.Sum // of the UTF-8 bytes
	Parse  canon.Sum // of json-v1 of the parsed answer, as `dmpl step` prints it
	Gate   canon.Sum // of json-v1 of the gate's result, likewise
}

// Digests gives the digests of an attempt that was answered.
func (a *Attempt) Digests() (d StageDigests, err error) {
	d.Prompt = a.Prompt.SHA256()
	if d.Parse, err = a.Parsed.Digest(); err != nil {
		return d, err
	}
	d.Gate, err = a.Gate.Digest()
	return d, err
}

func digestOf(write func(*document.Writer)) (canon.Sum, error) {
	w := document.NewWriter(DMPLv1.Style())
	write(w)
	return canon.Digest(canon.JSONv1, withoutHalves(w.Bytes()))
}

// withoutHalves makes each half of a surrogate pair in an ASCII document U+FFFD, in place: json-v1 has no such text (C1), and
// where it leaves the pipeline it is U+FFFD (llamabrain.md §0).
func withoutHalves(doc []byte) []byte {
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' {
			continue
		}
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
