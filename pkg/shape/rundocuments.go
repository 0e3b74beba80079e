package shape

import (
	"math"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// The schemas of a native run as data, member by member (docs/formats/native-run.md).

func manifestSpec() spec {
	return spec{
		known("schema_version", "dmpl.run.v1"),
		{
			name: "state", need: required, want: canon.String,
			check: oneOf[none]("open", "complete"),
		},
		filled("run_id", required),
		pipelineVersion(),
		nested("contract_versions", required, spec{
			known("normalization_version", trace.NormalizationVersion),
			known("determinism_trace_schema_version", trace.SchemaVersion),
			known("retrieval_trace_schema_version", trace.RetrievalSchemaVersion),
			known("query_normalization_version", trace.NormalizationVersion),
			mapOf("tool_profile_versions", required, free("", optional)),
		}),
		nested("lane", required, spec{filled("name", required), flag("deterministic", required)}),
		amount("created_ticks", required),
		flag("non_deterministic", optional),
		filled("store_id", optional),
		nested("chain", optional, spec{
			amount("index", required),
			filled("previous_run_id", optional),
			filled("previous_commit_id", optional),
		}),
		nested("digests", optional, spec{
			digest("config", required), digest("policies", required), digest("profiles", required), digest("snapshot", required),
		}),
		list("files", optional, spec{filled("path", required), amount("bytes", required), digest("sha256", required)}),
	}
}

// closed holds a manifest to what a complete run must have.
func closed(r *reader, manifest canon.Value) {
	if state, _ := manifest.Get("state"); string(state.Raw()) != `"complete"` {
		return
	}
	for _, name := range []string{"digests", "files"} {
		if _, ok := manifest.Get(name); !ok {
			r.missing(name, "%s is missing, and the run says that it is complete")
		}
	}
}

// recordSpec is a memory (CONTRACT M11). A write list names records that have no id yet (CONTRACT P2(h)).
func recordSpec(id need) spec {
	return spec{
		free("record_id", id),
		filled("record_type", required),
		free("namespace", optional),
		free("scope", optional),
		strs("tags", optional),
		number("trust", optional, 0, 100),
		number("expires_at_ticks", optional, math.MinInt64, math.MaxInt64),
		number("created_at_ticks", required, math.MinInt64, math.MaxInt64),
		amount("sequence_number", required),
		number("source", required, math.MinInt64, math.MaxInt64),
		one("content", required, canon.Object),
	}
}

func snapshotSpec() spec {
	return spec{
		known("schema_version", "memory.snapshot.v1"),
		filled("memory_snapshot_id", required),
		free("persona_id", required),
		number("next_sequence_number", required, 1, math.MaxInt64),
		amount("interaction_count", required),
		list("records", required, recordSpec(required)),
	}
}

func configSpec() spec {
	return spec{
		known("schema_version", "pipeline.config.v1"),
		pipelineVersion(),
		word("mode", required, "snapshot", "workingMemory", "structured", "minimal", "cache"),
		one("retrieval", optional, canon.Object),
		one("working_memory", optional, canon.Object),
		one("assembler", optional, canon.Object),
		one("kv_cache", optional, canon.Object),
		one("structured", optional, canon.Object),
		nested("parser", optional, spec{free("mode", optional), free("preset", optional), one("overrides", optional, canon.Object)}),
		one("gate", optional, canon.Object),
		one("mutation", optional, canon.Object),
		one("context", optional, canon.Object),
	}
}

func profilesSpec() spec {
	return spec{{
		name: "tool_profiles", need: required, want: canon.Array,
		read: func(r *reader, _ *none) error {
			return r.src.Elements(func(i int) error {
				r.push(step{index: i})
				defer r.pop()
				return element(r, profileMembers(), &profileDocument{}, &trace.Field{})
			})
		},
	}}
}

func turnSpec() spec {
	return spec{
		amount("turn", required),
		free("npc_id", required),
		free("npc_name", required),
		free("player_input", required),
		free("system_prompt", required),
		nested("trigger", required, spec{
			free("reason", required), free("id", optional), free("prompt", optional), free("scene_name", optional),
			one("game_time", optional, canon.Number), strs("tags", optional),
		}),
		amount("interaction_count", required),
		strs("dialogue", required),
		strs("topics", optional),
		list("constraints", required, nil),
		strs("forbidden_knowledge", required),
		list("custom_rules", required, nil),
		list("few_shot", required, nil),
		one("recognition", optional, canon.Object),
		list("references", required, nil),
		list("thread_events", required, nil),
		free("thread_id", optional),
		free("turn_id", optional),
		one("retry_policy", required, canon.Object),
		nested("fallbacks", required, spec{
			strs("trigger", required), free("recorded", optional), mapOf("by_reason", required, strs("", optional)), strs("generic", required), strs("emergency", required),
		}),
		amount("snapshot_time_utc_ticks", required),
	}
}

func outputSpec() spec {
	return spec{
		amount("turn", required), amount("attempt", required),
		digest("prompt_digest", required),
		free("text", required),
		flag("truncated", required),
		one("model_config", required, canon.Object),
	}
}

func toolResultSpec() spec {
	return spec{
		amount("turn", required), amount("attempt", required), amount("call", required),
		filled("tool_name", required),
		one("args", required, canon.Object),
		one("result", required, canon.Invalid),
		one("side_effects", optional, canon.Invalid),
	}
}

func candidatesSpec() spec {
	return spec{
		amount("turn", required),
		word("kind", required, "fact", "world", "episodic", "belief"),
		list("candidates", required, spec{free("record_id", required), one("score", required, canon.Number)}),
	}
}

func promptSpec() spec {
	return spec{amount("turn", required), amount("attempt", required), free("text", required)}
}

func commitSpec() spec {
	return spec{
		known("schema_version", "memory.commit.v1"),
		filled("run_id", required),
		filled("memory_snapshot_id", required),
		filled("policy_set_id", required),
		digest("commit_id", required),
		digest("commit_payload_fingerprint", required),
		word("buffer_state", required, "buffer_open", "commit_pending", "commit_applied", "commit_aborted"),
		one("reason_code", nullable, canon.String, oneOf[none]("policy_rejected", "validation_failed", "storage_apply_failed", "payload_mismatch")),
		list("writes", required, spec{word("op", required, "append", "put", "delete"), nested("record", required, recordSpec(optional))}),
		digest("state_digest_after", required),
		filled("resulting_snapshot_id", optional),
	}
}

// reasoned holds the abort reason to the state: it is there exactly when the buffer was aborted (CONTRACT M3).
func reasoned(r *reader, commit canon.Value) {
	state, _ := commit.Get("buffer_state")
	reason, there := commit.Get("reason_code")
	there = there && reason.Kind() != canon.Null
	switch aborted := string(state.Raw()) == `"commit_aborted"`; {
	case aborted && !there:
		r.missing("reason_code", "%s is missing, and the buffer was aborted")
	case !aborted && there:
		r.push(step{name: "reason_code"})
		r.note(finding.ShapeValue, nil, "reason_code is given, and the buffer was not aborted")
		r.pop()
	}
}
