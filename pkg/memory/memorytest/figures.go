package memorytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Rival is what a store's speed and size are measured against: the same driver and the same settings without a store.
type Rival struct {
	Commit func(document []byte) error // one row, durably
	Scan   func() (rows int, err error)
	Size   func() (bytes int64, err error) // of the store
}

// Figure is one thing that was measured.
type Figure struct {
	Name  string
	Value float64
	Unit  string
}

// Rounds and batches of a comparison: the two sides take turns, so that a disk or a machine that is busy is so for both.
const (
	rounds = 15
	batch  = 100
)

// example is a record like most: a name, a text of a line or two, and when it came.
func example(id, text string) memory.Record {
	return memory.Record{
		Entry:   memory.Entry{ID: id, CreatedAt: 7, Source: 50},
		Type:    "note",
		Content: fmt.Appendf(nil, `{"text":%q}`, text+" The miller told the player that the bridge is closed until the water has gone down."),
	}
}

// commitFigures commit one record, durably, in runs of its own, in turns with a bare commit of its document. Opening and
// writing are not in them. A disk takes longer for a log that still grows, as that of a new file does, than for one that is
// written over; the bare loop grows its own for longer, since it writes less. So both times are told: the sum of a loop on new
// files, and the least batch once both logs are written over.
func commitFigures(ctx context.Context, t *testing.T, s *memory.Store, rival Rival) []Figure {
	t.Helper()
	writes := []memory.Write{{Op: memory.Append, Record: example("", "")}}
	var rows, commits []time.Duration
	for round := range 2 * rounds {
		runs := make([]string, batch)
		for i := range runs {
			runs[i] = fmt.Sprintf("run %d of round %d", i, round)
			write(ctx, t, s, runs[i], writes)
		}
		rows = append(rows, timed(t, func(int) error { return rival.Commit(writes[0].Record.Content) }))
		commits = append(commits, timed(t, func(i int) error { return commit(ctx, s, runs[i], writes) }))
	}
	least := slices.Min(commits[rounds:])
	return []Figure{
		{
			fmt.Sprintf("bare commit of one row ÷ durable commit of one record, the first %d on new files", rounds*batch),
			sum(rows[:rounds]).Seconds() / sum(commits[:rounds]).Seconds(), "times",
		},
		{"bare commit of one row ÷ durable commit of one record, later on", slices.Min(rows[rounds:]).Seconds() / least.Seconds(), "times"},
		{"durable commit of one record, later on", least.Seconds() * 1e3, "ms"},
	}
}

// readFigures read the records of the newest snapshot in turns with a bare scan of the table.
func readFigures(ctx context.Context, t *testing.T, s *memory.Store, records int, rival Rival) []Figure {
	t.Helper()
	fill(ctx, t, s, records)
	var scans, reads []time.Duration
	for range rounds {
		began := time.Now()
		n, err := rival.Scan()
		must(t, err)
		scans = append(scans, time.Since(began))
		if n != records {
			t.Fatalf("%d records were scanned, not %d", n, records)
		}
		n, began = 0, time.Now()
		must(t, s.Records(ctx, "", func([]byte) error { n++; return nil }))
		reads = append(reads, time.Since(began))
		if n != records {
			t.Fatalf("%d records were read, not %d", n, records)
		}
	}
	began := time.Now()
	state, err := s.State(ctx, "")
	must(t, err)
	_, err = state.Digest()
	must(t, err)
	scan, read := median(scans), median(reads)
	return []Figure{
		{fmt.Sprintf("bare scan ÷ snapshot read, %d records", records), scan.Seconds() / read.Seconds(), "times"},
		{fmt.Sprintf("snapshot read, %d records", records), read.Seconds() * 1e3, "ms"},
		{fmt.Sprintf("snapshot digest, %d records", records), time.Since(began).Seconds() * 1e3, "ms"},
	}
}

