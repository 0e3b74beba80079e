package pipeline

import (
	"cmp"
	"strings"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Order is the strict total order of a ranking, by the name that a policy gives it (P3).
type Order string

// The orders. Scores and confidences fall, the newer stands before the older, ids and sequence numbers rise.
const (
	OrderScoreID         Order = "score,record_id"
	OrderScoreCreated    Order = "score,created_at_ticks,record_id,sequence_number"
	OrderScoreConfidence Order = "score,confidence,record_id,sequence_number"
	OrderID              Order = "record_id"
)

var orders = []string{string(OrderScoreID), string(OrderScoreCreated), string(OrderScoreConfidence), string(OrderID)}

// comparisons has each key of an order. P3: ids compare by UTF-16 unit, in seed 003's order alone by code point.
var comparisons = map[string]func(a, b *Ranked) int{
	"score":            func(a, b *Ranked) int { return cmp.Compare(b.Score, a.Score) },
	"confidence":       func(a, b *Ranked) int { return cmp.Compare(b.Confidence, a.Confidence) },
	"created_at_ticks": func(a, b *Ranked) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) },
	"record_id":        func(a, b *Ranked) int { return dotnet.Compare(a.RecordID, b.RecordID) },
	"sequence_number":  bySequence,
}

func bySequence(a, b *Ranked) int { return cmp.Compare(a.Sequence, b.Sequence) }

// Keys gives the names of the keys that the order uses.
func (o Order) Keys() []string { return strings.Split(string(o), ",") }

// uses says that a key is one of the order's.
func (o Order) uses(key string) bool {
	for name := range strings.SplitSeq(string(o), ",") {
		if name == key {
			return true
		}
	}
	return false
}

// comparison gives the comparison of the order. It ends with the sequence number and then the place in the memory, so that
// it is total even where ids repeat.
func (o Order) comparison() func(a, b *Ranked) int {
	if compare, known := byOrder[o]; known {
		return compare
	}
	return o.compare()
}

// byOrder has the comparisons of the orders.
var byOrder = func() map[Order]func(a, b *Ranked) int {
	all := map[Order]func(a, b *Ranked) int{}
	for _, name := range orders {
		all[Order(name)] = Order(name).compare()
	}
	return all
}()

func (o Order) compare() func(a, b *Ranked) int {
	var keys []func(a, b *Ranked) int
	for _, key := range o.Keys() {
		compare := comparisons[key]
		if o == OrderScoreID && key == "record_id" {
			compare = func(a, b *Ranked) int { return strings.Compare(a.RecordID, b.RecordID) }
		}
		keys = append(keys, compare)
	}
	byKeys := func(a, b *Ranked) int {
		for _, compare := range keys {
			if c := compare(a, b); c != 0 {
				return c
			}
		}
		return cmp.Or(bySequence(a, b), cmp.Compare(a.place, b.place))
	}
	if o.Keys()[0] != "score" {
		return byKeys
	}
	return func(a, b *Ranked) int {
		if a.Score == b.Score {
			return byKeys(a, b)
		}
		return cmp.Compare(b.Score, a.Score) // most pairs
	}
}
