package cmd_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/thread/threadtest"
)

// layEvidence fills a folder with everything that a command on streams reads, a live store with its log among it.
func layEvidence(t *testing.T, dir string) {
	t.Helper()
	chat, live := filepath.Dir(gatewayStream("s01_chat_refs", "x")), filepath.Dir(gatewayStream("s14_wal_live", "x"))
	for name, from := range map[string]string{
		"snapshot.json": filepath.Join(chat, "snapshot.json"), "trail.sqlite": filepath.Join(chat, "trail.sqlite"), "context.json": filepath.Join(chat, "context.json"),
		"live.sqlite": filepath.Join(live, "live.sqlite"), "live.sqlite-wal": filepath.Join(live, "live.sqlite-wal.gz"), "live.json": filepath.Join(live, "context.json"),
		"context.jsonl": filepath.Join(fixtures, "thread", "context_digest.jsonl"), "decision.jsonl": filepath.Join(fixtures, "thread", "decision_digest.jsonl"),
		"event.jsonl": filepath.Join(fixtures, "thread", "event_digest.jsonl"), "config.jsonl": filepath.Join(fixtures, "thread", "config_digest.jsonl"),
		"refs.jsonl": filepath.Join(fixtures, "thread", "ref_resolution.jsonl"), "build.jsonl": filepath.Join(fixtures, "thread", "build_context.jsonl"),
	} {
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(from, ".gz") {
			raw = inflate(t, raw)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func inflate(t *testing.T, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// dbl-gateway.md §2: no command alters its evidence, in a folder that may be written and in one that may not: bytes and times
// stay, nothing appears beside it, and nothing is left behind elsewhere.
func TestNoCommandAltersItsEvidence(t *testing.T) {
	commands := []string{
		"canon --profile dbl snapshot.json", "digest canonical --profile dbl snapshot.json", "canon --profile dbl --jsonl event.jsonl",
		"digest context --jsonl context.jsonl", "digest decision --jsonl decision.jsonl", "digest event --jsonl event.jsonl", "digest config --jsonl config.jsonl",
		"step resolve-refs --jsonl refs.jsonl", "step build-context --profile seed --jsonl build.jsonl",
		"verify snapshot.json --context-config context.json", "verify trail.sqlite --context-config context.json", "verify live.sqlite --context-config live.json", "verify .",
		"diff snapshot.json trail.sqlite", "diff trail.sqlite live.sqlite", "diff live.sqlite live.sqlite", "diff . .",
	}
	for _, mode := range []string{"stream", "ledger"} {
		for _, input := range []string{"snapshot.json --context-config context.json", "trail.sqlite --context-config context.json", "live.sqlite --context-config live.json"} {
			commands = append(commands, "replay --mode "+mode+" "+input)
		}
	}
	for _, mode := range []fs.FileMode{0o700, 0o500} {
		dir, spool := t.TempDir(), t.TempDir()
		layEvidence(t, dir)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", spool)
		before := folderState(t, dir)
		for _, command := range commands {
			var args []string
			for _, word := range strings.Fields(command) {
				if word == "." || strings.Contains(word, ".") {
					word = filepath.Join(dir, word)
				}
				args = append(args, word)
			}
			p := newProcess(t)
			p.Run(args)
			if p.out.Len() == 0 {
				t.Errorf("%s: nothing was printed: %s", command, p.errs)
			}
			if after := folderState(t, dir); after != before {
				t.Fatalf("%s altered the folder of mode %o", command, mode)
			}
			if left := folderState(t, spool); left != "" {
				t.Fatalf("%s left behind %.200s", command, left)
			}
		}
	}
}

// C1, Z2: what only looks like a stream is one clear problem or findings, in every command, and is never written.
func TestHostileStreamsAreRefusedByEveryCommand(t *testing.T) {
	trail, err := os.ReadFile(gatewayStream("s01_chat_refs", "trail.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := os.ReadFile(gatewayStream("s01_chat_refs", "snapshot.json"))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(old, with string) []byte {
		if len(old) != len(with) || !bytes.Contains(trail, []byte(old)) {
			t.Fatalf("%s cannot be replaced by %s", old, with)
		}
		return bytes.ReplaceAll(trail, []byte(old), []byte(with))
	}
	edited := func(edits ...threadtest.Edit) []byte { return threadtest.Parse(t, snapshot).Apply(edits...).JSON() }
	for name, tt := range map[string]struct {
		data []byte
		exit []int // of verify, replay, diff with itself
	}{
		"another table":      {changed("CREATE TABLE events", "CREATE TABLE stneve"), []int{2, 2, 2}},
		"another column":     {changed("payload_json", "payload_text"), []int{2, 2, 2}},
		"cut in the header":  {trail[:90], []int{2, 2, 2}},
		"cut after a page":   {trail[:4096], []int{2, 2, 2}},
		"cut in the middle":  {trail[:len(trail)/2], []int{2, 2, 2}},
		"magic alone":        {[]byte("SQLite format 3\x00"), []int{2, 2, 2}},
		"payload no JSON":    {changed(`{"_obs":`, `x"_obs":`), []int{2, 2, 2}},
		"payload cut":        {bytes.Replace(trail, []byte(`"turn_id":"turn-2"}`), []byte(`"turn_id":"turn-2" `), 1), []int{2, 2, 2}},
		"parents in a cycle": {edited(threadtest.Edit{At: "/events/0/parent_turn_id", Value: "turn-1"}, threadtest.Edit{At: "/events/4/parent_turn_id", Value: "turn-2"}), []int{1, 0, 3}},
		"reference far away": {edited(threadtest.Edit{At: "/events/5/payload/context_spec/retrieval/resolved_refs/0/event_index", Value: int64(1) << 40}), []int{1, 1, 3}},
		"reference below 0":  {edited(threadtest.Edit{At: "/events/5/payload/context_spec/retrieval/resolved_refs/0/event_index", Value: -1}), []int{1, 1, 3}},
		"intent far away":    {edited(threadtest.Edit{At: "/events/5/payload/intent_index", Value: int64(-1) << 40}), []int{1, 0, 3}},
		"index too large":    {edited(threadtest.Edit{At: "/events/5/index", Value: int64(1) << 40}), []int{2, 2, 2}},
		"payload a text":     {edited(threadtest.Edit{At: "/events/5/payload", Value: "{}"}), []int{2, 2, 2}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "evidence")
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		before := folderState(t, dir)
		config := gatewayStream("s01_chat_refs", "context.json")
		for i, args := range [][]string{{"verify", path, "--context-config", config}, {"replay", path, "--context-config", config}, {"diff", path, path}} {
			r, exit := runJSON(t, args...)
			if exit != tt.exit[i] || exit != 0 && len(r.errors()) == 0 {
				t.Errorf("%s: %s: exit %d, want %d, with %+v", name, args[0], exit, tt.exit[i], r.errors())
			}
		}
		if after := folderState(t, dir); after != before {
			t.Errorf("%s: the folder was changed", name)
		}
	}
}
