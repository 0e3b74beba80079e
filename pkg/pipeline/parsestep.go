package pipeline

import (
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/thread"
)

// ParseStage is the Stage of the output parser: `raw`, `mode` (normalize, parse, structured, auto), `preset` with `config`
// overrides, `wasTruncated` and `isStructuredOutput` in, the parsed output out.
func ParseStage(v Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		raw := o.Text("raw", "")
		mode := o.Word("mode", "parse", "normalize", "parse", "structured", "auto")
		truncated, structured := o.Bool("wasTruncated", false), o.Bool("isStructuredOutput", false)
		c := readParserConfig(o)
		if err := o.Err(); err != nil {
			return nil, err
		}
		w := document.NewWriter(v.Style())
		if mode == "normalize" {
			w.Object("", func() { w.Text("result", Normalize(raw)) })
			return w.Bytes(), nil
		}
		out, err := parseMode(mode, raw, truncated, structured, c, v)
		if err != nil {
			return nil, err
		}
		writeParsed(w, "", out)
		return w.Bytes(), nil
	}
}

// readParserConfig reads the `config` that overrides the `preset` beside it.
func readParserConfig(o *document.Object) ParserConfig {
	return ReadParserConfig(o.Object("config"), preset(o, DefaultParserConfig(), parserPresets))
}

func parseMode(mode, raw string, truncated, structured bool, c ParserConfig, v Version) (ParsedOutput, error) {
	switch mode {
	case "structured":
		return ParseStructured(raw, c, v)
	case "auto":
		return ParseAuto(raw, structured, c, v)
	}
	return Parse(raw, truncated, c, v)
}

func writeParsed(w *document.Writer, name string, out ParsedOutput) {
	w.Object(name, func() {
		w.Bool("Success", out.Success)
		w.Text("DialogueText", out.Dialogue)
		w.OptionalText("ErrorMessage", out.Error)
		w.Text("RawOutput", out.Raw)
		writeMutations(w, "ProposedMutations", out.Mutations)
		writeIntents(w, "WorldIntents", out.Intents)
		w.List("FunctionCalls", func() {
			for _, c := range out.Calls {
				w.Object("", func() {
					w.OptionalText("FunctionName", c.Name)
					w.Raw("Arguments", c.Arguments)
					w.OptionalText("CallId", c.CallID)
				})
			}
		})
		writeParameters(w, "Metadata", out.Metadata)
	})
}
