package orket

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
)

// signature holds the members that a determinism trace has and the files beside it do not. One that names the schema
// decides at once; of the others three are asked for, so that a trace with a missing field is still recognised.
var signature = []string{
	"workflow_id", "memory_snapshot_id", "visibility_mode", "model_config_id", "policy_set_id", "events", "output",
}

const enough = 3

var errFound = errors.New("found")

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
	if err == nil {
		err = src.End() // what is no JSON at all is told so, not that nobody knows it
	}
	if err != nil {
		return false, syntax(f.Path, err)
	}
	return false, nil
}

// turnFolder says that a name is that of a turn's folder: three digits or more, an underscore, the role (orket.md §1).
func turnFolder(name string) bool {
	digits := strings.IndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	return digits >= 3 && name[digits] == '_'
}

// Find lists the determinism traces of a tree. A file is taken for what its name says it should be, or its content says
// it is; a file that should be a trace and is damaged is therefore never passed over.
func (Reader) Find(root string, o dialect.Options) (*dialect.Tree, error) {
	tree := &dialect.Tree{}
	var retrievals []string
	taken := map[string]bool{}
	// The separator at the end makes a root that is a link the folder it points to.
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return dialect.Unreadable(filepath.Clean(path), err)
		}
		if d.IsDir() {
			if slices.Contains(o.Skip, filepath.Clean(path)) {
				return fs.SkipDir
			}
			return nil
		}
		if link, err := dialect.LinkToFolder(root, path, d); link {
			tree.Skipped = append(tree.Skipped, path)
			return err
		}
		kind, err := kindOf(path, d, o)
		if err != nil {
			return err
		}
		switch kind {
		case KindTrace:
			run, key := place(root, path)
			if taken[run+"/"+key] {
				key += "/" + d.Name() // a compressed copy beside the trace
			}
			taken[run+"/"+key] = true
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

func jsonName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz")
}

// companions are files that an Orket turn leaves beside its trace and that are no evidence of their own (orket.md §1).
var companions = []string{"checkpoint.json", "parsed_tool_calls.json"}

// kindOf gives the kind of a file; "" for one that is no evidence.
func kindOf(path string, d fs.DirEntry, o dialect.Options) (string, error) {
	name := d.Name()
	switch {
	case !jsonName(name), slices.Contains(companions, name):
		return "", nil
	case strings.Contains(name, "memory_retrieval_trace"):
		return KindRetrieval, nil
	case strings.Contains(name, "memory_trace"):
		return KindTrace, nil
	}
	if _, ok := resultKey(name); ok {
		return KindToolResult, nil
	}
	f, err := dialect.ReadFile(path, o.Stdin, o.Limit)
	if err != nil {
		return "", err
	}
	if is, err := (Reader{}).Detect(f); err != nil {
		if bytes.Contains(f.Data, []byte(`"determinism_trace_schema_version"`)) {
			return KindTrace, nil
		}
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
	beside := make(map[string]bool, len(entries))
	for _, e := range entries {
		beside[retrievalName(e.Path)] = true
	}
	return slices.DeleteFunc(retrievals, func(path string) bool { return beside[path] })
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
	rel = strings.TrimSuffix(rel, ".gz") // compressed or not, it is the same trace (CONTRACT C1)
	parts := strings.Split(filepath.ToSlash(rel), "/")
	folders, name := parts[:len(parts)-1], parts[len(parts)-1]
	n := len(folders)
	if n == 0 || !turnFolder(folders[n-1]) {
		return "", filepath.ToSlash(rel)
	}
	from := max(0, n-2)
	key = strings.Join(folders[from:], "/")
	if name != "memory_trace.json" {
		key += "/" + name
	}
	return strings.Join(folders[:from], "/"), key
}
