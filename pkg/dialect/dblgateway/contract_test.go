package dblgateway_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/dialect/dialecttest"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// C1, V1: the contract of every reader of streams.
func TestReaderContract(t *testing.T) {
	type model struct {
		events          []thread.Event
		kind            string
		length          int64
		vDigest, reason string
		whole           bool
		shape           int
	}
	read := func(path string, o dialect.Options) (any, []finding.Input, error) {
		var m model
		s, err := dblgateway.Read(path, o, func(e thread.Event) error {
			e.Payload = bytes.Clone(e.Payload)
			m.events = append(m.events, e)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		defer s.Close()
		m.kind, m.vDigest, m.reason, m.whole, m.shape = s.Kind, s.VDigest, s.Reason, s.Whole, len(s.Shape)
		if s.Length != nil {
			m.length = *s.Length
		}
		return m, s.Inputs, nil
	}
	dir := filepath.Join(fixtures, "s01_chat_refs")
	dialecttest.RunStreams(t, dialecttest.Streams{Name: dblgateway.Name, Detect: dblgateway.Detect, Read: read},
		filepath.Join(dir, "snapshot.json"), filepath.Join(dir, "trail.sqlite"),
		filepath.Join(fixtures, "s15_lone_surrogates", "snapshot.json"))
}
