package pkg_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/cover"
)

const (
	coveragePg  = "../docs/coverage.md"
	leastTenths = 920 // of the statements of a deterministic package, in tenths of a percent
)

var coverProfile = flag.String("house.coverprofile", "", "write docs/coverage.md from this `profile` of go test")

// covered counts the statements of one package.
type covered struct{ run, all int }

// tenths gives tenths of a percent, rounded down, so that no package is lifted over the bar.
func (c covered) tenths() int { return c.run * 1000 / c.all }

// coverage adds up a profile by directory.
func coverage(profiles []*cover.Profile) map[string]covered {
	byDir := map[string]covered{}
	for _, profile := range profiles {
		dir := strings.TrimPrefix(strings.TrimPrefix(path.Dir(profile.FileName), module), "/")
		if dir == "" {
			dir = "main"
		}
		c := byDir[dir]
		for _, block := range profile.Blocks {
			c.all += block.NumStmt
			if block.Count > 0 {
				c.run += block.NumStmt
			}
		}
		byDir[dir] = c
	}
	return byDir
}

// coveragePage writes one row for each package; one without statements has no percentage.
func coveragePage(dirs []string, byDir map[string]covered, rows table) []byte {
	var b bytes.Buffer
	b.WriteString("# Coverage\n\nWritten by `make cover`: the statements of each package that its own tests run. Deterministic packages stay at " +
		"92 % or\nabove; `make test` fails when a package is missing here or such a package stands below.\n\n" +
		"| package | deterministic | statements | covered |\n|---|---|---|---|\n")
	for _, dir := range dirs {
		name, _ := rows.rowOf(dir)
		c, percent := byDir[dir], "–"
		if c.all > 0 {
			percent = fmt.Sprintf("%d.%d %%", c.tenths()/10, c.tenths()%10)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s |\n", dir, map[bool]string{true: "yes"}[rows[name].deterministic], c.all, percent)
	}
	return b.Bytes()
}

var coverageLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (yes)? ?\\| (\\d+) \\| (?:–|(\\d+)\\.(\\d) %) \\|$")

// coverageComplaints holds the page to the packages that there are, and deterministic packages to the least coverage.
func coverageComplaints(page string, dirs []string) []string {
	var complaints []string
	seen := map[string]bool{}
	for _, cells := range coverageLine.FindAllStringSubmatch(page, -1) {
		dir := cells[1]
		seen[dir] = true
		if !slices.Contains(dirs, dir) {
			complaints = append(complaints, dir+" is on the coverage page and does not exist")
		}
		percent, _ := strconv.Atoi(cells[4])
		tenth, _ := strconv.Atoi(cells[5])
		if cells[2] == "yes" && cells[4] != "" && percent*10+tenth < leastTenths {
			complaints = append(complaints, fmt.Sprintf("%s is deterministic and covered to %d.%d %%, below %d %%", dir, percent, tenth, leastTenths/10))
		}
	}
	for _, dir := range dirs {
		if !seen[dir] {
			complaints = append(complaints, dir+" is not on the coverage page: `make cover` writes it")
		}
	}
	return complaints
}

func TestCoverageIsKnownAndSufficient(t *testing.T) {
	byDir, err := packageFiles(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	delete(byDir, ".") // main holds one statement, which no test of its own can run
	dirs := slices.Sorted(maps.Keys(byDir))
	if *coverProfile != "" {
		profiles, err := cover.ParseProfiles(*coverProfile)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(coveragePg, coveragePage(dirs, coverage(profiles), houseTable(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(coveragePg)
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range coverageComplaints(string(page), dirs) {
		t.Error(complaint)
	}
}

func TestCoveragePageIsReadAsItIsWritten(t *testing.T) {
	profiles := []*cover.Profile{
		{FileName: module + "/pkg/canon/a.go", Blocks: []cover.ProfileBlock{{NumStmt: 9196, Count: 2}, {NumStmt: 804}}},
		{FileName: module + "/pkg/report/a.go", Blocks: []cover.ProfileBlock{{NumStmt: 1}}},
		{FileName: module + "/pkg/trace/a.go", Blocks: []cover.ProfileBlock{{NumStmt: 23, Count: 1}}},
		{FileName: module + "/pkg/trace/b.go", Blocks: []cover.ProfileBlock{{NumStmt: 2}}},
	}
	dirs := []string{"pkg/canon", "pkg/report", "pkg/trace", "schemas"}
	page := string(coveragePage(dirs, coverage(profiles), houseTable(t)))
	for _, line := range []string{
		"| `pkg/canon` | yes | 10000 | 91.9 % |\n", "| `pkg/report` |  | 1 | 0.0 % |\n",
		"| `pkg/trace` | yes | 25 | 92.0 % |\n", "| `schemas` |  | 0 | – |\n",
	} {
		if !strings.Contains(page, line) {
			t.Errorf("no line %q in\n%s", line, page)
		}
	}
	got := coverageComplaints(page, []string{"pkg/canon", "pkg/report", "pkg/verify", "schemas"})
	want := []string{
		"pkg/canon is deterministic and covered to 91.9 %, below 92 %",
		"pkg/trace is on the coverage page and does not exist",
		"pkg/verify is not on the coverage page: `make cover` writes it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
