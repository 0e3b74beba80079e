package verify

import (
	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/finding"
)

// constantHash watches a hash that should vary with what it is made of (V6).
type constantHash struct {
	name  string
	hash  func(*audit.Record) string
	moved func(before, r *audit.Record) bool // what the hash covers is another one
	why   string

	before  *audit.Record
	records int
	varies  bool // the hash
	should  bool // what it covers
}

func constantHashes() []*constantHash {
	return []*constantHash{
		{
			name: "PromptHash", hash: func(r *audit.Record) string { return r.PromptHash },
			moved: func(before, r *audit.Record) bool { return before.PlayerInput != r.PlayerInput },
			why:   "though the player's input does",
		},
		{
			name: "MemoryHashBefore", hash: func(r *audit.Record) string { return r.MemoryHashBefore },
			moved: func(before, _ *audit.Record) bool { return before.MutationsApplied > 0 },
			why:   "though turns changed the memory",
		},
	}
}

func (c *constantHash) add(r *audit.Record) {
	if c.hash(r) == "" {
		return
	}
	if c.before != nil {
		c.varies = c.varies || c.hash(c.before) != c.hash(r)
		c.should = c.should || c.moved(c.before, r)
	}
	c.records++
	kept := *r
	c.before = &kept
}

// V6: a hash that never varies cannot show a difference.
func (a *Audit) blindChecks() {
	for _, c := range a.blind {
		if !c.varies && c.should {
			a.found(finding.BlindHash, finding.NoEvent, "", "%s is the same in all %d records, %s", c.name, c.records, c.why)
		}
	}
	a.tally("V6.hashes", finding.Passed, "")
}
