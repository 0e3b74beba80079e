package canon_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

func TestDeclaredDatetimesBecomeUTC(t *testing.T) {
	tests := []struct{ text, want string }{ // want "" for none
		{"2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"},
		{"2024-01-02t03:04:05z", "2024-01-02T03:04:05Z"},
		{"2024-01-02T03:04:05+02:00", "2024-01-02T01:04:05Z"},
		{"2024-01-01T00:30:00+01:00", "2023-12-31T23:30:00Z"},
		{"2024-02-28T23:59:59-00:01", "2024-02-29T00:00:59Z"},
		{"2024-01-02T03:04:05-00:00", "2024-01-02T03:04:05Z"},
		{"2024-01-02T03:04:05.120Z", "2024-01-02T03:04:05.12Z"},
		{"2024-01-02T03:04:05.000Z", "2024-01-02T03:04:05Z"},
		{"2024-01-02T03:04:05.1234567890123456789Z", "2024-01-02T03:04:05.1234567890123456789Z"},
		{"2016-12-31T23:59:60Z", "2016-12-31T23:59:60Z"},
		{"2017-01-01T00:59:60.5+01:00", "2016-12-31T23:59:60.5Z"},
		{"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"},
		{"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
		{"0000-01-01T00:00:00+00:01", ""},
		{"9999-12-31T23:59:59-00:01", ""},
		{"2016-12-31T22:59:60Z", ""},
		{"2023-02-29T00:00:00Z", ""},
		{"2024-13-01T00:00:00Z", ""},
		{"2024-00-01T00:00:00Z", ""},
		{"2024-01-00T00:00:00Z", ""},
		{"2024-01-02T24:00:00Z", ""},
		{"2024-01-02T00:60:00Z", ""},
		{"2024-01-02T00:00:61Z", ""},
		{"2024-01-02T00:00:00+24:00", ""},
		{"2024-01-02T00:00:00+01:60", ""},
		{"2024-01-02T00:00:00", ""},
		{"2024-01-02T00:00:00.Z", ""},
		{"2024-01-02T00:00:00.5", ""},
		{"2024-01-02T00:00:00,5Z", ""},
		{"2024-01-02 00:00:00Z", ""},
		{"2024-01-02T00:00:00+0100", ""},
		{"2024-01-02T00:00:00Zulu", ""},
		{"2024-01-02", ""},
		{"", ""},
	}
	form := canon.Form{Datetimes: []string{"at"}}
	for _, tt := range tests {
		out, err := canon.AppendForm(nil, []byte(`{"at":"`+tt.text+`"}`), form)
		if tt.want == "" {
			if codeOf(t, err) != canon.CodeInvalidDatetime {
				t.Errorf("%s: %s, error %v", tt.text, out, err)
			}
		} else if err != nil || string(out) != `{"at":"`+tt.want+`"}` {
			t.Errorf("%s: %s, error %v, want %s", tt.text, out, err, tt.want)
		}
	}
}

func TestDatetimesAreTouchedOnlyWhereDeclared(t *testing.T) {
	const src = `{"z":{"/":["2024-01-02T03:04:05.0Z","2024-01-02T03:04:05.0Z"]},"at":"2024-01-02T03:04:05.0Z","b":{"at":"2024-01-02T03:04:05.0Z"}}`
	tests := []struct {
		name, src string
		datetimes []string
		want      string // canonical bytes, or "error POINTER"
	}{
		{"nowhere", `{"at":"2024-01-02T03:04:05.0Z"}`, nil, `{"at":"2024-01-02T03:04:05.0Z"}`},
		{"top-level name and pointer", src, []string{"at", "/z/~1/1"}, `{"at":"2024-01-02T03:04:05Z","b":{"at":"2024-01-02T03:04:05.0Z"},"z":{"/":["2024-01-02T03:04:05.0Z","2024-01-02T03:04:05Z"]}}`},
		{"pointer below", src, []string{"/b/at", "/b/none"}, `{"at":"2024-01-02T03:04:05.0Z","b":{"at":"2024-01-02T03:04:05Z"},"z":{"/":["2024-01-02T03:04:05.0Z","2024-01-02T03:04:05.0Z"]}}`},
		{"the value itself", `"2024-01-02T03:04:05\u002b01:00"`, []string{"*"}, `"2024-01-02T02:04:05Z"`},
		{"a name in NFD", `{"é":"2024-01-02T03:04:05.0Z"}`, []string{"e\u0301"}, `{"é":"2024-01-02T03:04:05Z"}`},
		{"null and missing stay", `{"at":null}`, []string{"at", "by"}, `{"at":null}`},
		{"a number", `{"at":1.5}`, []string{"at"}, "error /at"},
		{"a boolean", `{"at":true}`, []string{"at"}, "error /at"},
		{"an object", `{"b":{"at":{}}}`, []string{"/b/at"}, "error /b/at"},
		{"an array", `[[]]`, []string{"/0"}, "error /0"},
		{"no datetime", `{"at":"yesterday"}`, []string{"at"}, "error /at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := canon.AppendForm(nil, []byte(tt.src), canon.Form{Datetimes: tt.datetimes})
			got := string(out)
			if codeOf(t, err) == canon.CodeInvalidDatetime {
				got = "error " + err.(*canon.Error).Pointer
			}
			if got != tt.want {
				t.Errorf("got  %s, error %v\nwant %s", got, err, tt.want)
			}
		})
	}
}
