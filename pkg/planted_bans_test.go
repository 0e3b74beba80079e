package pkg_test

// in puts a statement into a function of a package that may import what it needs.
func in(pkg, importPath, statement string) string {
	return "package " + pkg + "\n\nimport \"" + importPath + "\"\n\nfunc _(m map[string]int) {\n\t" + statement + "\n}\n"
}

var plantedBans = []planted{
	{
		"os", "pkg/jsondiff/os.go", "package jsondiff\n\nimport _ \"os\"\n",
		[]string{"pkg/jsondiff/os.go:3: jsondiff is deterministic and must not import os"},
	},
	{
		"below os", "pkg/jsondiff/exec.go", "package jsondiff\n\nimport _ \"os/exec\"\n",
		[]string{"pkg/jsondiff/exec.go:3: jsondiff is deterministic and must not import os/exec"},
	},
	{
		"net", "pkg/memory/net.go", "package memory\n\nimport _ \"net\"\n",
		[]string{"pkg/memory/net.go:3: memory is deterministic and must not import net"},
	},
	{
		"math/rand", "pkg/trace/chance.go", "package trace\n\nimport _ \"math/rand\"\n",
		[]string{"pkg/trace/chance.go:3: trace is deterministic and must not import math/rand"},
	},
	{
		"math/rand/v2", "pkg/trace/chance2.go", "package trace\n\nimport _ \"math/rand/v2\"\n",
		[]string{"pkg/trace/chance2.go:3: trace is deterministic and must not import math/rand/v2"},
	},
	{
		"crypto/rand", "pkg/thread/chance.go", "package thread\n\nimport _ \"crypto/rand\"\n",
		[]string{"pkg/thread/chance.go:3: thread is deterministic and must not import crypto/rand"},
	},
	{
		"a UUID maker", "pkg/equiv/id.go", "package equiv\n\nimport _ \"github.com/dmpl/dmpl/pkg/googleuuid\"\n",
		[]string{"pkg/equiv/id.go:3: equiv is deterministic and must not make ids with github.com/dmpl/dmpl/pkg/googleuuid"},
	},
	{"the UUID maker itself, which is no deterministic package", "pkg/googleuuid/a.go", "package googleuuid\n", nil},
	{
		"time.Now", "pkg/verify/now.go", in("verify", "time", "_ = time.Now()"),
		[]string{"pkg/verify/now.go:6: time.Now: time is an input"},
	},
	{
		"time.Now under another name", "pkg/verify/alias.go", "package verify\n\nimport clock \"time\"\n\nvar now = clock.Now\n",
		[]string{"pkg/verify/alias.go:5: time.Now: time is an input"},
	},
	{
		"time.Since", "pkg/verify/since.go", in("verify", "time", "_ = time.Since(time.Time{})"),
		[]string{"pkg/verify/since.go:6: time.Since: time is an input"},
	},
	{
		"time.Until", "pkg/verify/until.go", in("verify", "time", "_ = time.Until(time.Time{})"),
		[]string{"pkg/verify/until.go:6: time.Until: time is an input"},
	},
	{
		"time.Local", "pkg/verify/local.go", in("verify", "time", "_ = time.Local"),
		[]string{"pkg/verify/local.go:6: time.Local: time is an input"},
	},
	{
		"the method Local", "pkg/verify/zone.go", in("verify", "time", "_ = time.Time{}.Local()"),
		[]string{"pkg/verify/zone.go:6: (time.Time).Local: time is an input"},
	},
	{"time as a value", "pkg/verify/utc.go", in("verify", "time", "_ = time.Unix(0, 0).UTC()"), nil},
	{
		"range over a map", "pkg/replay/walk.go", "package replay\n\nfunc _(m map[string]int) {\n\tfor range m {\n\t}\n}\n",
		[]string{"pkg/replay/walk.go:4: range over a map: map order is random"},
	},
	{
		"range over a named map", "pkg/replay/named.go", "package replay\n\ntype set map[string]int\n\nfunc _(s set) {\n\tfor range s {\n\t}\n}\n",
		[]string{"pkg/replay/named.go:6: range over a map: map order is random"},
	},
	{
		"range over a type parameter", "pkg/replay/generic.go",
		"package replay\n\nfunc walk[M ~map[K]V, K comparable, V any](m M) {\n\tfor range m {\n\t}\n}\n",
		[]string{"pkg/replay/generic.go:4: range over a map: map order is random"},
	},
	{"range over a slice", "pkg/replay/slice.go", "package replay\n\nfunc _(s []int) {\n\tfor range s {\n\t}\n}\n", nil},
	{
		"SortedKeys outside canon", "pkg/replay/sorted.go", "package replay\n\nfunc SortedKeys(m map[string]int) {\n\tfor range m {\n\t}\n}\n",
		[]string{"pkg/replay/sorted.go:4: range over a map: map order is random"},
	},
	{"SortedKeys in canon", "pkg/canon/sorted.go", "package canon\n\nfunc SortedKeys(m map[string]int) {\n\tfor range m {\n\t}\n}\n", nil},
	{
		"another function in canon", "pkg/canon/walk.go", "package canon\n\nfunc _(m map[string]int) {\n\tfor range m {\n\t}\n}\n",
		[]string{"pkg/canon/walk.go:4: range over a map: map order is random"},
	},
	{
		"maps.Keys", "pkg/jsondiff/keys.go", in("jsondiff", "maps", "for range maps.Keys(m) {\n\t}"),
		[]string{"pkg/jsondiff/keys.go:6: maps.Keys outside slices.Sorted: map order is random"},
	},
	{
		"maps.Values", "pkg/jsondiff/values.go", in("jsondiff", "maps", "_ = maps.Values(m)"),
		[]string{"pkg/jsondiff/values.go:6: maps.Values outside slices.Sorted: map order is random"},
	},
	{
		"maps.All", "pkg/jsondiff/all.go", in("jsondiff", "maps", "_ = maps.All(m)"),
		[]string{"pkg/jsondiff/all.go:6: maps.All outside slices.Sorted: map order is random"},
	},
	{
		"maps.Keys in slices.Collect", "pkg/jsondiff/collect.go",
		"package jsondiff\n\nimport (\n\t\"maps\"\n\t\"slices\"\n)\n\nfunc _(m map[string]int) []string { return slices.Collect(maps.Keys(m)) }\n",
		[]string{"pkg/jsondiff/collect.go:8: maps.Keys outside slices.Sorted: map order is random"},
	},
	{
		"maps.Keys in slices.Sorted", "pkg/jsondiff/sorted.go",
		"package jsondiff\n\nimport (\n\t\"maps\"\n\t\"slices\"\n)\n\nfunc _(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }\n",
		nil,
	},
	{
		"reflection over a map", "pkg/jsondiff/reflect.go", in("jsondiff", "reflect", "_ = reflect.ValueOf(m).MapKeys()"),
		[]string{"pkg/jsondiff/reflect.go:6: (reflect.Value).MapKeys: map order is random"},
	},
	{
		"walk of a sync.Map", "pkg/jsondiff/sync.go", in("jsondiff", "sync", "new(sync.Map).Range(nil)"),
		[]string{"pkg/jsondiff/sync.go:6: (*sync.Map).Range: map order is random"},
	},
	{
		"strings.ToLower", "pkg/equiv/lower.go", in("equiv", "strings", "_ = strings.ToLower(\"\")"),
		[]string{"pkg/equiv/lower.go:6: strings.ToLower: case tables change with the Unicode version"},
	},
	{
		"strings.ToUpper", "pkg/equiv/upper.go", in("equiv", "strings", "_ = strings.ToUpper(\"\")"),
		[]string{"pkg/equiv/upper.go:6: strings.ToUpper: case tables change with the Unicode version"},
	},
	{
		"strings.Title", "pkg/equiv/title.go", in("equiv", "strings", "_ = strings.Title(\"\")"),
		[]string{"pkg/equiv/title.go:6: strings.Title: case tables change with the Unicode version"},
	},
	{
		"strings.EqualFold", "pkg/equiv/fold.go", in("equiv", "strings", "_ = strings.EqualFold(\"\", \"\")"),
		[]string{"pkg/equiv/fold.go:6: strings.EqualFold: case tables change with the Unicode version"},
	},
	{
		"math.Pow", "pkg/pipeline/pow.go", in("pipeline", "math", "_ = math.Pow(1, 2)"),
		[]string{"pkg/pipeline/pow.go:6: math.Pow: platforms differ in the last bit"},
	},
	{
		"the verb v", "pkg/canon/verb.go", in("canon", "fmt", "_ = fmt.Sprintf(\"%s %v\", \"\", m)"),
		[]string{"pkg/canon/verb.go:6: the verb %v: its form is nobody's contract"},
	},
	{
		"the verb +v", "pkg/pipeline/verb.go", in("pipeline", "fmt", "_ = fmt.Sprintf(\"%+v\", m)"),
		[]string{"pkg/pipeline/verb.go:6: the verb %+v: its form is nobody's contract"},
	},
	{
		"the verb g with width", "pkg/canon/width.go", in("canon", "fmt", "_ = fmt.Sprintf(`%8.3g`, 1.5)"),
		[]string{"pkg/canon/width.go:6: the verb %8.3g: its form is nobody's contract"},
	},
	{
		"printing without a verb", "pkg/canon/print.go", in("canon", "fmt", "_ = fmt.Sprint(m)"),
		[]string{"pkg/canon/print.go:6: fmt.Sprint prints as the verb %v does"},
	},
	{"a percent sign", "pkg/canon/percent.go", in("canon", "fmt", "_ = fmt.Sprintf(\"100%%v %d\", 1)"), nil},
	{"the verb v elsewhere", "pkg/equiv/verb.go", in("equiv", "fmt", "_ = fmt.Sprintf(\"%v\", 1)"), nil},
	{
		"a go statement", "pkg/canon/go.go", "package canon\n\nfunc _() {\n\tgo func() {}()\n}\n",
		[]string{"pkg/canon/go.go:4: go statement: the scheduler is no input"},
	},
	{
		"a select statement", "pkg/pipeline/select.go", "package pipeline\n\nfunc _() {\n\tselect {}\n}\n",
		[]string{"pkg/pipeline/select.go:4: select statement: the scheduler is no input"},
	},
	{"a test file", "pkg/canon/a_test.go", "package canon_test\n\nimport _ \"os\"\n", nil},
}
