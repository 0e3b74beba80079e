package pipeline

import (
	"strings"

	"github.com/dmpl/dmpl/pkg/document"
)

// CacheBoundary says how far the part of a prompt goes that stays the same from turn to turn (llamabrain.md §5).
type CacheBoundary int

// The boundaries. The first two behave alike.
const (
	AfterSystemPrompt CacheBoundary = iota
	AfterFacts
	AfterWorld
	AfterConstraints
)

var boundaryNames = []string{"AfterSystemPrompt", "AfterCanonicalFacts", "AfterWorldState", "AfterConstraints"}

// String gives the name that results use.
func (b CacheBoundary) String() string { return boundaryNames[b] }

// CacheInfo is a prompt in the two parts of which it is made.
type CacheInfo struct {
	Boundary                   CacheBoundary
	Prefix, Suffix             string
	PrefixTokens, SuffixTokens int64 // estimates, each of its own text
}

// AssembleCached makes a prompt whose first part stays the same from turn to turn (llamabrain.md §5, cache-aware
// assembly). Its breakdown counts the context without the line ends between its kinds.
func AssembleCached(m WorkingMemory, t Turn, c AssembleConfig, boundary CacheBoundary) Prompt {
	a := assembly{c: c, npc: c.npc(t.NPC)}
	a.system(m.SystemPrompt)
	recalled := append(marked("[Memory] ", m.Episodes), m.Beliefs...)
	if len(m.Facts)+len(m.World)+len(recalled) > 0 {
		a.add(piece{of: contextPart, header: c.ContextHeader + "\n", static: true})
	}
	a.kind(marked("[Fact] ", m.Facts), false, true)
	a.kind(marked("[State] ", m.World), len(m.Facts) > 0, boundary >= AfterWorld)
	a.kind(recalled, len(m.Facts)+len(m.World) > 0, false)
	a.references(m.References)
	a.constraints(m.Constraints, boundary >= AfterConstraints)
	a.feedback(t.Feedback)
	a.conversation(m)
	p := a.prompt().of(m)
	info := CacheInfo{Boundary: boundary}
	info.Prefix, info.Suffix = a.join(true), a.join(false)
	info.PrefixTokens, info.SuffixTokens = c.tokensOf(info.Prefix), c.tokensOf(info.Suffix)
	p.Cache = &info
	return p
}

// kind adds the lines of one kind of memory, on a new line where another kind stands before them.
func (a *assembly) kind(lines []string, follows, static bool) {
	if len(lines) == 0 {
		return
	}
	p := piece{of: contextPart, text: strings.Join(lines, "\n"), static: static}
	if follows {
		p.joint = "\n"
	}
	a.add(p)
}

// boundaryPresets are the named cache configurations.
var boundaryPresets = map[string]CacheBoundary{"Default": AfterFacts, "Disabled": AfterFacts, "Aggressive": AfterWorld}

// ReadCacheBoundary reads the one cache setting that the text depends on. The others are known and change nothing in it.
func ReadCacheBoundary(o *document.Object, name string) CacheBoundary {
	o = o.Object(name)
	b := preset(o, AfterFacts, boundaryPresets)
	b = CacheBoundary(readClosedEnum(o, "Boundary", int(b), boundaryNames...))
	o.Bool("EnableCaching", true)
	o.Bool("TrackMetrics", true)
	o.Bool("ValidatePrefixStability", true)
	o.OptionalInteger("NKeepTokens")
	refuseUnknown(o)
	return b
}
