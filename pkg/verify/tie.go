package verify

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// tieKey is one key of an order: negative where the first record stands before the second by it.
type tieKey struct {
	name    string
	compare func(before, after trace.Field) int
}

// tieKeys are the keys that decide between equal scores, for the orders that have more than the id (CONTRACT P3).
var tieKeys = map[string][]tieKey{
	trace.OrderScoreCreated:    {{"created_at_ticks", falling}, {"record_id", byUnits}, {"sequence_number", rising}},
	trace.OrderScoreConfidence: {{"confidence", falling}, {"record_id", byUnits}, {"sequence_number", rising}},
}

func rising(before, after trace.Field) int  { return canon.CompareNumbers(before.Raw, after.Raw) }
func falling(before, after trace.Field) int { return rising(after, before) }

// byUnits compares ids by UTF-16 unit, as all orders but that of seed 003 do (CONTRACT P3).
func byUnits(before, after trace.Field) int {
	return dotnet.Compare(before.Verbatim(), after.Verbatim())
}

// holds says that a record states the key as its order compares it: an id is a text, every other key a number.
func (k *tieKey) holds(f trace.Field) bool {
	if !f.Ok() {
		return false
	}
	number := f.Raw[0] == '-' || '0' <= f.Raw[0] && f.Raw[0] <= '9'
	return number && k.name != "record_id" || f.Raw[0] == '"' && k.name == "record_id"
}

// checkTie holds two records of one score to the keys of the row's order (CONTRACT V2). A record that does not state a key says
// nothing about the tie: a native run's does, or it is malformed.
func (c *checker) checkTie(r *trace.Retrieval, keys []tieKey, pointer string, before, after *trace.Record) {
	for _, key := range keys {
		a, b := before.Key(key.name), after.Key(key.name)
		if !key.holds(a) || !key.holds(b) {
			return
		}
		switch order := key.compare(a, b); {
		case order < 0:
			return
		case order > 0:
			f := c.report(finding.TraceTieOrder, r.Path, pointer+strconv.Itoa(after.Position)+"/"+key.name, finding.NoEvent,
				"rank %d must not stand behind rank %d", after.Rank, before.Rank)
			f.Expected, f.Actual = finding.Value(a.Raw), finding.Value(b.Raw)
			return
		}
	}
}

// checkRankKeys asks the selected records of a native run for the keys that their row's order uses (CONTRACT P3).
func checkRankKeys(c *checker) {
	mark := c.mark()
	r := c.t.Retrieval
	for i := 0; r != nil && i < len(r.Rows); i++ {
		row := &r.Rows[i]
		keys := tieKeys[row.Order.Text()]
		for j := range row.Records {
			for k := range keys {
				if record := &row.Records[j]; !keys[k].holds(record.Key(keys[k].name)) {
					c.report(finding.ShapeMissing, r.Path, r.RowPointer(i)+"/selected_records/"+strconv.Itoa(j)+"/"+keys[k].name, finding.NoEvent,
						"%s is missing, and the row's order uses it", keys[k].name)
				}
			}
		}
	}
	c.hold(mark)
}
