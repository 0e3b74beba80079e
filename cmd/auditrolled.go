package cmd

import (
	"path/filepath"
	"regexp"
	"slices"
	"sync"
)

// rolledName is the name of a file of a rolling log: prefix, time and number (llamabrain.md §9).
var rolledName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)-[0-9]{8}-[0-9]{6}-[0-9]{3,}\.jsonl$`) })

// rolled joins the files of a rolling log: those of one folder and prefix are one log, in the order of their names. Its path is
// their pattern, or that of the only file.
func rolled(files []auditFile) []auditFile {
	var all []auditFile
	at := map[string]int{}
	for _, f := range files {
		prefix := rolledName().FindStringSubmatch(filepath.Base(f.path))
		if !f.hasRecords() || prefix == nil {
			all = append(all, f)
			continue
		}
		f.log = filepath.Join(filepath.Dir(f.path), prefix[1]+"-*.jsonl")
		i, there := at[f.log]
		if !there {
			i = len(all)
			at[f.log], all = i, append(all, f)
		}
		all[i].parts = append(all[i].parts, f.path)
	}
	for i := range all {
		slices.Sort(all[i].parts)
		if len(all[i].parts) > 1 {
			all[i].path = all[i].log
		}
	}
	return all
}

// files gives the paths of what is read.
func (f auditFile) files() []string {
	if len(f.parts) > 0 {
		return f.parts
	}
	return []string{f.path}
}

// name is what the file is called in every copy of its folder: a rolled log has another time in its names each time.
func (f auditFile) name() string {
	if f.log != "" {
		return f.log
	}
	return f.path
}
