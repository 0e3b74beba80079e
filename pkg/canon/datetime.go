package canon

import (
	"bytes"
	"strings"
	"time"
)

// field is a place in the tree of declared datetimes (C8).
type field struct {
	token    string
	declared bool // the value here is a datetime
	below    []*field
}

// fieldsOf makes the tree of the declared entries; nil when there are none.
func fieldsOf(entries []string) *field {
	if len(entries) == 0 {
		return nil
	}
	root := &field{}
	for _, entry := range entries {
		at := root
		for _, token := range tokensOf(entry) {
			next := at.child(token)
			if next == nil {
				next = &field{token: token}
				at.below = append(at.below, next)
			}
			at = next
		}
		at.declared = true
	}
	return root
}

// tokensOf gives the path of an entry: a JSON Pointer when it starts with "/", none for "*", else a top-level name.
func tokensOf(entry string) []string {
	if entry == "*" {
		return nil
	}
	tokens := []string{entry}
	if strings.HasPrefix(entry, "/") {
		tokens = strings.Split(entry[1:], "/")
		for i := range tokens {
			tokens[i] = pointerUnescape.Replace(tokens[i])
		}
	}
	for i := range tokens {
		tokens[i] = string(NFC([]byte(tokens[i]))) // names are compared in NFC (C3)
	}
	return tokens
}

func (f *field) child(token string) *field {
	for _, next := range f.below {
		if next.token == token {
			return next
		}
	}
	return nil
}

// datetime writes the string literal from start to the cursor as a datetime in UTC (C8).
func (r *Reader) datetime(start int) *Error {
	text := r.src[start+1 : r.pos-1]
	normal, ok := appendUTC(nil, unescape(nil, text))
	if !ok {
		return r.notDatetime(start)
	}
	r.out = Quote(r.out, normal)
	return nil
}

// notDatetime fails on a declared field that is none. A null is no value and stays (C3).
func (r *Reader) notDatetime(start int) *Error {
	return r.fail(CodeInvalidDatetime, start, "expected an RFC 3339 datetime, as the profile declares for this field")
}

// appendUTC appends an RFC 3339 datetime in UTC: "Z" at the end, the fraction without trailing zeros (C8). It gives
// false when text is none. Seconds run to 59, and to 60 where that is a leap second's place: 23:59 UTC.
func appendUTC(dst, text []byte) ([]byte, bool) {
	const whole = "0000-00-00T00:00:00"
	if len(text) <= len(whole) || !shaped(text[:len(whole)], whole) {
		return nil, false
	}
	rest, fraction := text[len(whole):], []byte(nil)
	if rest[0] == '.' {
		end := digits(rest, 1)
		fraction = bytes.TrimRight(rest[1:end], "0")
		if rest = rest[end:]; end == 1 {
			return nil, false
		}
	}
	offset, ok := offsetOf(rest)
	if !ok {
		return nil, false
	}
	second := pairOf(text[17:])
	year, month, day := pairOf(text)*100+pairOf(text[2:]), time.Month(pairOf(text[5:])), pairOf(text[8:])
	hour, minute := pairOf(text[11:]), pairOf(text[14:])
	if hour > 23 || minute > 59 || second > 60 {
		return nil, false
	}
	if date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC); date.Month() != month || date.Day() != day {
		return nil, false
	}
	t := time.Date(year, month, day, hour, minute-offset, 0, 0, time.UTC)
	if t.Year() < 0 || t.Year() > 9999 || second == 60 && (t.Hour() != 23 || t.Minute() != 59) {
		return nil, false
	}
	dst = t.AppendFormat(dst, "2006-01-02T15:04:")
	dst = append(dst, text[17], text[18])
	if len(fraction) > 0 {
		dst = append(append(dst, '.'), fraction...)
	}
	return append(dst, 'Z'), true
}

// shaped tells whether text has digits where the pattern has them and the same bytes elsewhere; a "t" is a "T".
func shaped(text []byte, pattern string) bool {
	if len(text) != len(pattern) {
		return false
	}
	for i, c := range text {
		same := c == pattern[i] || pattern[i] == 'T' && c == 't'
		if pattern[i] == '0' {
			same = isDigit(c)
		}
		if !same {
			return false
		}
	}
	return true
}

// offsetOf gives the minutes east of UTC of "Z" or "±hh:mm".
func offsetOf(text []byte) (minutes int, ok bool) {
	if len(text) == 1 {
		return 0, text[0] == 'Z' || text[0] == 'z'
	}
	if len(text) == 0 || text[0] != '+' && text[0] != '-' || !shaped(text[1:], "00:00") {
		return 0, false
	}
	hours, rest := pairOf(text[1:]), pairOf(text[4:])
	minutes = hours*60 + rest
	if text[0] == '-' {
		minutes = -minutes
	}
	return minutes, hours <= 23 && rest <= 59
}

func pairOf(text []byte) int { return int(text[0]-'0')*10 + int(text[1]-'0') }
