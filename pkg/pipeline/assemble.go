package pipeline

import (
	"crypto/sha256"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Prompt is the text for the model, and what it was made of.
type Prompt struct {
	Text         string
	Characters   int64 // UTF-16 units
	Tokens       int64 // an estimate
	ExceedsLimit bool  // longer than the configuration allows; nothing is cut for it
	Truncated    bool  // the prompt or the working memory exceeded its limit; never in the modes that have neither
	Breakdown    Breakdown
	Memory       *WorkingMemory // what the bounds kept and dropped; nil where the mode has none
	Cache        *CacheInfo     // nil in all modes but the cache-aware one

	sum *canon.Sum // of the text, once it was asked for
}

// UTF8 gives the text as it leaves the pipeline: half a surrogate pair, which a bound may leave, is U+FFFD (llamabrain.md §0).
func (p *Prompt) UTF8() string { return dotnet.UTF8(p.Text) }

// SHA256 gives the digest of the text as it is written in UTF-8 (llamabrain.md §9).
func (p *Prompt) SHA256() canon.Sum {
	if p.sum == nil {
		room := texts.Get().(*[]byte)
		*room = append((*room)[:0], p.UTF8()...)
		sum := canon.Sum(sha256.Sum256(*room))
		p.sum = &sum
		texts.Put(room)
	}
	return *p.sum
}

// texts keeps the memory of the bytes of one prompt for the next.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// Breakdown counts the characters of a prompt by part.
type Breakdown [parts]int64

// Total gives the sum.
func (b Breakdown) Total() int64 {
	var sum int64
	for _, n := range b {
		sum += n
	}
	return sum
}

type part int

// The parts of a prompt, in the order of a breakdown.
const (
	systemPart part = iota
	contextPart
	referencesPart // dmpl-v1 alone (P2 j)
	constraintsPart
	retryPart
	recognitionPart
	examplesPart
	dialoguePart
	inputPart
	formattingPart // headers, and the line that the model goes on from
	parts
)

// piece is a run of text of a prompt.
type piece struct {
	of     part
	header string // counted as formatting
	text   string // counted as of
	joint  string // stands in front and is counted nowhere
	static bool   // belongs to the part of the prompt that a cache may keep
}

// Turn is what a prompt says of one turn besides the working memory.
type Turn struct {
	NPC         *string // nil means the configuration's default
	Feedback    string  // on the attempt before; empty for none
	Recognition *Recognition
}

// Assemble makes the prompt of a working memory: a fixed list of sections, each left out with its header where it is empty
// (llamabrain.md §5). Equal input gives equal bytes.
func Assemble(m WorkingMemory, t Turn, c AssembleConfig) Prompt {
	a := assembly{c: c, npc: c.npc(t.NPC), pieces: make([]piece, 0, parts)}
	a.system(m.SystemPrompt)
	a.headed(contextPart, c.ContextHeader, m.FormattedContext())
	a.references(m.References)
	a.constraints(m.Constraints, false)
	a.feedback(t.Feedback)
	if t.Recognition != nil {
		a.add(piece{of: recognitionPart, text: t.Recognition.Block()})
	}
	a.conversation(m)
	return a.prompt().of(m)
}

// of says which working memory a prompt was made of.
func (p Prompt) of(m WorkingMemory) Prompt {
	p.Memory = &m
	p.Truncated = m.Truncated || p.ExceedsLimit
	return p
}

// AssembleSnapshot bounds a snapshot and makes its prompt. Without a configuration of its own the working memory may
// nearly fill the prompt (llamabrain.md §5).
func AssembleSnapshot(s Snapshot, bounds *BoundConfig, t Turn, c AssembleConfig, v Version) Prompt {
	b := c.bounds()
	if bounds != nil {
		b = *bounds
	}
	return Assemble(Bound(s, b, v), t, c)
}

// AssembleMinimal makes a prompt of nothing but a system prompt and an input. Its breakdown counts them bare, and nothing
// besides (llamabrain.md §5, vector `minimal_mode`).
func AssembleMinimal(system, input string, npc *string, c AssembleConfig) Prompt {
	a := assembly{c: c, npc: c.npc(npc)}
	a.system(system)
	a.input(input)
	p := a.prompt()
	p.Breakdown = Breakdown{}
	p.Breakdown[systemPart] = int64(dotnet.Len(system))
	p.Breakdown[inputPart] = int64(dotnet.Len(input))
	return p
}

// assembly is a prompt while its pieces are put together.
type assembly struct {
	c      AssembleConfig
	npc    string
	pieces []piece
}

func (a *assembly) add(p piece) { a.pieces = append(a.pieces, p) }

func (a *assembly) system(prompt string) {
	if prompt != "" {
		a.add(piece{of: systemPart, text: a.c.SystemPrompt.Apply(prompt), static: true})
	}
}

// headed adds a section with a header, or nothing where it is empty.
func (a *assembly) headed(of part, header, text string) {
	if text != "" {
		a.add(piece{of: of, header: header + "\n", text: text})
	}
}

// references adds the block of referenced events. P2(j): mandatory, after the context.
func (a *assembly) references(lines []string) {
	if len(lines) > 0 {
		a.add(piece{of: referencesPart, text: "\n" + strings.Join(lines, "\n")})
	}
}

func (a *assembly) constraints(set []Constraint, static bool) {
	if a.c.IncludeConstraints && len(set) > 0 {
		a.add(piece{of: constraintsPart, text: ConstraintBlock(set), static: static})
	}
}

func (a *assembly) feedback(text string) {
	if a.c.IncludeRetryFeedback && text != "" {
		a.add(piece{of: retryPart, text: "\n" + text})
	}
}

// conversation adds the sections that end a prompt.
func (a *assembly) conversation(m WorkingMemory) {
	if a.c.IncludeExamples {
		a.headed(examplesPart, a.c.ExamplesHeader, m.FormattedExamples(a.npc))
	}
	a.headed(dialoguePart, a.c.ConversationHeader, m.FormattedDialogue())
	a.input(m.PlayerInput)
}

func (a *assembly) input(text string) {
	a.add(piece{of: inputPart, text: a.c.PlayerInput.Apply(text)})
	a.answer()
}

// answer adds the line that the model goes on from.
func (a *assembly) answer() { a.add(piece{of: formattingPart, text: a.c.NPCPrompt.Apply(a.npc)}) }

// join gives the texts of the static pieces (true), of the others (false), or of both, one after the other.
func (a *assembly) join(parts ...bool) string {
	size := 0
	for i := range a.pieces {
		p := &a.pieces[i]
		size += len(p.joint) + len(p.header) + len(p.text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, static := range parts {
		for i := range a.pieces {
			if p := &a.pieces[i]; p.static == static {
				b.WriteString(p.joint)
				b.WriteString(p.header)
				b.WriteString(p.text)
			}
		}
	}
	return b.String()
}

// prompt joins the pieces and measures them.
func (a *assembly) prompt() Prompt {
	text := whole(a.join(true, false))
	p := Prompt{Text: text, Characters: int64(dotnet.Len(text))}
	for _, piece := range a.pieces {
		p.Breakdown[piece.of] += int64(dotnet.Len(piece.text))
		p.Breakdown[formattingPart] += int64(dotnet.Len(piece.header))
	}
	p.Tokens = a.c.tokens(p.Characters)
	p.ExceedsLimit = p.Characters > a.c.MaxCharacters()
	return p
}

// whole makes pairs of the halves of surrogate pairs that joining brought together (llamabrain.md §0: text is UTF-16).
func whole(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return dotnet.FromUnits(dotnet.Units(text))
}

// tokens estimates the tokens of a text, upwards, in binary32 (llamabrain.md §5).
func (c AssembleConfig) tokens(characters int64) int64 {
	return int64(math.Ceil(c.tokenRatio(characters)))
}

func (c AssembleConfig) tokensOf(text string) int64 { return c.tokens(int64(dotnet.Len(text))) }

func (c AssembleConfig) tokenRatio(characters int64) float64 {
	return float64(float32(characters) / float32(c.CharactersPerToken))
}
