package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/thread"
)

// GateStage is the Stage of the gate: `parsed`, `context` (`state`, `constraints`, `forbiddenKnowledge`), `customRules` and
// `gateConfig` overrides in, the gate result out.
func GateStage(v Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		out := readParsed(o.Object("parsed"), v)
		context, err := readGateContext(o, v)
		c := ReadGateConfig(o.Object("gateConfig"))
		if first := o.Err(); first != nil {
			return nil, first
		}
		if err != nil {
			return nil, err
		}
		result, err := Gate(out, context, c)
		if err != nil {
			return nil, err
		}
		w := document.NewWriter(v.Style())
		writeGateResult(w, "", result)
		return w.Bytes(), nil
	}
}

// ReadGateConfig reads overrides of a preset, or of the default where none is named.
func ReadGateConfig(o *document.Object) GateConfig {
	c := preset(o, DefaultGateConfig(), gatePresets)
	c.CheckConstraints = o.Bool("CheckConstraints", c.CheckConstraints)
	c.CheckCanonicalFacts = o.Bool("CheckCanonicalFacts", c.CheckCanonicalFacts)
	c.CheckKnowledgeBoundaries = o.Bool("CheckKnowledgeBoundaries", c.CheckKnowledgeBoundaries)
	c.ValidateMutations = o.Bool("ValidateMutations", c.ValidateMutations)
	refuseUnknown(o)
	return c
}

// readParsed reads a parsed output; what the gate does not ask for may be missing.
func readParsed(o *document.Object, v Version) ParsedOutput {
	return ParsedOutput{
		Success:   o.Bool("Success", false),
		Dialogue:  o.Text("DialogueText", ""),
		Error:     o.OptionalText("ErrorMessage"),
		Raw:       o.Text("RawOutput", ""),
		Mutations: readMutations(o, "ProposedMutations", v),
		Intents:   readIntents(o, "WorldIntents"),
	}
}

func readGateContext(o *document.Object, v Version) (GateContext, error) {
	in := o.Object("context")
	context := GateContext{
		Constraints: readConstraints(in, "constraints"),
		Forbidden:   in.Texts("forbiddenKnowledge"),
		Rules:       ReadCustomRules(o, "customRules"),
	}
	state, err := memory.Load(memory.ReadState(in.Object("state"), v), v)
	if err != nil {
		return context, &Error{Code: CodeInvalidInput, Pointer: "/context/state", Detail: err.Error()}
	}
	context.Facts = state.Facts
	return context, nil
}

// ReadCustomRules reads a list of custom rules: prohibitions that ignore case and are hard, where nothing else is said.
func ReadCustomRules(o *document.Object, name string) []CustomRule {
	var rules []CustomRule
	o.Each(name, func(r *document.Object) {
		rules = append(rules, CustomRule{
			ID:          r.OptionalText("Id"),
			Description: r.Text("Description", ""),
			Pattern:     r.Text("Pattern", ""),
			Prohibition: r.Bool("IsProhibition", true),
			IgnoreCase:  r.Bool("CaseInsensitive", true),
			Severity:    readSeverity(r, "Severity"),
		})
		refuseUnknown(r)
	})
	return rules
}

func writeGateResult(w *document.Writer, name string, g GateResult) {
	w.Object(name, func() {
		w.Bool("Passed", g.Passed)
		w.Bool("HasCriticalFailure", g.HasCritical())
		w.Bool("ShouldRetry", g.ShouldRetry())
		w.List("Failures", func() {
			for _, f := range g.Failures {
				w.Object("", func() {
					w.Text("Reason", f.Reason)
					w.Text("Description", f.Description)
					w.OptionalText("ViolatingText", f.ViolatingText)
					w.OptionalText("ViolatedRule", f.ViolatedRule)
					w.Text("Severity", f.Severity.String())
				})
			}
		})
		writeMutations(w, "ApprovedMutations", g.ApprovedMutations)
		writeMutations(w, "RejectedMutations", g.RejectedMutations)
		writeIntents(w, "ApprovedIntents", g.ApprovedIntents)
		w.Bool("ValidatedOutputPresent", g.HasOutput)
	})
}
