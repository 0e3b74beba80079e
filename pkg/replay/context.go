package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/jsondiff"
	"github.com/dmpl/dmpl/pkg/thread"
)

const (
	messagesAt = "/assembled_context/model_messages"
	pinAt      = "/context_spec/retrieval/normalization/config_digest"
	echoText   = "members of context_spec that repeat the configuration"
)

// echoes are the members of a context that repeat its configuration. Under another one they differ in every turn, and
// the note of X4 has said so.
var echoes = []string{
	"/context_spec/assembly_rules/ordering",
	"/context_spec/retrieval/normalization/applied_rules",
	"/context_spec/retrieval/normalization/boundary_version",
	pinAt,
}

// compare compares the context that a decision stores with the one built again under the configuration of the given digest.
func (t *tally) compare(o turn, given string) {
	pinned := o.text(pinAt)
	other := pinned != given && pinned != ""
	if other {
		t.pinned(pin{pinned, o.at + pinAt, 1})
	}
	if o.built.err != nil {
		t.refusedNow(o)
		return
	}
	recorded, err := canonical(spliced(o.payload))
	if err != nil {
		t.notRebuilt(o, "the stored context has no canonical form: "+err.Error())
		return
	}
	t.checkDigest(o)
	now, err := canonical(rebuiltDocument(o.built.context))
	if err != nil {
		t.notRebuilt(o, "the context has no canonical form: "+err.Error())
		return
	}
	differences := jsondiff.Compare(recorded, now)
	kept := differences
	if other {
		kept = slices.DeleteFunc(slices.Clone(differences), isEcho)
	}
	t.echoes += len(differences) - len(kept)
	if len(kept) == 0 {
		t.equal++
		return
	}
	t.changed++
	t.add(o.changed(recorded, now, kept))
}

// checkDigest holds the stored digest to the stored context: a replay against an altered recording proves nothing (V5).
func (t *tally) checkDigest(o turn) {
	spec, _ := o.payload.Get("context_spec")
	assembled, _ := o.payload.Get("assembled_context")
	d, err := thread.ContextDigest(spec, assembled)
	stated := o.text("/assembly_digest")
	if err == nil && d.String() == stated {
		return
	}
	f := o.finding(finding.DigestMismatch, "/assembly_digest")
	f.Expected = quoted(stated)
	if err == nil {
		f.Actual = quoted(d.String())
	} else {
		f.Detail = "the stored context has no digest: " + err.Error()
	}
	t.add(f)
}

// refusedNow reports a turn whose stored context cannot be built again.
func (t *tally) refusedNow(o turn) {
	code := codeOf(o.built.err)
	if !thread.Refused(o.built.err) && code != thread.CodeInvalidIntent {
		t.notRebuilt(o, o.built.err.Error())
		return
	}
	f := o.finding(finding.ReplayResolutionChanged, messagesAt)
	messages, _ := o.payload.At(messagesAt)
	f.Expected, f.Actual = finding.Value(messages.Raw()), quoted(code)
	var refusal *thread.Error
	errors.As(o.built.err, &refusal)
	f.Detail = "the turn had a context, and is refused as " + code + ": " + refusal.Detail
	t.add(f)
	t.changed++
}

// isEcho tells whether a difference only repeats the configuration.
func isEcho(d jsondiff.Difference) bool {
	return slices.ContainsFunc(echoes, func(at string) bool { return d.Pointer == at || strings.HasPrefix(d.Pointer, at+"/") })
}

// changed is the finding of a context that differs: the messages where they do, since they are what the model is
// asked (R3), else the first place.
func (o turn) changed(recorded, now canon.Value, differences []jsondiff.Difference) finding.Finding {
	first := differences[0]
	if i := slices.IndexFunc(differences, inMessages); i >= 0 {
		first = differences[i]
		if !isText(first) {
			first = whole(recorded, now)
		}
	}
	f := o.finding(finding.ReplayContextChanged, first.Pointer)
	f.Expected, f.Actual = finding.Value(first.Left.Raw()), finding.Value(first.Right.Raw())
	f.Detail = fmt.Sprintf("the context differs in %s", strings.Join(partsOf(differences), ", "))
	return f
}

func inMessages(d jsondiff.Difference) bool {
	return d.Pointer == messagesAt || strings.HasPrefix(d.Pointer, messagesAt+"/")
}

func isText(d jsondiff.Difference) bool {
	return d.Left.Kind() == canon.String && d.Right.Kind() == canon.String
}

// whole gives both message lists: a message more or less is seen in the list only.
func whole(recorded, now canon.Value) jsondiff.Difference {
	left, _ := recorded.At(messagesAt)
	right, _ := now.At(messagesAt)
	return jsondiff.Difference{Pointer: messagesAt, Left: left, Right: right}
}

// partsOf names the parts that differ, e.g. resolved_refs, in their order: the last name of a pointer that is a part.
func partsOf(differences []jsondiff.Difference) []string {
	var parts []string
	for _, d := range differences {
		names := strings.Split(d.Pointer, "/")[1:]
		part := names[0]
		switch {
		case part == "context_spec" && len(names) > 2:
			part = names[2]
		case part != "transforms" && len(names) > 1:
			part = names[1]
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return parts
}

// rebuiltDocument joins the parts of a context under the names that a decision stores them by.
func rebuiltDocument(ctx thread.Context) []byte {
	return join(ctx.Assembled(), ctx.Spec(), ctx.Transforms())
}

// spliced gives the same parts of a stored decision. What stands under _obs at the top of a part is no part of it.
func spliced(payload canon.Value) []byte {
	assembled, _ := payload.Get("assembled_context")
	spec, _ := payload.Get("context_spec")
	return join(observed(assembled), observed(spec), transformsOf(payload))
}

// transformsOf gives the transforms that a decision states: none where it has no list.
func transformsOf(payload canon.Value) []byte {
	transforms, ok := payload.Get("transforms")
	if !ok || transforms.Kind() == canon.Null {
		return []byte("[]")
	}
	return transforms.Raw()
}

func join(assembled, spec, transforms []byte) []byte {
	return slices.Concat([]byte(`{"assembled_context":`), assembled, []byte(`,"context_spec":`), spec, []byte(`,"transforms":`), transforms, []byte{'}'})
}

// observed gives an object without its member _obs.
func observed(v canon.Value) []byte {
	if v.Kind() == canon.Invalid {
		return []byte("null")
	}
	if _, ok := v.Get("_obs"); !ok {
		return v.Raw()
	}
	var members [][]byte
	for _, m := range v.Members() {
		if m.Name != "_obs" {
			members = append(members, slices.Concat(canon.QuoteASCII(nil, []byte(m.Name)), []byte{':'}, m.Value.Raw()))
		}
	}
	return slices.Concat([]byte{'{'}, bytes.Join(members, []byte{','}), []byte{'}'})
}

func canonical(text []byte) (canon.Value, error) {
	out, err := canon.Append(nil, text, canon.DBL)
	if err != nil {
		return canon.Value{}, err
	}
	return canon.ParseAs(canon.DBL, out)
}

// messagesOf gives the model messages of an assembled context.
func messagesOf(assembled []byte) finding.Value {
	v, err := thread.Read(assembled)
	if err != nil {
		return nil
	}
	messages, _ := v.Get("model_messages")
	return finding.Value(messages.Raw())
}
