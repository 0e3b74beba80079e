package orket

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// ReadProfiles reads every tool profile (memory.tool_profile.v1) of a folder. A file that is no valid profile, or a
// profile that is there twice, is a [dialect.Problem]: a profile left out in silence would change verdicts.
func ReadProfiles(dir string, limit int64) (trace.Profiles, []finding.Input, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, unusable(dir, "cannot list the folder of tool profiles")
	}
	profiles, inputs := trace.Profiles{}, []finding.Input(nil)
	for _, file := range files {
		if !isProfileFile(file) {
			continue
		}
		f, err := dialect.ReadFile(filepath.Join(dir, file.Name()), nil, limit)
		if err != nil {
			return nil, nil, err
		}
		profile, err := readProfile(f)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range profiles {
			if p.Name == profile.Name && p.Version == profile.Version {
				return nil, nil, unusable(f.Path, fmt.Sprintf("%s %s is also in %s", p.Name, p.Version, p.Path))
			}
		}
		profiles = append(profiles, *profile)
		inputs = append(inputs, f.Input(Name, KindProfile, true))
	}
	if len(profiles) == 0 {
		return nil, nil, unusable(dir, "holds no tool profile (*.json)")
	}
	return profiles, inputs, nil
}

func isProfileFile(file fs.DirEntry) bool {
	return !file.IsDir() && strings.HasSuffix(file.Name(), ".json")
}

func readProfile(f *dialect.File) (*trace.ToolProfile, error) {
	profile, findings, err := shape.ReadProfile(f.Path, f.Data)
	if err != nil {
		return nil, syntax(f.Path, err)
	}
	if len(findings) > 0 {
		first := findings[0]
		return nil, &dialect.Problem{Code: first.Code, Path: f.Path, Offset: -1, Pointer: first.Pointer, Detail: "tool profile: " + first.Detail}
	}
	return profile, nil
}

func unusable(path, detail string) error {
	return &dialect.Problem{Code: finding.InputUnreadable, Path: path, Offset: -1, Detail: detail}
}
