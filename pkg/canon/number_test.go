package canon_test

import (
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

func TestNumbersAreRoundedHalfEvenOnTheirDecimalText(t *testing.T) {
	nines := strings.Repeat("9", 309)
	tests := []struct {
		src      string
		decimals int
		want     string // "" for out of range
	}{
		{"1.0", 6, "1"},
		{"2.50", 6, "2.5"},
		{"-0.0", 6, "0"},
		{"-0", 6, "0"},
		{"0e5", 6, "0"},
		{"1e3", 6, "1000"},
		{"1.5E+3", 6, "1500"},
		{"1e-7", 6, "0"},
		{"-1e-7", 6, "0"},
		{"0.0000005", 6, "0"},
		{"0.00000050000001", 6, "0.000001"},
		{"0.0000015", 6, "0.000002"},
		{"0.0000025", 6, "0.000002"},
		{"-0.0000035", 6, "-0.000004"},
		{"0.00000049999", 6, "0"},
		{"5e-7", 6, "0"},
		{"5.1e-7", 6, "0.000001"},
		{"9e-7", 6, "0.000001"},
		{"9e-8", 6, "0"},
		{"0.9999995", 6, "1"},
		{"0.9999985", 6, "0.999998"},
		{"99.9999996", 6, "100"},
		{"-9.9999996", 6, "-10"},
		{"10.10", 6, "10.1"},
		{"123456.7890125", 6, "123456.789012"},
		{"123456.78901250", 6, "123456.789012"},
		{"123456.789012500001", 6, "123456.789013"},
		{"100000000000000000000.5", 6, "100000000000000000000.5"},
		{"12345678901234567890e-10", 6, "1234567890.123457"},
		{"12e-1", 6, "1.2"},
		{"0.00123e2", 6, "0.123"},
		{"0.5", 0, "0"},
		{"1.5", 0, "2"},
		{"2.5", 0, "2"},
		{"-2.51", 0, "-3"},
		{"0.05", 1, "0"},
		{"0.15", 1, "0.2"},
		{"0.1234567890123456", 15, "0.123456789012346"},
		{"1e-15", 15, "0.000000000000001"},
		{"5e-16", 15, "0"},
		{"1e308", 6, "1" + strings.Repeat("0", 308)},
		{"9.99e308", 6, "999" + strings.Repeat("0", 306)},
		{nines + ".4", 6, nines + ".4"},
		{nines + ".9999999", 6, "1" + strings.Repeat("0", 309)},
		{nines + "." + strings.Repeat("9", 16), 15, "1" + strings.Repeat("0", 309)},
		{"1e309", 6, ""},
		{"10e308", 6, ""},
		{"-0.1e310", 6, ""},
		{"1" + nines + ".0", 6, ""},
		{"1" + nines, 6, "1" + nines},
		{"1e999999999999", 6, ""},
		{"1e-999999999999", 6, "0"},
		{"0e999999", 6, "0"},
		{"0.0e-99999999999999999999999999", 6, "0"},
		{"1e99999999999999999999999999", 6, ""},
		{"-1e-99999999999999999999999999", 6, "0"},
		{"0." + strings.Repeat("0", 30000) + "125e30001", 6, "1.25"},
		{"125" + strings.Repeat("0", 30000) + "e-30002", 6, "1.25"},
		{"1e00000000000000000000000000000002", 6, "100"},
	}
	for _, tt := range tests {
		form := canon.Form{Decimals: &tt.decimals}
		if tt.decimals == 6 {
			form.Decimals = nil
		}
		out, err := canon.AppendForm(nil, []byte(tt.src), form)
		if got := codeOf(t, err); (tt.want == "") != (got == canon.CodeNumberOutOfRange) || string(out) != tt.want {
			t.Errorf("%.60s to %d decimals: %.60s, code %q, want %.60s", tt.src, tt.decimals, out, got, tt.want)
		}
	}
}

func TestALongLiteralIsReadInOnePass(t *testing.T) {
	const n = 20 << 20
	long := "0." + strings.Repeat("1234567890", n/10)
	for _, p := range []canon.Profile{canon.JSONv1, canon.PySorted, canon.JCS} {
		out, err := canon.Append(nil, []byte(long), p)
		want := "0.12345678901234568"
		if p == canon.JSONv1 {
			want = "0.123457"
		}
		if err != nil || string(out) != want {
			t.Errorf("%s: %.40s, error %v", p, out, err)
		}
	}
	if canon.CompareNumbers([]byte(long), []byte(long+"1")) != -1 {
		t.Error("the longer number is not greater")
	}
}

func TestFloatsOfForeignForms(t *testing.T) {
	tests := []struct{ src, python, es6 string }{
		{"1.0", "1.0", "1"},
		{"-0.0", "-0.0", "0"},
		{"0.0001", "0.0001", "0.0001"},
		{"0.00001", "1e-05", "0.00001"},
		{"1e-6", "1e-06", "0.000001"},
		{"1e-7", "1e-07", "1e-7"},
		{"1.5e-7", "1.5e-07", "1.5e-7"},
		{"-1e-100", "-1e-100", "-1e-100"},
		{"1e15", "1000000000000000.0", "1000000000000000"},
		{"1e16", "1e+16", "10000000000000000"},
		{"123456789012345680.0", "1.2345678901234568e+17", "123456789012345680"},
		{"1e20", "1e+20", "100000000000000000000"},
		{"1e21", "1e+21", "1e+21"},
		{"-1.25e22", "-1.25e+22", "-1.25e+22"},
		{"5e-324", "5e-324", "5e-324"},
		{"2e-324", "0.0", "0"},
		{"-1e-999999999999", "-0.0", "0"},
		{"1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"},
		{"0." + strings.Repeat("0", 150000) + "1e150001", "1.0", "1"},
		{"1" + strings.Repeat("0", 150000) + "e-150000", "1.0", "1"},
		// Half-way between two doubles, and just above: only the digit far behind tells.
		{"9007199254740993." + strings.Repeat("0", 70), "9007199254740992.0", "9007199254740992"},
		{"9007199254740993." + strings.Repeat("0", 900) + "1", "9007199254740994.0", "9007199254740994"},
	}
	for _, tt := range tests {
		python, err := canon.Append(nil, []byte(tt.src), canon.PySorted)
		if err != nil || string(python) != tt.python {
			t.Errorf("%.40s under py-sorted: %s, error %v, want %s", tt.src, python, err, tt.python)
		}
		es6, err := canon.Append(nil, []byte(tt.src), canon.JCS)
		if err != nil || string(es6) != tt.es6 {
			t.Errorf("%.40s under jcs: %s, error %v, want %s", tt.src, es6, err, tt.es6)
		}
	}
}

func TestCompareNumbersIsExact(t *testing.T) {
	huge := strings.Repeat("9", 40)
	tests := []struct {
		a, b string
		want int
	}{
		{"1", "1.0", 0},
		{"1000", "1e3", 0},
		{"0", "-0.0", 0},
		{"0e9", "0.00", 0},
		{"10", "9", 1},
		{"0.1", "0.10000000000000000000000001", -1},
		{"-0.1", "-0.2", 1},
		{"-1", "1", -1},
		{"0", "1e-99", -1},
		{"-5", "0", -1},
		{"9007199254740993", "9007199254740992", 1},
		{"123e-2", "1.23", 0},
		{"1.23e0", "1.2300", 0},
		{"100e-" + huge, "1e-" + strings.Repeat("9", 38) + "97", 0},
		{"1e" + huge, "10e" + strings.Repeat("9", 39) + "8", 0},
		{"1e" + huge, "1e" + strings.Repeat("9", 39) + "8", 1},
		{"1e" + huge, "1e1" + strings.Repeat("0", 40), -1},
		{"1e-" + huge, "1e" + huge, -1},
		{"-1e" + huge, "-1e-" + huge, -1},
		{"1e007", "1E+7", 0},
		{"9e" + strings.Repeat("9", 30), "1e1" + strings.Repeat("0", 30), -1},
	}
	for _, tt := range tests {
		if got := canon.CompareNumbers([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("%s against %s: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := canon.CompareNumbers([]byte(tt.b), []byte(tt.a)); got != -tt.want {
			t.Errorf("%s against %s: %d, want %d", tt.b, tt.a, got, -tt.want)
		}
	}
}

func TestIntegerTakesWhatFits(t *testing.T) {
	tests := []struct {
		src string
		n   int64
		ok  bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"42", 42, true},
		{"-9223372036854775808", -1 << 63, true},
		{"9223372036854775807", 1<<63 - 1, true},
		{"9223372036854775808", 0, false},
		{strings.Repeat("1", 100), 0, false},
		{"1.0", 0, false},
		{"1e2", 0, false},
		{"true", 0, false},
		{"+1", 0, false},
		{"", 0, false},
	}
	for _, tt := range tests {
		if n, ok := canon.Integer([]byte(tt.src)); ok != tt.ok || ok && n != tt.n {
			t.Errorf("%s: %d, %t", tt.src, n, ok)
		}
	}
}

func TestFiniteIsBelow1e309(t *testing.T) {
	for src, want := range map[string]bool{
		"0": true, "0e999": true, "9.99e308": true, "1e309": false, "-1e309": false, "0.1e310": false, "1e-999999": true,
		"0.01e310": true, strings.Repeat("9", 309): true, "1" + strings.Repeat("0", 309): false,
	} {
		if got := canon.Finite([]byte(src)); got != want {
			t.Errorf("%s: %t", src, got)
		}
	}
}
