package orket

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
)

// signature holds the members that a determinism trace has and the files beside it do not. One that names the schema
// decides at once; of the others three are asked for, so that a trace with a missing field is still recognised.
var signature = []string{
	"workflow_id", "memory_snapshot_id", "visibility_mode", "model_config_id", "policy_set_id", "events", "output",
}

const enough = 3

// Detect looks at the content, not at the name.
func (Reader) Detect(f *dialect.File) (bool, error) {
	return sniff(f, "determinism_trace_schema_version", signature, enough)
}

func detectRetrieval(f *dialect.File) (bool, error) {
	return sniff(f, "retrieval_trace_schema_version", []string{"retrieval_event_id"}, 1)
}

// sniff reads top-level names until it knows. A list is looked at through its first element.
func sniff(f *dialect.File, decisive string, hints []string, enough int) (bool, error) {
	src := canon.NewReader(f.Data)
	seen := 0
	names := func(name []byte) error {
		if slices.Contains(hints, string(name)) {
			seen++
		}
		if string(name) == decisive || seen >= enough {
			return errFound
		}
		_, err := src.Skip()
		return err
	}
	var err error
	switch src.Kind() {
	case canon.Object:
		err = src.Members(names)
	case canon.Array:
		err = src.Elements(func(i int) error {
			if i > 0 || src.Kind() != canon.Object {
				_, err := src.Skip()
				return err
			}
			return src.Members(names)
		})
	default:
		_, err = src.Skip()
	}
	if errors.Is(err, errFound) {
		return true, nil
	}
	if err != nil {
		return false, syntax(f.Path, err)
	}
	return false, nil
}

// turnFolder is the last element of a turn's path (orket.md §1).
var turnFolder = regexp.MustCompile(`^[0-9]{3,}_`)

// Find lists the determinism traces of a tree. A file is taken for what its name says it should be, or its content says
// it is; a file that should be a trace and is damaged is therefore never passed over.
func (Reader) Find(root string, o dialect.Options) (*dialect.Tree, error) {
	tree := &dialect.Tree{}
	var retrievals []string
	// The separator makes a root that is a link the folder that it names.
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return &dialect.Problem{Code: finding.InputUnreadable, Path: filepath.Clean(path), Offset: -1, Detail: err.Error()}
		}
		if linkedFolder(path, d) {
			tree.Skipped = append(tree.Skipped, path)
			return nil
		}
		if d.IsDir() || !jsonName(d.Name()) {
			return nil
		}
		kind, err := kindOf(path, d, o)
		if err != nil {
			return err
		}
		switch kind {
		case KindTrace:
			run, key := place(root, path)
			tree.Entries = append(tree.Entries, dialect.Entry{Path: path, Key: key})
			if !slices.Contains(tree.Runs, run) {
				tree.Runs = append(tree.Runs, run)
			}
		case KindRetrieval:
			retrievals = append(retrievals, path)
		case "":
			tree.Skipped = append(tree.Skipped, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tree.Orphans = orphans(tree.Entries, retrievals)
	markShared(tree)
	return tree, nil
}

// linkedFolder says that an entry is a link to a folder: links below the root could lead anywhere, and are not followed.
func linkedFolder(path string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func jsonName(name string) bool {
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz")
}

// companions are files that an Orket turn leaves beside its trace and that are no evidence of their own.
const kindCompanion = "companion"

var companions = []string{"checkpoint.json", "parsed_tool_calls.json"}

func kindOf(path string, d fs.DirEntry, o dialect.Options) (string, error) {
	name := d.Name()
	switch {
	case strings.Contains(name, "memory_retrieval_trace"):
		return KindRetrieval, nil
	case strings.Contains(name, "memory_trace"):
		return KindTrace, nil
	case slices.Contains(companions, name):
		return kindCompanion, nil
	}
	if _, ok := resultKey(name); ok {
		return KindToolResult, nil
	}
	f, err := dialect.ReadFile(path, o.Stdin, o.Limit)
	if err != nil {
		return "", err
	}
	if is, err := (Reader{}).Detect(f); err != nil {
		return "", nil //nolint:nilerr // a file that does not look like evidence may be anything
	} else if is {
		return KindTrace, nil
	}
	if is, err := detectRetrieval(f); err == nil && is {
		return KindRetrieval, nil
	}
	return "", nil
}

// orphans gives the retrieval traces that no trace lies beside.
func orphans(entries []dialect.Entry, retrievals []string) []string {
	var alone []string
	for _, path := range retrievals {
		if !slices.ContainsFunc(entries, func(e dialect.Entry) bool { return retrievalName(e.Path) == path }) {
			alone = append(alone, path)
		}
	}
	return alone
}

// markShared finds the traces that do not have their folder for themselves.
func markShared(tree *dialect.Tree) {
	perFolder := map[string]int{}
	for _, e := range tree.Entries {
		perFolder[filepath.Dir(e.Path)]++
	}
	for i := range tree.Entries {
		tree.Entries[i].Shared = perFolder[filepath.Dir(tree.Entries[i].Path)] > 1
	}
}

// place splits a trace's path into the run (session) that it belongs to and the key that names it in every run: in
// Orket's layout `<session>` and `<issue>/<NNN>_<role>` (orket.md §1), else "" and the path below the root.
func place(root, path string) (run, key string) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		rel = path
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	folders, name := parts[:len(parts)-1], parts[len(parts)-1]
	n := len(folders)
	if n == 0 || !turnFolder.MatchString(folders[n-1]) {
		return "", filepath.ToSlash(rel)
	}
	from := max(0, n-2)
	key = strings.Join(folders[from:], "/")
	if name != "memory_trace.json" {
		key += "/" + name
	}
	return strings.Join(folders[:from], "/"), key
}
