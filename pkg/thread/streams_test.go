package thread_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// stream is a snapshot beside the project, with the configuration it was made under.
type stream struct {
	events []thread.Event
	config thread.Config
	stated string // v_digest
}

// eachStream runs a test for every stream of the real gateway.
func eachStream(t *testing.T, test func(t *testing.T, s stream)) {
	dir := filepath.Join("..", "..", "..", "shared", "vectors", "dbl-gateway", "streams")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skipf("NOT RUN, VECTORS MISSING: %s: %v", dir, err)
	}
	if len(entries) < 17 {
		t.Fatalf("%d streams, want 17 at least", len(entries))
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) { test(t, readStream(t, filepath.Join(dir, e.Name()))) })
	}
}

func readStream(t testing.TB, dir string) stream {
	t.Helper()
	var s stream
	snapshot := value(t, readPacked(t, filepath.Join(dir, "snapshot.json")))
	s.stated = text(snapshot, "v_digest")
	for _, v := range member(snapshot, "events").Elements() {
		e, err := thread.ParseEvent(v)
		if err != nil {
			t.Fatal(err)
		}
		s.events = append(s.events, e)
	}
	var err error
	if s.config, err = thread.ParseConfig(value(t, string(read(t, filepath.Join(dir, "context.json"))))); err != nil {
		t.Fatal(err)
	}
	return s
}

// readPacked reads a file that may be there as gzip only.
func readPacked(t testing.TB, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		path += ".gz"
	}
	data := read(t, path)
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return string(data)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func member(v canon.Value, name string) canon.Value {
	found, _ := v.Get(name)
	return found
}

func text(v canon.Value, name string) string {
	found, _ := member(v, name).Text()
	return found
}

// V5: the digests and both chains of every real stream recompute.
func TestStreamsRecompute(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		prev, chain := thread.ChainSeed, thread.ChainSeed
		for i, e := range s.events {
			d, err := thread.EventDigest(e.Kind, e.CorrelationID, value(t, string(e.Payload)))
			if err != nil || d.String() != e.Digest || d.Len != e.CanonLen {
				t.Errorf("event %d: %s of %d bytes, error %v; stored %s of %d", i, d, d.Len, err, e.Digest, e.CanonLen)
			}
			if e.Index != i || e.PrevEventDigest != prev {
				t.Errorf("event %d: index %d, previous %s, want %s", i, e.Index, e.PrevEventDigest, prev)
			}
			prev, chain = e.Digest, thread.NextVDigest(chain, e.Index, e.Digest)
		}
		if chain != s.stated {
			t.Errorf("v_digest %s, stored %s", chain, s.stated)
		}
	})
}

// X1, X3: every context of a real stream assembles again to the same bytes from the events before it.
func TestStreamsAssembleAgain(t *testing.T) {
	eachStream(t, func(t *testing.T, s stream) {
		logs := map[string]*thread.Log{}
		built := map[string]thread.Context{}
		for _, e := range s.events {
			if logs[e.ThreadID] == nil {
				logs[e.ThreadID] = &thread.Log{}
			}
			logs[e.ThreadID].Append(e)
			key := e.ThreadID + "\x00" + e.TurnID + "\x00" + e.CorrelationID
			payload := value(t, string(e.Payload))
			switch e.Kind {
			case thread.Intent:
				ctx, err := thread.Build(payload, e.IntentType, s.config, logs[e.ThreadID], thread.Gateway)
				if err == nil {
					built[key] = ctx
				} else {
					delete(built, key)
				}
			case thread.Decision:
				checkAssembled(t, e, payload, built[key])
			}
		}
	})
}

func checkAssembled(t *testing.T, e thread.Event, decision canon.Value, ctx thread.Context) {
	t.Helper()
	stored := text(decision, "assembly_digest")
	if stored == "" || strings.Contains(text(member(decision, "boundary"), "context_config_digest"), "DISABLED") {
		return // no context was stored
	}
	d, err := ctx.Digest()
	if err != nil || d.String() != stored {
		t.Errorf("event %d: %s, error %v; stored %s", e.Index, d, err, stored)
		return
	}
	for name, got := range map[string][]byte{"context_spec": ctx.Spec(), "assembled_context": ctx.Assembled()} {
		want := member(decision, name)
		if form(t, got) != form(t, want.Raw()) {
			t.Errorf("event %d: %s\n got %s\nwant %s", e.Index, name, got, want.Raw())
		}
	}
}

// BenchmarkRecompute digests every event of a stream of 2,000 turns and assembles every context again.
func BenchmarkRecompute(b *testing.B) {
	dir := filepath.Join("..", "..", "..", "shared", "vectors", "dbl-gateway", "streams", "s10_large_2000")
	if _, err := os.Stat(dir); err != nil {
		b.Skipf("NOT RUN, VECTORS MISSING: %s: %v", dir, err)
	}
	s := readStream(b, dir)
	for b.Loop() {
		logs := map[string]*thread.Log{}
		for _, e := range s.events {
			if logs[e.ThreadID] == nil {
				logs[e.ThreadID] = &thread.Log{}
			}
			logs[e.ThreadID].Append(e)
			payload := value(b, string(e.Payload))
			if _, err := thread.EventDigest(e.Kind, e.CorrelationID, payload); err != nil {
				b.Fatal(err)
			}
			switch e.Kind {
			case thread.Intent:
				if ctx, err := thread.Build(payload, e.IntentType, s.config, logs[e.ThreadID], thread.Gateway); err == nil {
					_, _ = ctx.Digest()
				}
			case thread.Decision:
				_, _ = thread.ContextDigest(member(payload, "context_spec"), member(payload, "assembled_context"))
			}
		}
	}
}
