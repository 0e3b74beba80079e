package pipeline

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Recognition tells the model that the situation is a known one (llamabrain.md §5).
type Recognition struct {
	Type     string // None, Location, Topic or Conversation
	Repeats  int
	Evidence string
}

// recognitionSentences say how to react: to at most `few` repeats, and to more.
var recognitionSentences = []struct {
	of        string
	few       int
	now, more string
}{
	{"None", 0, "Acknowledge familiarity with this context.", "Acknowledge familiarity with this context."},
	{
		"Location", 2, "You recognize this place. Acknowledge that you've been here before in your response.",
		"You recognize this place well. Acknowledge your familiarity naturally - perhaps with mild weariness or fond recognition.",
	},
	{
		"Topic", 3, "You've discussed this topic before. Reference your previous conversation naturally.",
		"The player keeps bringing up the same topic. Acknowledge this pattern - you might redirect or express that you've discussed this enough.",
	},
	{
		"Conversation", 0, "This conversation pattern feels familiar. Acknowledge the repetition naturally.",
		"This conversation pattern feels familiar. Acknowledge the repetition naturally.",
	},
}

// Block gives the text of the recognition section; it begins and ends with LF.
func (r Recognition) Block() string {
	sentence := ""
	for _, s := range recognitionSentences {
		if s.of == r.Type {
			sentence = s.now
			if r.Repeats > s.few {
				sentence = s.more
			}
		}
	}
	return "\n<RECOGNITION type=\"" + dotnet.Lower(r.Type) + "\" repeat_count=\"" + strconv.Itoa(r.Repeats) + "\">\n" +
		r.Evidence + ". " + sentence + "\n</RECOGNITION>\n"
}

// readRecognition reads a recognition; nil where nothing was recognised.
func readRecognition(o *document.Object, name string) *Recognition {
	o = o.Object(name)
	if o.Empty() {
		return nil
	}
	recognised := o.Bool("recognized", false)
	r := Recognition{Repeats: o.Int("repeatCount", 0), Evidence: o.Text("evidenceSummary", "")}
	var types []string
	for _, s := range recognitionSentences {
		types = append(types, s.of)
	}
	r.Type = o.Word("type", "None", types...)
	refuseUnknown(o)
	if !recognised {
		return nil
	}
	return &r
}
