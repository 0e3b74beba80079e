package canon_test

import (
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

// C5: the reader tells where the last number stands that json-v1 refuses, and reads on.
func TestReaderTellsOfNumbersBeyondJSONv1(t *testing.T) {
	nines := strings.Repeat("9", 309)
	tests := []struct {
		document string
		beyond   int
	}{
		{`[1,2.5,"1e400"]`, 0},
		{`[1e308,-9.9e308]`, 0},
		{`[1e309,1]`, len(`[1e309`)},
		{`[1,-1E+400]`, len(`[1,-1E+400`)},
		{`[0e999,0.0e400]`, 0},
		{`[` + nines + `.5]`, 0},
		{`[9` + nines + `.5]`, len(`[9` + nines + `.5`)},
		{`[9` + nines + `]`, 0}, // C4: an integer is exact at any size
	}
	for _, tt := range tests {
		r := canon.NewReader([]byte(tt.document))
		if _, err := r.Skip(); err != nil {
			t.Fatal(err)
		}
		if r.Beyond() != tt.beyond {
			t.Errorf("%.30s: beyond %d, want %d", tt.document, r.Beyond(), tt.beyond)
		}
	}
}
