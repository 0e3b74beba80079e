package runtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
)

func snapshot(id string) object {
	record := func(n int, kind, id string, content object) object {
		return object{
			"record_id": id, "record_type": kind, "created_at_ticks": now - int64(n), "sequence_number": n, "source": 50, "content": content,
		}
	}
	return object{
		"schema_version": "memory.snapshot.v1", "memory_snapshot_id": id, "persona_id": "guard", "next_sequence_number": 6, "interaction_count": 3,
		"records": []object{
			record(1, memory.TypeFact, "f1", object{"Fact": "The king is named Arthur"}),
			record(2, memory.TypeWorld, "door", object{"Id": "w1", "Value": "open", "ModifiedAtTicks": now, "ModificationCount": 0}),
			record(3, memory.TypeEpisode, "e1", object{"Description": "The player said hello", "Significance": 0.5}),
			record(4, memory.TypeEpisode, "e2", object{"Description": "The storm broke the bridge"}),
			record(5, memory.TypeBelief, "b1", object{"Key": "b1", "Subject": "player", "BeliefContent": "the player is friendly", "Confidence": 0.75}),
		},
	}
}

// start gives the start snapshot: of a run of a chain with what the runs before it have written.
func (b *builder) start() object {
	first := snapshot(b.f.SnapshotID)
	if b.f.Chain == nil || b.f.Chain.Index == 0 {
		return first
	}
	var writes []object
	for range b.f.Chain.Index {
		writes = append(writes, b.writes()...)
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() { memory.WriteSnapshot(w, applied(first, writes)) })
	start := object{}
	d := json.NewDecoder(bytes.NewReader(w.Bytes()))
	d.UseNumber()
	b.check(d.Decode(&start))
	start["schema_version"], start["memory_snapshot_id"] = first["schema_version"], first["memory_snapshot_id"]
	return start
}

// writes gives what the run puts into its buffer.
func (b *builder) writes() []object {
	writes := []object{}
	for turn := range b.f.Turns {
		if !b.f.Empty {
			writes = append(writes, object{"op": "append", "record": object{
				"record_type": "episodic", "created_at_ticks": now, "sequence_number": 0, "source": 50, "content": object{"Description": fmt.Sprint("turn ", turn)},
			}})
		}
	}
	return writes
}

// applied gives a snapshot after writes.
func applied(snapshot object, writes []object) memory.State {
	value, err := canon.Parse(text(object{"snapshot": snapshot, "writes": writes}))
	if err != nil {
		panic(err)
	}
	o := document.Open(value)
	state, err := memory.ReadSnapshot(o.Object("snapshot")).Apply(memory.ReadWrites(o, "writes"), nil)
	if err := errors.Join(err, o.Err()); err != nil {
		panic(err)
	}
	return state
}

// stateAfter gives the digest of a snapshot and the writes that were applied to it (CONTRACT P2(g)).
func stateAfter(snapshot object, writes []object) string {
	sum, err := applied(snapshot, writes).Digest()
	if err != nil {
		panic(err)
	}
	return sum.Hex()
}
