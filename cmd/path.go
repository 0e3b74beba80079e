package cmd

import (
	"path/filepath"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
)

// showPaths makes the paths of a report the same on every machine (CONTRACT Z4). Typed are the paths of the command line.
func (a *App) showPaths(r *finding.Report, typed []string) {
	for i := range r.Results {
		result := &r.Results[i]
		result.Name = a.shown(result.Name, typed)
		for j := range result.Inputs {
			in := &result.Inputs[j]
			in.Path = a.shown(in.Path, typed)
		}
		for j := range result.Findings {
			f := &result.Findings[j]
			f.Artifact, f.RightArtifact = a.shown(f.Artifact, typed), a.shown(f.RightArtifact, typed)
		}
	}
}

// shown gives a path as typed, with /; an absolute one relative to the working directory, else from the last element of
// what was typed on (CONTRACT Z4).
func (a *App) shown(path string, typed []string) string {
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(path)
	}
	if rel, ok := below(a.Dir, path); ok {
		return rel
	}
	for _, root := range typed {
		if rel, ok := below(root, path); ok {
			return relative(filepath.Join(filepath.Base(root), rel))
		}
	}
	return relative(filepath.Base(path))
}

// below gives the path from a folder to what lies in it.
func below(folder, path string) (string, bool) {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// relative takes off the root that is its own last element.
func relative(path string) string {
	path = strings.TrimLeft(filepath.ToSlash(path), "/")
	if path == "" {
		return "."
	}
	return path
}
