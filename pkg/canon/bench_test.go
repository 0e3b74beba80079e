package canon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

// traceOf makes an indented trace of at least size bytes in the shape that Orket writes.
func traceOf(size int) []byte {
	var b strings.Builder
	b.WriteString("{\n  \"run_id\": \"sess-gen-L\",\n  \"workflow_id\": \"wf-main\",\n  \"memory_snapshot_id\": \"snapshot-1\",\n" +
		"  \"visibility_mode\": \"read_only\",\n  \"model_config_id\": \"modelcfg-1\",\n  \"policy_set_id\": \"policyset-1\",\n" +
		"  \"determinism_trace_schema_version\": \"memory.determinism_trace.v1\",\n  \"events\": [\n")
	state := uint32(1)
	next := func(n uint32) uint32 {
		state = state*1664525 + 1013904223
		return state >> 8 % n
	}
	letters := []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789    _-./é日")
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteString(",\n")
		}
		var text strings.Builder
		for range 200 {
			text.WriteRune(letters[next(uint32(len(letters)))])
		}
		fmt.Fprintf(&b, `{
  "event_id": "sess-gen-L:ISSUE-1:developer:0:%[1]d",
  "index": %[1]d,
  "role": "developer",
  "interceptor": "before_tool",
  "decision_type": "tool_call_ready",
  "tool_calls": [
    {
      "tool_name": "write_file",
      "tool_profile_id": "write_file",
      "tool_profile_version": "tp-v1",
      "normalized_args": {
        "path": "agent_output/f%[1]d_0.py",
        "content": "%[2]s",
        "line": %[3]d,
        "score": 0.%06[3]d,
        "flags": [
          true,
          null,
          {
            "depth": 0
          }
        ]
      },
      "normalization_version": "json-v1",
      "tool_result_fingerprint": "6cba450af1db9058f675bcca7d77a34a48e90c128786e5983f053edd42c1fc2a",
      "side_effect_fingerprint": null
    }
  ],
  "guardrails_triggered": [],
  "retrieval_event_ids": [
    "sess-gen-L:ret:%[1]d"
  ]
}`, i, text.String(), next(1000000))
	}
	b.WriteString("\n  ],\n  \"output\": {\n    \"output_type\": \"text\"\n  },\n  \"issue_id\": \"ISSUE-1\",\n  \"metadata\": {\n    \"truncated\": false\n  }\n}")
	return []byte(b.String())
}

func BenchmarkDigest(b *testing.B) {
	src := traceOf(10_000_000)
	for _, p := range canon.Profiles() {
		b.Run(p.String(), func(b *testing.B) {
			if p == canon.DBL {
				b.Skip("the trace has floats, which dbl refuses")
			}
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := canon.Digest(p, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	src := traceOf(10_000_000)
	dst := make([]byte, 0, len(src))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := canon.Append(dst, src, canon.JSONv1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSkip(b *testing.B) {
	src := traceOf(10_000_000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if err := canon.Valid(src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSmallDigest(b *testing.B) {
	src := []byte(`{"tool_name": "search", "args": {"q": "cats", "limit": 10, "min_score": 0.25}}`)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.Digest(canon.JSONv1, src); err != nil {
			b.Fatal(err)
		}
	}
}
