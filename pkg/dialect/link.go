package dialect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dmpl/dmpl/pkg/finding"
)

// LinkToFolder says that an entry of a tree is a link to a folder, which no search follows. One that leads out of the tree is a
// [Problem]: evidence that was not looked at must not pass in silence, and foreign evidence must not choose what is read. What a
// link inside the tree points to is found where it lies.
func LinkToFolder(root, path string, d fs.DirEntry) (bool, error) {
	if d.Type()&fs.ModeSymlink == 0 {
		return false, nil
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return false, nil
	}
	folder, errFolder := resolved(root)
	target, errTarget := resolved(path)
	rel, errRel := filepath.Rel(folder, target)
	if errors.Join(errFolder, errTarget, errRel) == nil && filepath.IsLocal(rel) {
		return true, nil
	}
	return true, &Problem{
		Code: finding.InputNotAFile, Path: path, Offset: -1, Detail: "is a link to a folder outside the one given, and is not followed",
	}
}

func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}
