package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// TicksPerDay is the length of a day in ticks of 100 ns.
const TicksPerDay = 24 * 60 * 60 * 10_000_000

// Ticks gives a time in units of 100 ns since 0001-01-01T00:00:00Z (CONTRACT P4).
func Ticks(t time.Time) int64 {
	const epoch = 621_355_968_000_000_000 // 1970-01-01
	return epoch + t.Unix()*10_000_000 + int64(t.Nanosecond())/100
}

// Retention says how long runs are kept (CONTRACT V4).
type Retention struct {
	Now      int64             // ticks
	Policies *memory.PolicySet // nil: each run's own
	Days     int               // for lanes that the policies do not name
}

// Fate is what becomes of one run, and why.
type Fate struct {
	Dir  string
	Keep bool
	Why  string
}

// candidate is a run as retention sees it.
type candidate struct {
	fate    Fate
	chained bool // it is a run of a chain, or may be one
}

// Judge says for each run whether it is kept. What is not known to be old enough is kept, and so is a chain of which one run
// is kept, since the others lead to it.
func (r Retention) Judge(dirs []string) []Fate {
	candidates := make([]candidate, len(dirs))
	kept := map[string]string{} // by the folder of a chain
	for i, dir := range dirs {
		c := r.judge(dir)
		candidates[i] = c
		if c.chained && c.fate.Keep {
			kept[filepath.Dir(filepath.Clean(dir))] = filepath.Base(dir)
		}
	}
	fates := make([]Fate, len(dirs))
	for i, c := range candidates {
		fates[i] = c.fate
		if last, ok := kept[filepath.Dir(filepath.Clean(c.fate.Dir))]; ok && c.chained && !c.fate.Keep {
			fates[i].Keep, fates[i].Why = true, c.fate.Why+", and "+last+" of its chain is kept"
		}
	}
	return fates
}

func (r Retention) judge(dir string) candidate {
	c := candidate{fate: Fate{Dir: dir, Keep: true}, chained: true}
	f, err := dialect.ReadFile(filepath.Join(dir, ManifestFile), nil, 0)
	if err != nil {
		c.fate.Why = "its manifest cannot be read: its age is not known"
		return c
	}
	manifest, err := canon.Parse(f.Data)
	doc := trace.Document{Value: manifest}
	if version := doc.Field("/schema_version"); err == nil && !version.Is(SchemaVersion) {
		c.fate.Why = "its manifest states no version that is known: its age is not known"
		return c
	}
	created, ok := canon.Integer(doc.Field("/created_ticks").Raw)
	lane := doc.Field("/lane/name")
	flag := doc.Field("/lane/deterministic")
	if err != nil || !ok || created == 0 || !lane.Ok() || string(flag.Raw) != "true" && string(flag.Raw) != "false" {
		c.fate.Why = "its manifest states no lane or no time: its age is not known"
		return c
	}
	_, c.chained = manifest.Get("chain")
	if strange := Stranger(dir); strange != "" {
		c.fate.Why = "it holds " + strange + ", which no run has: nothing of others is removed"
		return c
	}
	policies := r.Policies
	if policies == nil {
		policies = ownPolicies(dir)
	}
	deterministic := string(flag.Raw) == "true"
	days := policies.Keep(lane.Text(), deterministic, r.Days)
	if r.Now < created {
		c.fate.Why = "it was recorded after the time of this clock"
		return c
	}
	age := int((r.Now - created) / TicksPerDay) // a day that is not over does not count
	c.fate.Keep = age < days
	c.fate.Why = fmt.Sprintf("lane %s is kept for %s, and it is %s old", lane.Text(), finding.Counted(days, "day"), finding.Counted(age, "day"))
	if deterministic {
		c.fate.Why = "deterministic " + c.fate.Why
	}
	return c
}

// ownPolicies gives the policy set that the run was recorded under; one that says nothing where it cannot be read.
func ownPolicies(dir string) *memory.PolicySet {
	f, err := dialect.ReadFile(filepath.Join(dir, PoliciesFile), nil, 0)
	if err != nil {
		return &memory.PolicySet{}
	}
	set, err := memory.ReadPolicySet(f.Data, memory.AnyHook)
	if err != nil {
		return &memory.PolicySet{}
	}
	return set
}

// Stranger names something in the folder of a run that no run has; "" where there is nothing.
func Stranger(dir string) string {
	for _, folder := range []string{"", traceParts, retrievalParts} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "a folder that cannot be listed"
		}
		for _, e := range entries {
			name := filepath.ToSlash(filepath.Join(folder, e.Name()))
			isParts := e.IsDir() && (name == traceParts || name == retrievalParts)
			if !isParts && (e.IsDir() || !known(name) && name != ManifestFile && name != Unfinished) {
				return name
			}
		}
	}
	return ""
}

// Remove removes a run. The manifest goes first, so that a removal that is cut off leaves a run that says it is cut short;
// what no run has is left, and is an error.
func Remove(dir string) error {
	names := []string{ManifestFile, Unfinished}
	for _, k := range kinds {
		names = append(names, k.name)
	}
	for _, folder := range []string{traceParts, retrievalParts} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if name := folder + "/" + e.Name(); known(name) {
				names = append(names, name)
			}
		}
		names = append(names, folder)
	}
	for _, name := range slices.Concat(names, []string{""}) {
		err := os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
