package record_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/sqlite"
	"github.com/dmpl/dmpl/pkg/record"
	"github.com/dmpl/dmpl/pkg/run"
)

// Two agents share a memory in a file. Each reads what was there when it began; what one commits, the next run sees. A run that
// is made again under its id is applied once.
func ExampleCreateOn() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	backend, err := sqlite.Open(ctx, filepath.Join(dir, "memory.db"), true)
	if err != nil {
		log.Fatal(err)
	}
	store := memory.NewStore(backend, memory.At(638400000000000000)) // an agent gives its clock
	defer store.Close()
	if _, err := store.Create(ctx, "guards"); err != nil {
		log.Fatal(err)
	}
	shared := record.Shared{Store: store, Access: memory.Access{Environment: "dev", BufferedWrite: []string{"dev"}}}
	for n, id := range []string{"monday", "tuesday", "monday"} {
		if err := greet(ctx, shared, filepath.Join(dir, fmt.Sprint(n)), id); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// monday: commit_applied, snapshot 00000000000000000001
	// tuesday: commit_applied, snapshot 00000000000000000002
	// monday: commit_applied, snapshot 00000000000000000001, committed before
}

// greet records a run of one turn on a store.
func greet(ctx context.Context, shared record.Shared, dir, id string) error {
	text := func(json string) record.Text { return record.Text{JSON: []byte(json)} }
	recorder, err := record.CreateOn(ctx, shared, dir, record.Settings{
		RunID: id, WorkflowID: "greeting", Visibility: execute.BufferedWrite, Lane: run.Lane{Name: "ci", Deterministic: true},
		ModelConfig: []byte(`{"provider_name":"example","model_name":"echo","decoding":{"temperature":0},"seed":1}`),
	}, record.Documents{
		Config:   text(`{"schema_version":"pipeline.config.v1","pipeline_version":"dmpl-v1","mode":"snapshot"}`),
		Policies: text(`{"schema_version":"memory.policy_set.v1","retrieval":{},"admission":[],"commit":{"rules":[{"id":"few","rule":"most_writes","limit":9}]},"retention":{"lanes":[]}}`),
		Profiles: text(`{"tool_profiles":[]}`),
	})
	if err != nil {
		return err
	}
	defer recorder.Abandon()
	_, err = recorder.Turn(text(`{"turn":0,"npc_id":"guard","npc_name":"Gareth","player_input":"Good day","system_prompt":"You guard the gate.",
		"trigger":{"reason":"PlayerUtterance"},"interaction_count":0,"dialogue":[],"constraints":[],"forbidden_knowledge":[],"custom_rules":[],
		"few_shot":[],"references":[],"thread_events":[],"retry_policy":{},"fallbacks":{"trigger":[],"by_reason":{},"generic":[],"emergency":[]},
		"snapshot_time_utc_ticks":638400000000000000}`), nil, record.Live(ctx, echo{}, nil))
	if err != nil {
		return err
	}
	end, err := recorder.Close()
	if err != nil {
		return err
	}
	if why := recorder.Refusal(); why != "" {
		return errors.New(why)
	}
	fmt.Printf("%s: %s, snapshot %s", id, end.Buffer.State, end.Snapshot)
	if recorder.Repeated() {
		fmt.Print(", committed before")
	}
	fmt.Println()
	return nil
}
