package finding_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
)

func at(code finding.Code, index int) finding.Finding {
	f := finding.New(code)
	f.Artifact, f.EventIndex, f.Pointer, f.Actual, f.Detail = "a.json", index, "/events", finding.Value("1"), "d"
	return f
}

func more(code finding.Code, index int, detail string) finding.Finding {
	f := finding.New(code)
	f.Artifact, f.EventIndex, f.Detail = "a.json", index, detail
	return f
}

// V6: what is not listed is counted by code, so that its effect on the verdict stays.
func TestListCountsWhatItDoesNotList(t *testing.T) {
	var l finding.List
	if got := l.All(); len(got) != 0 {
		t.Errorf("an empty list gives %v", got)
	}
	var want []finding.Finding
	for i := range finding.MostListed {
		want = append(want, at(finding.StreamEventDigest, i))
		l.Add(want[i])
	}
	if got := l.All(); !reflect.DeepEqual(got, want) {
		t.Errorf("a full list gives %d findings", len(got))
	}
	for _, f := range []finding.Finding{
		at(finding.StreamEventDigest, 20_000), at(finding.StreamDiffConfiguration, 30_000), at(finding.StreamEventDigest, 15_000), at(finding.StreamEventDigest, 40_000),
	} {
		l.Add(f)
	}
	want = append(want,
		more(finding.StreamEventDigest, 15_000, "3 more of this kind are not listed"),
		more(finding.StreamDiffConfiguration, 30_000, "1 more of this kind are not listed"))
	if got := l.All(); !reflect.DeepEqual(got, want) {
		t.Errorf("the end is %+v", got[finding.MostListed:])
	}
	r := finding.Result{Findings: l.All()}
	if r.Judge(true); r.Verdict != finding.Undecided {
		t.Errorf("what is not comparable and not listed: %s", r.Verdict) // E2
	}
}

func TestListsJoin(t *testing.T) {
	var l, other finding.List
	for i := range finding.MostListed {
		l.Add(at(finding.StreamCanonLen, i))
		other.Add(at(finding.StreamCanonLen, i+1))
	}
	other.Add(at(finding.StreamVDigest, 5))
	other.Add(at(finding.StreamCanonLen, 7))
	l.Join(other)
	want := []finding.Finding{
		more(finding.StreamCanonLen, 1, "10001 more of this kind are not listed"), more(finding.StreamVDigest, 5, "1 more of this kind are not listed"),
	}
	if got := l.All()[finding.MostListed:]; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	var whole finding.List
	whole.Join(l)
	if !reflect.DeepEqual(whole.All(), l.All()) {
		t.Error("joined to nothing, a list is another one")
	}
}

// Large values fill a list sooner.
func TestListIsBoundedInBytes(t *testing.T) {
	var l finding.List
	large := at(finding.StreamRefDigest, 1)
	large.Expected = finding.Value(`"` + strings.Repeat("x", 9<<20) + `"`)
	for range 3 {
		l.Add(large)
	}
	if got, want := l.All(), []finding.Finding{large, more(finding.StreamRefDigest, 1, "2 more of this kind are not listed")}; !reflect.DeepEqual(got, want) {
		t.Errorf("%d findings", len(got))
	}
	if !slices.EqualFunc(l.All(), l.All(), func(a, b finding.Finding) bool { return reflect.DeepEqual(a, b) }) {
		t.Error("asked twice, a list gives another answer")
	}
}
