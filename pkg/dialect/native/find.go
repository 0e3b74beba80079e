package native

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/run"
)

// Find lists the runs of a tree, in the order of their paths. The path of an entry is the run's manifest, or its folder where
// there is none. A run of a chain is named by the chain's folder and its place, others by their folder. Links are not followed.
func (Reader) Find(root string, o dialect.Options) (*dialect.Tree, error) {
	tree := &dialect.Tree{}
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return dialect.Unreadable(filepath.Clean(path), err)
		}
		if !d.IsDir() {
			_, err := dialect.LinkToFolder(root, path, d)
			return err
		}
		if !IsRun(path) {
			return nil
		}
		dir := filepath.Clean(path)
		entry := dialect.Entry{Path: dir, Key: keyOf(root, dir)}
		if exists(dir, run.ManifestFile) {
			entry.Path = filepath.Join(dir, run.ManifestFile)
		}
		tree.Entries = append(tree.Entries, entry)
		return fs.SkipDir
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(tree.Entries, func(a, b dialect.Entry) int {
		return slices.CompareFunc(elements(a.Path), elements(b.Path), cmp.Compare[string])
	})
	return tree, nil
}

func elements(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }

// keyOf names a run so that the same run of another tree has the same name (CONTRACT P6).
func keyOf(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		rel = dir
	}
	if index, ok := Link(dir); ok {
		return filepath.ToSlash(filepath.Join(filepath.Dir(rel), fmt.Sprintf("link %04d", index)))
	}
	return filepath.ToSlash(rel)
}

// Folder gives the folder of a run by the path of its entry.
func Folder(path string) string {
	if filepath.Base(path) == run.ManifestFile {
		return filepath.Dir(path)
	}
	return path
}

// Link gives the place that the run in a folder states in a chain.
func Link(dir string) (int64, bool) {
	f, err := dialect.ReadFile(filepath.Join(dir, run.ManifestFile), nil, 0)
	if err != nil {
		return 0, false
	}
	manifest, err := canon.Parse(f.Data)
	if err != nil {
		return 0, false
	}
	index, ok := manifest.At("/chain/index")
	n, isInt := canon.Integer(index.Raw())
	return n, ok && isInt && n >= 0
}