// growthFigures put one record of many in each of many commits, and measure size and time; then a month goes by and what only
// old snapshots have is collected. The clock is the store's.
func growthFigures(ctx context.Context, t *testing.T, s *memory.Store, clock *int64, records, commits int, rival Rival) []Figure {
	t.Helper()
	fill(ctx, t, s, records)
	write(ctx, t, s, "after", nil) // what a large commit needed by the way is given back at the next
	_, err := s.Discard(ctx, "after")
	must(t, err)
	data := int64(0)
	must(t, s.Records(ctx, "", func(record []byte) error { data += int64(len(record)); return nil }))
	grown := func() float64 {
		size, err := rival.Size()
		must(t, err)
		return float64(size) / float64(data)
	}
	figures := []Figure{{fmt.Sprintf("size of %d records ÷ their documents", records), grown(), "times"}}
	var times []time.Duration
	for i := range commits {
		run := fmt.Sprint("run ", i)
		writes := []memory.Write{{Op: memory.Put, Record: example(fmt.Sprint("record ", i*7919%records), run)}}
		write(ctx, t, s, run, writes)
		began := time.Now()
		must(t, commit(ctx, s, run, writes))
		times = append(times, time.Since(began))
	}
	tenth := commits / 10
	figures = append(
		figures,
		Figure{fmt.Sprintf("size after %d commits ÷ documents of the records", commits), grown(), "times"},
		Figure{fmt.Sprintf("the last %d commits ÷ the first %d", tenth, tenth), median(times[commits-tenth:]).Seconds() / median(times[:tenth]).Seconds(), "times"},
	)
	*clock += 31 * 24 * 3600 * 10_000_000
	_, forgotten, err := s.Collect(ctx, memory.LeastDays, false)
	must(t, err)
	if forgotten != int64(commits) {
		t.Errorf("%d records were forgotten, and %d were replaced", forgotten, commits)
	}
	return append(figures, Figure{"size after a collection ÷ documents of the records", grown(), "times"})
}

// fill commits so many records to an empty store in one run.
func fill(ctx context.Context, t *testing.T, s *memory.Store, records int) {
	t.Helper()
	writes := make([]memory.Write, records)
	for i := range writes {
		writes[i] = memory.Write{Op: memory.Append, Record: example(fmt.Sprint("record ", i), "first")}
	}
	write(ctx, t, s, "fill", writes)
	must(t, commit(ctx, s, "fill", writes))
}

func write(ctx context.Context, t *testing.T, s *memory.Store, run string, writes []memory.Write) {
	t.Helper()
	_, opened := s.Open(ctx, run, "")
	_, written := s.Write(ctx, run, writes...)
	must(t, errors.Join(opened, written))
}

func commit(ctx context.Context, s *memory.Store, run string, writes []memory.Write) error {
	sum, err := memory.PayloadFingerprint(writes)
	if err != nil {
		return err
	}
	_, err = s.Commit(ctx, run, run, sum.Hex())
	return err
}

// timed gives the mean time of a batch.
func timed(t *testing.T, do func(i int) error) time.Duration {
	t.Helper()
	began := time.Now()
	for i := range batch {
		must(t, do(i))
	}
	return time.Since(began) / batch
}

func sum(times []time.Duration) (all time.Duration) {
	for _, t := range times {
		all += t
	}
	return all
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Figures measures a store: make gives an empty one with its rival, on a clock. A short form holds the size alone, on fewer
// records: times that a busy machine gives hold nothing.
func Figures(t *testing.T, short bool, open func(t *testing.T, clock *int64) (*memory.Store, Rival)) []Figure {
	ctx := context.Background()
	fresh := func(t *testing.T) (*memory.Store, Rival, *int64) {
		clock := new(int64)
		*clock = 1
		s, rival := open(t, clock)
		_, err := s.Create(ctx, "figures")
		must(t, err)
		return s, rival, clock
	}
	records, commits := 100_000, 10_000
	var figures []Figure
	if short {
		records, commits = 30_000, 300
	} else {
		t.Run("commit", func(t *testing.T) {
			s, rival, _ := fresh(t)
			figures = append(figures, commitFigures(ctx, t, s, rival)...)
		})
		t.Run("read", func(t *testing.T) {
			s, rival, _ := fresh(t)
			figures = append(figures, readFigures(ctx, t, s, records, rival)...)
		})
	}
	t.Run("growth", func(t *testing.T) {
		s, rival, clock := fresh(t)
		figures = append(figures, growthFigures(ctx, t, s, clock, records, commits, rival)...)
	})
	return figures
}

// Print prints figures for who writes them down: kind of store, name, value and unit, by tabs.
func Print(store string, figures []Figure) {
	for _, f := range figures {
		fmt.Printf("figure\t%s\t%s\t%.3f\t%s\n", store, f.Name, f.Value, f.Unit)
	}
}
