package cmd

import (
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// chainPair is the chains of two folders that are compared link by link (P6).
type chainPair struct {
	left, right verify.Chains
	whole       bool // no link is missing on a side, which is told already
}

func (c *chainPair) add(left, right *trace.Trace) {
	c.left.Add(left)
	c.right.Add(right)
}

// results says of each side whether its links are a chain: what is broken proves nothing, though each link be equal (E1).
func (c *chainPair) results(left, right string) []finding.Result {
	var results []finding.Result
	for _, side := range []struct {
		root   string
		chains *verify.Chains
	}{{left, &c.left}, {right, &c.right}} {
		if fs := side.chains.Findings(); c.whole && len(fs) > 0 {
			r := finding.Result{Name: side.root, Findings: fs, Checks: []finding.Check{{ID: "P6", Status: finding.Failed, Count: len(fs)}}}
			r.Judge(true)
			results = append(results, r)
		}
	}
	return results
}
