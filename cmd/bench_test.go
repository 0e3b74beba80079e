package cmd_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/cmd"
)

// benchEvents is the number of events of a benchmark trace: ten megabytes, and below the cap of V4, which verify would fail.
const benchEvents = 9200

// variant is how the right trace of a benchmark pair differs.
type variant struct {
	changed int // index of the event with another argument; -1: none
	extra   int // index at which an event is inserted; -1: none
}

// writeTrace writes a trace of the shape that Orket writes, indented, with long arguments and some text beyond ASCII.
func writeTrace(b testing.TB, path, run string, v variant) int64 {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, `{
  "run_id": %q,
  "workflow_id": "wf-main",
  "memory_snapshot_id": "snapshot-1",
  "visibility_mode": "read_only",
  "model_config_id": "modelcfg-1",
  "policy_set_id": "policyset-1",
  "determinism_trace_schema_version": "memory.determinism_trace.v1",
  "events": [`, run)
	index := 0
	for i := range benchEvents {
		if i == v.extra {
			writeEvent(w, run, index, -1, false)
			index++
		}
		writeEvent(w, run, index, i, i == v.changed)
		index++
	}
	fmt.Fprint(w, `
  ],
  "output": {
    "output_type": "text",
    "output_shape_hash": "0b9905f2ea5cb2cbed6194574fe6c42922233c0153050c55ce75ce331c01d760",
    "normalization_version": "json-v1"
  },
  "issue_id": "ISSUE-1",
  "role_id": "DEV",
  "metadata": {
    "truncated": false
  }
}`)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

func writeEvent(w io.Writer, run string, index, content int, changed bool) {
	comma := ","
	if index == 0 {
		comma = ""
	}
	line := content
	if changed {
		line = -content
	}
	text := strings.Repeat(fmt.Sprintf("word %d é日 ", content), 12)
	fmt.Fprintf(w, `%s
    {
      "event_id": "%s:ISSUE-1:developer:0:%d",
      "index": %d,
      "role": "developer",
      "interceptor": "after_tool",
      "decision_type": "tool_call_result",
      "tool_calls": [
        {
          "tool_name": "write_file",
          "tool_profile_id": "write_file",
          "tool_profile_version": "tp-v1",
          "normalized_args": {
            "path": "agent_output/f%d.py",
            "content": %q,
            "line": %d,
            "score": 0.%06d,
            "flags": [
              true,
              null,
              {
                "depth": %d
              }
            ]
          },
          "normalization_version": "json-v1",
          "tool_result_fingerprint": "%x",
          "side_effect_fingerprint": null
        }
      ],
      "guardrails_triggered": [],
      "retrieval_event_ids": []
    }`, comma, run, index, index, content, text, line, content&0xfffff, content%5, sha256.Sum256([]byte(text)))
}

// benchPair writes a pair and gives the arguments to compare it, and the bytes of both traces.
func benchPair(b testing.TB, v variant) (args []string, size int64) {
	dir := b.TempDir()
	left, right := filepath.Join(dir, "left.memory_trace.json"), filepath.Join(dir, "right.memory_trace.json")
	size = writeTrace(b, left, "run-l", variant{-1, -1}) + writeTrace(b, right, "run-r", v)
	return []string{"diff", left, right, "-q", "--no-fail"}, size
}

func bench(b *testing.B, size int64, args ...string) {
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		a := &cmd.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Dir: b.TempDir()}
		if code := a.Run(args); code != 0 {
			b.Fatalf("dmpl %v: exit %d", args, code)
		}
	}
}

func benchDiff(b *testing.B, v variant) {
	args, size := benchPair(b, v)
	bench(b, size, args...)
}

func BenchmarkDiffEqual(b *testing.B)     { benchDiff(b, variant{-1, -1}) }
func BenchmarkDiffOneValue(b *testing.B)  { benchDiff(b, variant{benchEvents / 2, -1}) }
func BenchmarkDiffInsertion(b *testing.B) { benchDiff(b, variant{-1, benchEvents / 2}) }

func BenchmarkVerify(b *testing.B) {
	path := filepath.Join(b.TempDir(), "memory_trace.json")
	size := writeTrace(b, path, "run-l", variant{-1, -1})
	bench(b, size, "verify", path, "-q")
}
