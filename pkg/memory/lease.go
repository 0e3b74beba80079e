package memory

import (
	"fmt"
	"strings"

	"github.com/dmpl/dmpl/pkg/document"
)

// second is a second in ticks.
const second = 10_000_000

// The times of a recovery lease, in ticks (M7).
const (
	LeaseLength  int64 = 30 * second
	LeaseRenewal int64 = 10 * second
	longestLease int64 = 24 * 3600 * second
)

// Lease says who may end a pending commit (M7). Token rises with every owner: the one who took a lease that has since passed
// to another is known by a token that is too low.
type Lease struct {
	Worker  string
	Expires int64 // ticks; the lease is held before that
	Token   int64
}

// held tells whether somebody has the lease.
func (l Lease) held(now int64) bool { return l.Worker != "" && l.Expires > now }

// take gives the lease that a worker gets. The owner of a held one keeps token and end, where the new end were earlier: a
// clock that runs back shortens no lease.
func (l Lease) take(worker string, now, length int64) (Lease, error) {
	switch {
	case strings.TrimSpace(worker) == "" || len(worker) > maxName:
		return l, &BufferError{CodeLease, fmt.Sprintf("a worker needs a name of 1 to %d bytes that is not blank", maxName)}
	case length <= 0 || length > longestLease:
		return l, &BufferError{CodeLease, "a lease needs a length above 0, and of a day at most"}
	case l.held(now) && l.Worker != worker:
		return l, &BufferError{CodeLeaseHeld, fmt.Sprintf("%q holds the lease", l.Worker)}
	case l.held(now):
		return Lease{worker, max(l.Expires, now+length), l.Token}, nil
	}
	return Lease{worker, now + length, l.Token + 1}, nil
}

// admits says why a transaction may not end the commit: with a token only its holder may, without one nobody else must.
func (l Lease) admits(token, now int64) error {
	switch {
	case token == 0 && l.held(now):
		return &BufferError{CodeLeaseHeld, fmt.Sprintf("%q holds the lease", l.Worker)}
	case token != 0 && token != l.Token:
		return &BufferError{CodeLeaseHeld, fmt.Sprintf("the lease has passed to %q: its token is %d, not %d", l.Worker, l.Token, token)}
	case token != 0 && !l.held(now):
		return &BufferError{CodeLeaseHeld, "the lease has run out"}
	}
	return nil
}

func (l Lease) write(w *document.Writer) {
	w.Text("lease_worker", l.Worker)
	w.Integer("lease_expires_ticks", l.Expires)
	w.Integer("lease_token", l.Token)
}

func readLease(o *document.Object) Lease {
	return Lease{o.Text("lease_worker", ""), o.Integer("lease_expires_ticks", 0), o.Integer("lease_token", 0)}
}
