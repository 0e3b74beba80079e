package thread

import (
	"fmt"
	"math"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Profile says whose rules resolve references (X1).
type Profile uint8

// The profiles (X1). The zero value is the gateway's.
const (
	Gateway Profile = iota // as the gateway does it: chat messages need no references, history can be expanded
	Seed                   // as the seed has it: nothing is let through and nothing is expanded
)

// ParseProfile gives the profile of a name: gateway or seed (X1).
func ParseProfile(name string) (Profile, error) {
	switch name {
	case "gateway":
		return Gateway, nil
	case "seed":
		return Seed, nil
	}
	return Gateway, fmt.Errorf("unknown profile %q: one of gateway, seed", name)
}

// The policies for a turn without references.
const (
	EmptyDeny   = "DENY"
	EmptyAllow  = "ALLOW_EMPTY"
	EmptyExpand = "EXPAND_LAST_N"
)

// The orders of resolved references.
const (
	SortAscending  = "event_index_asc"
	SortDescending = "event_index_desc"
	SortNone       = "none" // the sorted declared order
)

// Config is a context configuration, defaults filled in (X4).
type Config struct {
	SchemaVersion      string // always "1"
	MaxRefs            int    // references, at least 1
	EmptyRefsPolicy    string // EmptyDeny, EmptyAllow or EmptyExpand
	ExpandLastN        int    // turns, at least 1
	AllowExecutionRefs bool
	CanonicalSort      string // SortAscending, SortDescending or SortNone
	ScopeBound         bool   // references must stay in their thread
	HandleMode         string // disabled, metadata_only or model_context
	FetchHandles       bool
	ExpandHistory      bool     // the conditional rule EXPAND_THREAD_HISTORY
	Rules              []string // in the order of the configuration
	Digest             Digest   // of the whole configuration
}

// ParseConfig reads a configuration as the gateway does: unknown members count in the digest and nowhere else. The error
// is an *Error with CodeInvalidConfig and the pointer of the member, or a float's code.
func ParseConfig(v canon.Value) (Config, error) {
	r := configReader{root: v}
	version, _ := member(v, "schema_version").Text()
	if version != "1" {
		r.fail("/schema_version", `must be "1"`)
	}
	context := member(v, "context")
	if context.Kind() != canon.Object {
		r.fail("/context", "must be an object")
	}
	c := Config{
		SchemaVersion:      version,
		MaxRefs:            r.atLeast("/context/max_refs", 0, 1),
		EmptyRefsPolicy:    r.word("/context/empty_refs_policy", "", EmptyDeny, EmptyExpand, EmptyAllow),
		ExpandLastN:        r.atLeast("/context/expand_last_n", 10, 1),
		AllowExecutionRefs: r.flag("/context/allow_execution_refs_for_prompt", true),
		CanonicalSort:      r.word("/context/canonical_sort", SortAscending, SortAscending, SortDescending, SortNone),
		ScopeBound:         r.flag("/context/enforce_scope_bound", true),
		HandleMode:         "metadata_only",
	}
	if member(context, "handle_content_fetch").Kind() == canon.Object {
		r.handles(&c)
	}
	c.Rules = r.rules()
	enabled, _ := v.At("/normalization/conditional_rules/EXPAND_THREAD_HISTORY/enabled")
	c.ExpandHistory = !isEmpty(enabled)
	if r.err != nil {
		return Config{}, r.err
	}
	var err error
	c.Digest, err = digestOf(literalOf(v))
	return c, err
}

// configReader reads members of a configuration; it keeps the first error.
type configReader struct {
	root canon.Value
	err  error
}

func (r *configReader) fail(pointer, detail string) {
	if r.err == nil {
		r.err = fault(CodeInvalidConfig, pointer, detail)
	}
}

// atLeast gives an integer, or what it is where it is absent; 0 for one that must be there. One beyond the machine's range is
// as good as no bound.
func (r *configReader) atLeast(pointer string, absent, least int) int {
	v, ok := r.root.At(pointer)
	if !ok && absent != 0 {
		return absent
	}
	n, fits := canon.Integer(integerLiteral(v))
	if !fits && v.Raw()[0] != '-' {
		n = math.MaxInt
	}
	if !countsAsInteger(v) || n < int64(least) {
		r.fail(pointer, fmt.Sprintf("must be an integer, at least %d", least))
	}
	return int(min(n, math.MaxInt))
}

func (r *configReader) flag(pointer string, absent bool) bool {
	v, ok := r.root.At(pointer)
	if !ok {
		return absent
	}
	if v.Kind() != canon.Bool {
		r.fail(pointer, "must be a boolean")
	}
	return isTrue(v)
}

func (r *configReader) word(pointer, absent string, allowed ...string) string {
	v, ok := r.root.At(pointer)
	if !ok && absent != "" {
		return absent
	}
	word, _ := v.Text()
	if !slices.Contains(allowed, word) {
		r.fail(pointer, fmt.Sprintf("must be one of %q", allowed))
	}
	return word
}

// handles reads what concerns the fetching of handles. Where they are fetched from counts in the digest only, and must be
// of the right type all the same.
func (r *configReader) handles(c *Config) {
	const pointer = "/context/handle_content_fetch/"
	c.FetchHandles = r.flag(pointer+"allow_handle_content_fetch", false)
	c.HandleMode = r.word(pointer+"high_risk_context_admit_mode", c.HandleMode, "disabled", "metadata_only", "model_context")
	for _, name := range []string{"workbench_resolver_url", "workbench_auth_bearer_token"} {
		if v, _ := r.root.At(pointer + name); v.Kind() != canon.String && !isAbsent(v) {
			r.fail(pointer+name, "must be a string when there is one")
		}
	}
	r.atLeast(pointer+"workbench_fetch_timeout_ms", 1500, 100)
	r.atLeast(pointer+"workbench_max_bytes", 512000, 1024)
	r.texts(pointer + "workbench_admit_kinds")
}

func (r *configReader) rules() []string {
	normalization, ok := r.root.Get("normalization")
	if ok && normalization.Kind() != canon.Object {
		r.fail("/normalization", "must be an object")
	}
	return r.texts("/normalization/rules")
}

// texts gives a list of strings; none where it is absent.
func (r *configReader) texts(pointer string) []string {
	v, ok := r.root.At(pointer)
	if ok && v.Kind() != canon.Array {
		r.fail(pointer, "must be a list")
	}
	var texts []string
	for _, e := range v.Elements() {
		text, ok := e.Text()
		if !ok {
			r.fail(pointer, "every entry must be a string")
		}
		texts = append(texts, text)
	}
	return texts
}
