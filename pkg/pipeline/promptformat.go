package pipeline

import (
	"errors"
	"strings"

	"github.com/dmpl/dmpl/pkg/document"
)

// Format is a text with places for one value. `{0}` is the only placeholder; `{{` and `}}` mean braces. A value is
// inserted verbatim and never scanned again (llamabrain.md §5).
type Format struct {
	between []string // the texts around the places
}

var errFormat = errors.New("a format may hold {0}, {{ and }}, and no other brace")

// ParseFormat reads a format.
func ParseFormat(text string) (Format, error) {
	var f Format
	var literal strings.Builder
	for len(text) > 0 {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			break
		}
		literal.WriteString(text[:at])
		text = text[at:]
		switch {
		case strings.HasPrefix(text, "{{"), strings.HasPrefix(text, "}}"):
			literal.WriteByte(text[0])
			text = text[2:]
		case strings.HasPrefix(text, "{0}"):
			f.between = append(f.between, literal.String())
			literal.Reset()
			text = text[3:]
		default:
			return Format{}, errFormat
		}
	}
	literal.WriteString(text)
	f.between = append(f.between, literal.String())
	return f, nil
}

// Apply gives the text with the value in its places.
func (f Format) Apply(value string) string { return strings.Join(f.between, value) }

func readFormat(o *document.Object, name string, otherwise Format) Format {
	text := o.OptionalText(name)
	if text == nil {
		return otherwise
	}
	f, err := ParseFormat(*text)
	if err != nil {
		o.Fail(name, err.Error())
		return otherwise
	}
	return f
}
