package dblgateway_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
)

// FuzzSnapshot holds the reader, which finds events in a stream of any length, to the reader of whole documents: what
// the first takes, the second takes.
func FuzzSnapshot(f *testing.F) {
	f.Add([]byte(snapshotOf(oneEvent)))
	f.Add([]byte(snapshotOf(oneEvent + strings.Replace(`,`+oneEvent, `"a"`, `"\ud800"`, 1))))
	f.Add([]byte(` { "events" : [ ] , "x" : [{"\u00e9":"\\"}] , "v_digest" : "\"" } `))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, events, err := tryRead("-", dialect.Options{Stdin: bytes.NewReader(data)})
		if err != nil {
			var p *dialect.Problem
			if !errors.As(err, &p) {
				t.Fatalf("%v is no problem", err)
			}
			return
		}
		defer s.Close()
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte("SQLite format 3")) {
			return
		}
		var bad *canon.Error
		if err := canon.Valid(data); errors.As(err, &bad) && bad.Code != canon.CodeLoneSurrogate {
			t.Errorf("read, and is not valid: %v", err)
		} else if found, err := dblgateway.Detect(&dialect.File{Data: data}); err != nil || !found {
			t.Errorf("read, and not detected: %v", err)
		}
		for i, e := range events {
			if again, err := s.Payload(i); err != nil || !bytes.Equal(again, e.Payload) {
				t.Errorf("payload %d read again: %v", i, err)
			}
		}
	})
}
