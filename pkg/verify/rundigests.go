package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// checkFiles holds the files of a run to the manifest's list: each digest is a claim with the file as preimage (CONTRACT V5).
func checkFiles(c *checker) {
	manifest := c.t.Recording.Manifest.Path
	parts := map[string]int{}               // by folder: the number of the next part
	for _, f := range c.t.Recording.Files { // by name
		mark := c.mark()
		if folder, number, ok := strings.Cut(f.Name, "/"); ok && f.Part {
			if want := fmt.Sprintf("%04d.jsonl", parts[folder]); number != want {
				c.report(finding.RunFileMissing, f.Path, "", finding.NoEvent, "%s/%s is not there: parts are numbered from 0000 on", folder, want)
			}
			n, _ := strconv.Atoi(strings.TrimSuffix(number, ".jsonl"))
			parts[folder] = n + 1
		}
		switch listed := f.Entry != ""; {
		case !f.Found && listed:
			c.report(finding.RunFileMissing, f.Path, "", finding.NoEvent, "the manifest lists the file, and it is not there")
		case !f.Found:
			c.report(finding.RunFileMissing, f.Path, "", finding.NoEvent, "every complete run has the file, and it is neither listed nor there")
		case !listed:
			c.report(finding.RunFileExtra, f.Path, "", finding.NoEvent, "the manifest does not list the file")
		default:
			c.cover.Claims++
			c.cover.Checked++
			if !f.Stated.Is(f.SHA256) {
				g := c.report(finding.RunFileChanged, manifest, f.Entry+"/sha256", finding.NoEvent, "%s is not the file that was written", f.Name)
				g.Expected, g.Actual = finding.Value(f.Stated.Raw), quoted(f.SHA256)
			}
			if length := strconv.FormatInt(f.Bytes, 10); string(f.StatedBytes.Raw) != length {
				g := c.report(finding.RunFileChanged, manifest, f.Entry+"/bytes", finding.NoEvent, "%s has another length", f.Name)
				g.Expected, g.Actual = finding.Value(f.StatedBytes.Raw), finding.Value(length)
			}
		}
		c.hold(mark)
	}
}

// checkPinned recomputes the digests of configuration and snapshot that the manifest pins (CONTRACT R1).
func checkPinned(c *checker) {
	r := c.t.Recording
	for _, pin := range []struct {
		name string
		doc  trace.Document
	}{{"config", r.Config}, {"policies", r.Policies}, {"profiles", r.ProfileSet}, {"snapshot", r.Snapshot}} {
		c.documentClaim(in(r.Manifest, "/digests/"+pin.name), pin.doc)
	}
}

// checkPolicySet recomputes policy_set_id (CONTRACT D9).
func checkPolicySet(c *checker) {
	c.documentClaim(c.inTrace("/policy_set_id", c.t.PolicySetID), c.t.Recording.Policies)
}

// documentClaim checks a digest of a whole document.
func (c *checker) documentClaim(stated value, doc trace.Document) {
	if !stated.field.Ok() {
		return // V1 has said so
	}
	k := claim{path: stated.path, pointer: stated.pointer, stated: stated.field, reason: "the file is not there"}
	if doc.Ok() {
		k.preimage = doc.Value.Raw()
	}
	c.check(&k)
}

// checkToolRuntime recomputes the hash of the tool profiles that the model configuration names (CONTRACT D5).
func checkToolRuntime(c *checker) {
	config, ok := modelConfig(c.t)
	if !ok {
		c.tally(finding.NotChecked, "no model_config in the trace")
		return
	}
	stated := trace.Document{Path: c.t.Path, Value: config}.Field("/tool_runtime_profile_hash")
	if stated.State == trace.Absent {
		c.report(finding.ShapeMissing, c.t.Path, "/model_config/tool_runtime_profile_hash", finding.NoEvent, "tool_runtime_profile_hash is missing")
		c.tally(finding.Failed, "")
		return
	}
	k := claim{path: c.t.Path, pointer: "/model_config/tool_runtime_profile_hash", stated: stated, reason: "a tool profile is malformed"}
	k.preimage = toolRuntime(c.t.Recording)
	c.check(&k)
}

// toolRuntime gives D5's preimage: name, version and digest of each profile, by name; nil where one is malformed.
func toolRuntime(r *trace.Recording) []byte {
	list, _ := r.ProfileSet.Value.Get("tool_profiles")
	if !r.ProfileSet.Ok() || len(r.Profiles) != len(list.Elements()) {
		return nil
	}
	type tool struct {
		name string
		text []byte
	}
	tools := make([]tool, len(r.Profiles))
	for i, p := range r.Profiles {
		sum, err := canon.Digest(canon.JSONv1, list.Elements()[i].Raw())
		if err != nil {
			return nil
		}
		text := canon.Quote([]byte(`{"tool_name":`), []byte(p.Name))
		text = canon.Quote(append(text, `,"tool_profile_version":`...), []byte(p.Version))
		text = canon.Quote(append(text, `,"tool_profile_digest":`...), []byte(sum.Hex()))
		tools[i] = tool{p.Name, append(text, '}')}
	}
	slices.SortStableFunc(tools, func(a, b tool) int { return cmp.Compare(a.name, b.name) })
	preimage := []byte{'['}
	for i, t := range tools {
		if i > 0 {
			preimage = append(preimage, ',')
		}
		preimage = append(preimage, t.text...)
	}
	return append(preimage, ']')
}

