package dblgateway

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// eventOf gives the event of a row whose values are in the order of otherColumns and textNames. Its payload takes room.
func eventOf(values []any, room []byte) (idx int64, e thread.Event, err error) {
	if idx, err = integerOf(values[0], "idx"); err != nil {
		return idx, e, err
	}
	e.Index = int(max(0, idx-1))
	if idx-1 > thread.MostEvents {
		return idx, e, typeFault{finding.ShapeRange, "/index", fmt.Sprintf("idx is %d, more than a stream can have", idx)}
	}
	for i, field := range textFields(&e) {
		if *field, err = textOf(values[len(otherColumns)+i], textNames[i]); err != nil {
			return idx, e, err
		}
	}
	if values[1] != nil {
		e.HasParent = true
		if e.ParentTurnID, err = textOf(values[1], "parent_turn_id"); err != nil {
			return idx, e, err
		}
	}
	payload, err := textOf(values[2], "payload_json")
	if err != nil {
		return idx, e, err
	}
	e.Payload = trimSpace(append(room[:0], payload...))
	n, err := integerOf(values[3], "canon_len")
	if err == nil && (n < 0 || n > thread.MostEvents) {
		err = typeFault{finding.ShapeRange, "/canon_len", fmt.Sprintf("canon_len is %d, not a number of bytes", n)}
	}
	e.CanonLen = int(n)
	return idx, e, err
}

func textOf(value any, name string) (string, error) {
	text, ok := value.(string)
	if !ok {
		return "", typeFault{finding.ShapeType, "/" + name, fmt.Sprintf("column %s is %s, not TEXT", name, storage(value))}
	}
	if !utf8.ValidString(text) {
		return "", typeFault{finding.CanonInvalidUTF8, "/" + name, "column " + name + " is no UTF-8"}
	}
	return text, nil
}

func integerOf(value any, name string) (int64, error) {
	n, ok := value.(int64)
	if !ok {
		return 0, typeFault{finding.ShapeType, "/" + name, fmt.Sprintf("column %s is %s, not INTEGER", name, storage(value))}
	}
	return n, nil
}

// storage names the class of a value in SQLite's words.
func storage(value any) string {
	switch value.(type) {
	case nil:
		return "NULL"
	case int64:
		return "INTEGER"
	case float64:
		return "REAL"
	case string:
		return "TEXT"
	case []byte:
		return "BLOB"
	}
	return "declared as another type"
}

// trimSpace takes JSON's white space from both ends.
func trimSpace(text []byte) []byte { return bytes.Trim(text, " \t\r\n") }
