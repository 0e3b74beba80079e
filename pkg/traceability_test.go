package pkg_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/golden"
)

// finished are the clauses whose work is done: each needs a file that implements it and a test that holds it.
var finished = []string{
	"C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10",
	"D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9",
	"V0", "V1", "V2", "V3", "V4", "V5", "V6",
	"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10", "E11", "E12",
	"X1", "X2", "X3", "X4", "X5", "X6", "X7", "X8",
	"M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M9", "M10", "M11",
	"P1", "P2", "P3", "P4", "P5", "P6", "P7",
	"R1", "R2", "R3", "R4", "R5", "R6", "R7",
	"Z1", "Z2", "Z3", "Z4", "Z5",
}

// tracePage writes the page of all clauses that are finished or cited, in the order of the contract.
func tracePage(traces map[string]*trace) []byte {
	var b bytes.Buffer
	b.WriteString("# Traceability\n\nWritten by `make docs` from the comments of the code, the names and comments of the tests, and the `rule` of\n" +
		"each fixture. A clause marked *finished* needs a file that implements it and a test that holds it; `make check` fails\n" +
		"where one is missing and where this page is stale.\n")
	for _, part := range partOrder {
		for n := range lastClause[string(part)] + 1 {
			id := string(part) + strconv.Itoa(n)
			done := slices.Contains(finished, id)
			t := traces[id]
			if t == nil && !done {
				continue
			}
			if t == nil {
				t = &trace{}
			}
			fmt.Fprintf(&b, "\n## %s%s\n\n", id, map[bool]string{true: " (finished)"}[done])
			writeList(&b, "files", t.files)
			writeList(&b, "tests", t.tests)
			writeList(&b, "fixtures", t.fixtures)
		}
	}
	return b.Bytes()
}

func writeList(b *bytes.Buffer, title string, items []string) {
	slices.Sort(items)
	if len(items) == 0 {
		items = []string{"none"}
	}
	fmt.Fprintf(b, "- %s: %s\n", title, strings.Join(items, ", "))
}

// unproved names the finished clauses without a file or without a test.
func unproved(traces map[string]*trace) []string {
	var complaints []string
	for _, id := range finished {
		t := traces[id]
		if t == nil {
			t = &trace{}
		}
		if len(t.files) == 0 {
			complaints = append(complaints, id+" is finished work and no file cites it")
		}
		if len(t.tests) == 0 {
			complaints = append(complaints, id+" is finished work and no test cites it")
		}
	}
	return complaints
}

func TestTraceabilityPage(t *testing.T) {
	traces, err := traceability(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "../docs/traceability.md", tracePage(traces))
}

func TestFinishedClauseHasAFileAndATest(t *testing.T) {
	traces, err := traceability(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range unproved(traces) {
		t.Error(complaint)
	}
}
