package pipeline

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// TriggerReason is what made an agent speak; values beyond the named ones are kept (llamabrain.md §3).
type TriggerReason int

// The reasons.
const (
	PlayerUtterance TriggerReason = iota
	ZoneTrigger
	TimeTrigger
	QuestTrigger
	NPCInteraction
	WorldEvent
	CustomTrigger
)

// ReadTriggerReason reads a reason by name or number; PlayerUtterance where there is none.
func ReadTriggerReason(o *document.Object, name string) TriggerReason {
	return TriggerReason(readEnum(o, name, int(PlayerUtterance), triggerReasons...))
}

// FallbackConfig has the texts that stand for an answer (llamabrain.md §8).
type FallbackConfig struct {
	ByReason  [len(fallbackLists)][]string // by TriggerReason
	Generic   []string
	Emergency []string
}

// fallbackLists names the list of each reason.
var fallbackLists = [...]string{
	"PlayerUtteranceFallbacks", "ZoneTriggerFallbacks", "TimeTriggerFallbacks", "QuestTriggerFallbacks", "NpcInteractionFallbacks",
	"WorldEventFallbacks", "CustomTriggerFallbacks",
}

// lastResort is the fallback where no list has any.
const lastResort = "I'm having trouble responding right now."

// DefaultFallbackConfig gives the texts that hold where nothing is said.
func DefaultFallbackConfig() FallbackConfig {
	return FallbackConfig{
		ByReason: [len(fallbackLists)][]string{
			{"I'm sorry, I didn't quite catch that.", "Could you repeat that?", "I'm not sure I understand.", "What did you say?"},
			{"Hello there.", "Greetings, traveler.", "How can I help you?", "What brings you here?"},
			{"Another day passes...", "Time moves on.", "The world keeps turning."},
			{"I have a task for you.", "There's something I need to tell you.", "I have important news."},
			{"Hello, friend.", "Good to see you.", "How are you doing?"},
			{"Something has changed in the world.", "The world shifts around us.", "Can you feel it too?"},
			{"I'm here if you need me.", "What can I do for you?", "Is there something you need?"},
		},
		Generic: []string{
			"I'm not sure how to respond to that.", "Let me think about that.", "That's interesting.", "I see.",
			"Hmm, I'm not certain about that.",
		},
		Emergency: []string{
			lastResort, "Something seems off, but I'm still here.", "I apologize, but I can't form a proper response.",
		},
	}
}

// ReadFallbackConfig reads overrides of the defaults, list by list.
func ReadFallbackConfig(o *document.Object, name string) FallbackConfig {
	o = o.Object(name)
	c := DefaultFallbackConfig()
	read := func(name string, list *[]string) {
		if texts := o.Texts(name); texts != nil {
			*list = texts
		}
	}
	for i, name := range fallbackLists {
		read(name, &c.ByReason[i])
	}
	read("GenericFallbacks", &c.Generic)
	read("EmergencyFallbacks", &c.Emergency)
	refuseUnknown(o)
	return c
}

// Fallback is the text that stands for an answer.
type Fallback struct {
	Text      string
	Emergency bool // no list of the reason and no generic one had any
}

// FallbackQuery says which fallback is asked for.
type FallbackQuery struct {
	Trigger  []string // the trigger's own texts; they come first
	Reason   TriggerReason
	Recorded *string // the one that a recording picked; nil for none
}

// choices gives the list of which one is picked, never empty.
func (c FallbackConfig) choices(q FallbackQuery) (list []string, emergency bool) {
	lists := [][]string{q.Trigger, nil, c.Generic}
	if q.Reason >= 0 && int(q.Reason) < len(c.ByReason) {
		lists[1] = c.ByReason[q.Reason]
	}
	for _, list := range lists {
		if len(list) > 0 {
			return list, false
		}
	}
	if len(c.Emergency) > 0 {
		return c.Emergency, true
	}
	return []string{lastResort}, true
}

// Pick gives the recorded fallback, which must be one of its list. P2(f): where none was recorded dmpl-v1 takes the first;
// LlamaBrain picks by chance, so there the list must have but one (llamabrain.md §8).
func (c FallbackConfig) Pick(q FallbackQuery, v Version) (Fallback, error) {
	list, emergency := c.choices(q)
	text := list[0]
	switch {
	case q.Recorded != nil && !slices.Contains(list, *q.Recorded):
		return Fallback{}, &Error{Code: CodeInvalidInput, Detail: "the recorded fallback is none of its list"}
	case q.Recorded != nil:
		text = *q.Recorded
	case v == LlamaBrainV1 && len(list) > 1:
		return Fallback{}, &Error{Code: CodeInvalidInput, Detail: "the fallback was picked by chance and is not recorded"}
	}
	return Fallback{Text: text, Emergency: emergency}, nil
}

// FailureKey is how a failure reason is counted: cut to 100 UTF-16 units, Unknown where there is none (llamabrain.md §8).
func FailureKey(reason *string) string {
	text := textOr(reason, "Unknown")
	return dotnet.Cut(text, 0, min(dotnet.Len(text), 100))
}
