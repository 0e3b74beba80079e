package record_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
)

// echo is a model that repeats the last line that the player said.
type echo struct{}

func (echo) Answer(_ context.Context, prompt string) (execute.Output, error) {
	_, said, _ := strings.Cut(prompt, "Player: ")
	said, _, _ = strings.Cut(said, "\n")
	return execute.Output{Text: said + ", you say. [MEMORY: The player spoke]"}, nil
}

// An agent records its own run: it hands in each turn and its model, and the folder that is left can be replayed without the
// model.
func Example() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "monday")

	text := func(json string) record.Text { return record.Text{JSON: []byte(json)} }
	recorder, err := record.Create(dir, record.Settings{
		RunID: "monday", WorkflowID: "greeting", Visibility: execute.BufferedWrite, Lane: run.Lane{Name: "ci", Deterministic: true},
		Created:     run.Ticks(time.Now()),
		ModelConfig: []byte(`{"provider_name":"example","model_name":"echo","decoding":{"temperature":0},"seed":1}`),
	}, record.Documents{
		Snapshot: text(`{"schema_version":"memory.snapshot.v1","memory_snapshot_id":"00000000000000000001","persona_id":"guard","next_sequence_number":1,"interaction_count":0,"records":[]}`),
		Config:   text(`{"schema_version":"pipeline.config.v1","pipeline_version":"dmpl-v1","mode":"snapshot"}`),
		Policies: text(`{"schema_version":"memory.policy_set.v1","retrieval":{},"admission":[],"commit":{"rules":[{"id":"few","rule":"most_writes","limit":9}]},"retention":{"lanes":[]}}`),
		Profiles: text(`{"tool_profiles":[]}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer recorder.Abandon()
	turn, err := recorder.Turn(text(`{"turn":0,"npc_id":"guard","npc_name":"Gareth","player_input":"Good day","system_prompt":"You guard the gate.",
		"trigger":{"reason":"PlayerUtterance"},"interaction_count":0,"dialogue":[],"constraints":[],"forbidden_knowledge":[],"custom_rules":[],
		"few_shot":[],"references":[],"thread_events":[],"retry_policy":{},"fallbacks":{"trigger":[],"by_reason":{},"generic":[],"emergency":[]},
		"snapshot_time_utc_ticks":638400000000000000}`), nil, record.Live(context.Background(), echo{}, nil))
	if err != nil {
		log.Fatal(err)
	}
	end, err := recorder.Close()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(turn.Result.Dialogue())
	fmt.Println(end.Buffer.State, len(end.Buffer.Writes))

	recorded, err := run.Read(dir, nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	again, err := replay.Run(recorded.Trace, replay.RunOptions{Until: replay.All})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Result.Verdict)
	// Output:
	// Good day, you say.
	// commit_applied 1
	// equivalent
}
