package equiv

import (
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// compareOutputs applies E8: the same type and structure, hashed under the same version.
func compareOutputs(c *comparer) {
	left, right := c.left.Output, c.right.Output
	if !left.Ok() || !right.Ok() {
		c.tally("E8", finding.NotChecked, "output is missing or malformed on a side")
		return
	}
	mark := c.begin()
	p := c.at(finding.NoEvent, "/output")
	otherType := c.different(finding.EquivOutputType, p, "output_type", left.Type, right.Type)
	stated := left.Normalization.State >= trace.Malformed && right.Normalization.State >= trace.Malformed
	switch {
	case stated && !left.Normalization.Same(right.Normalization):
		c.report(finding.EquivOutputNormalization, p.member("normalization_version"), left.Normalization.Raw, right.Normalization.Raw,
			"%s", finding.Lookup(finding.EquivOutputNormalization).Title)
	case left.Normalization.Ok() && right.Normalization.Ok():
		at := c.here()
		if l, r := left.ShapeHash, right.ShapeHash; l.Ok() && r.Ok() && !l.SameDigest(r) {
			c.report(finding.EquivOutputShape, p.member("output_shape_hash"), l.Raw, r.Raw, "%s", finding.Lookup(finding.EquivOutputShape).Title)
		}
		if otherType { // E11: the hash after the type
			c.cascade(at)
		}
	default:
		c.tally("E8", finding.NotChecked, "normalization_version is missing or malformed on a side")
	}
	c.hold("E8", mark)
}

// compareCommits applies E9 to what became of buffered writes.
func compareCommits(c *comparer) {
	left, right := c.left.Commit, c.right.Commit
	if left.Missing() && right.Missing() {
		if c.left.Visibility.Is("buffered_write") {
			c.tally("E9", finding.NotChecked, "no commit record on either side")
		} else {
			c.tally("E9", finding.NotApplicable, "no buffered writes")
		}
		return
	}
	p := c.at(finding.NoEvent, "/commit")
	if left.Missing() != right.Missing() {
		c.report(finding.EquivCommitOneSided, p, left.Raw, right.Raw, "only one side has a commit record")
		c.tally("E9", finding.NotChecked, "commit record on one side only")
		return
	}
	mark := c.begin()
	otherState := c.different(finding.EquivBuffer, p, "buffer_state", left.Buffer, right.Buffer)
	if !otherState && (left.Reason.Ok() || right.Reason.Ok()) {
		c.different(finding.EquivAbort, p, "reason_code", left.Reason, right.Reason)
	}
	if l, r := left.Payload, right.Payload; l.Ok() && r.Ok() && !l.SameDigest(r) {
		c.report(finding.EquivPayload, p.member("commit_payload_fingerprint"), l.Raw, r.Raw, "%s", finding.Lookup(finding.EquivPayload).Title)
	}
	c.hold("E9", mark)
}
