package verify

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Ledger checks an exported ledger, memory.ledger.v1: each row's digest, that each row follows the one before, and that the rows
// tell a history that a store can have had (V0, M8). A row that is missing at the end cannot be seen in a file.
func Ledger(doc trace.Document, shape []finding.Finding, o AuditOptions) finding.Result {
	l := &ledger{tallies: tallies{o: o}, history: newStoreHistory(doc.Field("/store_id").Text())}
	if l.begin(shape, len(shape) > 0) {
		rows, _ := doc.Value.Get("rows")
		for i, e := range rows.Elements() {
			l.row("/rows/"+strconv.Itoa(i), e)
		}
		l.tally("M8.end", finding.NotChecked, "a file does not tell whether rows are missing at its end: the store does")
	}
	return l.end()
}

// ledger is a ledger while it is checked.
type ledger struct {
	tallies
	history *storeHistory
	broken  bool   // a row is not what was written there: what comes later tells nothing about states
	number  int64  // of the row before
	digest  string // of the row before, as it states it
}

func (l *ledger) row(at string, e canon.Value) {
	stated := trace.Document{Value: e}.Field("/digest")
	text, _ := e.Get("row")
	row, err := memory.ReadLedgerRow(text.Raw())
	if err != nil { // a text that no row of a store holds
		l.found(finding.LedgerRowChanged, finding.NoEvent, at+"/row", "the row cannot be read: %v", err)
		l.claim("V5.row_digest", finding.Failed, "")
		l.broken = true
		return
	}
	l.changed(at, stated, text)
	l.place(at, row)
	l.follows(at, row)
	l.number, l.digest = row.Number, stated.Text()
	if l.broken {
		l.tally("M3.history", finding.NotChecked, "the ledger is broken before or at the row")
		return
	}
	problem, code := l.history.step(row)
	if code == "" {
		l.tally("M3.history", finding.Passed, "")
		return
	}
	l.found(code, finding.NoEvent, at+"/row", "row %d: %s", row.Number, problem)
	l.tally("M3.history", finding.Failed, "")
}

// changed computes the digest of a row again (V5).
func (l *ledger) changed(at string, stated trace.Field, text canon.Value) {
	sum, err := canon.Digest(canon.JSONv1, text.Raw())
	if err == nil && stated.Is(sum.Hex()) {
		l.claim("V5.row_digest", finding.Passed, "")
		return
	}
	f := l.found(finding.LedgerRowChanged, finding.NoEvent, at+"/digest", "the row is not what its digest says")
	f.Expected, f.Actual = finding.Value(stated.Raw), quoted(sum.Hex())
	l.claim("V5.row_digest", finding.Failed, "")
	l.broken = true
}

// place holds a row to its number.
func (l *ledger) place(at string, row memory.LedgerRow) {
	due := l.number + 1
	if row.Number == due {
		l.tally("M8.number", finding.Passed, "")
		return
	}
	what := "the row was moved, or is there twice, or was put in"
	if row.Number > due {
		what = "rows were removed or moved: " + strconv.FormatInt(row.Number-due, 10) + " are not here"
	}
	f := l.found(finding.LedgerNumber, finding.NoEvent, at+"/row/row", "row %d stands where row %d is due: %s", row.Number, due, what)
	f.Expected, f.Actual = wholeValue(due), wholeValue(row.Number)
	l.tally("M8.number", finding.Failed, "")
	l.broken = true
}

// follows holds a row to the digest of the one before.
func (l *ledger) follows(at string, row memory.LedgerRow) {
	if row.Previous == l.digest {
		l.tally("M8.link", finding.Passed, "")
		return
	}
	f := l.found(finding.LedgerLink, finding.NoEvent, at+"/row/previous", "row %d does not follow the row before it", row.Number)
	f.Expected, f.Actual = quoted(row.Previous), quoted(l.digest)
	l.tally("M8.link", finding.Failed, "")
	l.broken = true
}
