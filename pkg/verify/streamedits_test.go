package verify_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread/threadtest"
)

// X2, X4, X6: the rules alone give the codes that edits.json states for the command.
func TestEachEditOfAStreamGivesItsCodes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(streamFolder, "edits.json"))
	if err != nil {
		t.Fatal(err)
	}
	var edits []struct {
		What, Stream string
		Edits        []threadtest.Edit
		Repair       bool
		Codes        []finding.Code
	}
	if err := json.Unmarshal(text, &edits); err != nil || len(edits) < 30 {
		t.Fatalf("%d edits: %v", len(edits), err)
	}
	for _, e := range edits {
		dir := filepath.Join(streamFolder, "streams", e.Stream)
		changed := threadtest.Load(t, filepath.Join(dir, "snapshot.json")).Apply(e.Edits...)
		if e.Repair {
			changed.Repair()
		}
		var codes []finding.Code
		for _, f := range errorsOf(verifyStream(t, changed.Write(), contextConfig(t, dir))) {
			codes = append(codes, f.Code)
		}
		slices.Sort(codes)
		if codes = slices.Compact(codes); !slices.Equal(codes, e.Codes) {
			t.Errorf("%s: %q, want %q", e.What, codes, e.Codes)
		}
	}
}