// checkOutputModels holds the model configuration of each recorded output to the run's (CONTRACT D4).
func checkOutputModels(c *checker) {
	if !c.t.ModelConfigID.Ok() {
		return // V1 has said so
	}
	var before claim // of the configuration before, which the outputs of a run have in common
	var seen []byte
	for _, out := range c.t.Recording.Outputs {
		config := out.Field("/model_config")
		if !config.Ok() {
			continue
		}
		k := claim{path: out.Path, pointer: out.At + "/model_config", stated: c.t.ModelConfigID}
		if before.preimage != nil && bytes.Equal(seen, config.Raw) {
			k.preimage, k.form = before.preimage, before.form
		} else if !c.selected(&k, &trace.ToolProfile{}, config.Raw, modelIdentity) {
			continue
		}
		before, seen = k, config.Raw
		c.check(&k)
	}
}

// checkConstraints recomputes the constraints of first attempts: those of a retry are the pipeline's, and replay makes them
// (CONTRACT E10).
func checkConstraints(c *checker) {
	for i := range c.t.Events {
		e := &c.t.Events[i]
		kind, ok := e.KindOf()
		if !ok || kind.Name() != trace.PromptReady || !placed(e, kind) || e.Stage.Attempt > 0 || !e.Stage.Constraints.Ok() {
			continue
		}
		k := claim{path: c.t.Path, pointer: e.Pointer() + "/stage/constraints_digest", stated: e.Stage.Constraints, reason: "the turn is not recorded"}
		if turn, ok := c.t.Recording.Turn(e.Stage.Turn); ok {
			k.preimage = turn.Field("/constraints").Raw
		}
		c.check(&k)
	}
}

// checkPrompts recomputes the digests of the prompts that are kept (CONTRACT D8). Where they are kept, all are.
func checkPrompts(c *checker) {
	r := c.t.Recording
	if !slices.ContainsFunc(r.Files, func(f trace.RunFile) bool { return f.Found && f.Name == "prompts.jsonl" }) {
		c.tally(finding.NotApplicable, "prompts are not kept: replay rebuilds them")
		return
	}
	kept := map[stagePlace]bool{}
	for _, d := range r.Prompts {
		at := placeOf(d, false)
		kept[at] = true
		e, ok := c.stages().at(trace.PromptReady, at.turn, at.attempt, -1)
		if !ok {
			if !isTrue(c.t.Truncated) {
				c.line(finding.RunUnlinked, d, "no event %s belongs to this prompt", trace.PromptReady)
				c.tally(finding.Failed, "")
			}
			continue
		}
		text, _ := d.Value.Get("text")
		prompt, ok := text.Text()
		if !ok || !e.Stage.Prompt.Ok() {
			continue
		}
		sum, err := canon.Digest(canon.Raw, []byte(prompt))
		c.cover.Claims++
		c.cover.Checked++
		if err == nil && e.Stage.Prompt.Is(sum.Hex()) {
			c.tally(finding.Passed, "")
			continue
		}
		f := c.report(finding.DigestMismatch, d.Path, d.At+"/text", finding.NoEvent, "the prompt is not the one that the event has the digest of")
		f.Expected, f.Actual = finding.Value(e.Stage.Prompt.Raw), quoted(sum.Hex())
		c.tally(finding.Failed, "")
	}
	for i := range c.t.Events {
		e := &c.t.Events[i]
		kind, ok := e.KindOf()
		if ok && kind.Name() == trace.PromptReady && placed(e, kind) && !kept[stagePlace{"", e.Stage.Turn, e.Stage.Attempt, -1}] {
			c.event(finding.RunUnlinked, e, "", "the prompt of turn %d, attempt %d is not kept, and others are", e.Stage.Turn, e.Stage.Attempt)
			c.tally(finding.Failed, "")
		}
	}
}

// listStages counts the digests whose preimage is nowhere stored, so that nobody takes them for checked: only the pipeline can
// make them again, which is what replay does (CONTRACT V5, R1). They are no claims about what the run stores.
func listStages(c *checker) {
	for i := range c.t.Events {
		e := &c.t.Events[i]
		kind, ok := e.KindOf()
		if !ok || e.Stage == nil {
			continue
		}
		for _, m := range append(slices.Clone(kind.Needs), trace.ContextDigest) {
			if f := m.Field(e.Stage); f.Ok() {
				c.tally(finding.NotChecked, "made by the pipeline: replay makes it again")
			}
		}
	}
}
