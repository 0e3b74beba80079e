package canon_test

import (
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Digests of {"a":1} and of {"a":1.0}; sha256sum gives them for these very bytes.
const (
	sumInteger = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
	sumFloat   = "c29a44abc114a1d75486434c013102c9e736f526b4fd19658d9492b7b224de6d"
)

func TestClaimCheck(t *testing.T) {
	floats := []byte(`{"a": 1.0}`)
	two := 2
	rounded, err := canon.Digest(canon.Raw, []byte(`{"a":0.12}`))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat("0", 64)
	tests := []struct {
		name  string
		claim canon.Claim
		want  canon.Outcome
	}{
		{"passes", canon.Claim{Preimage: floats, Stated: sumInteger}, canon.Outcome{Status: canon.StatusPass, Found: true, Computed: sumInteger}},
		{"prefix is accepted", canon.Claim{Preimage: floats, Stated: "sha256:" + sumInteger}, canon.Outcome{Status: canon.StatusPass, Found: true, Computed: sumInteger}},
		{"prefix is kept", canon.Claim{Encoding: canon.PrefixedHex, Preimage: floats, Stated: "sha256:" + sumInteger}, canon.Outcome{Status: canon.StatusPass, Found: true, Computed: "sha256:" + sumInteger}},
		{"hex prefix", canon.Claim{Encoding: canon.HexPrefix(16), Preimage: floats, Stated: sumInteger[:16]}, canon.Outcome{Status: canon.StatusPass, Found: true, Computed: sumInteger[:16]}},
		{"own precision", canon.Claim{Form: &canon.Form{Decimals: &two}, Preimage: []byte(`{"a":0.1234}`), Stated: rounded.Hex()}, canon.Outcome{Status: canon.StatusPass, Found: true, Computed: rounded.Hex()}},
		{"another profile matches", canon.Claim{Preimage: floats, Stated: sumFloat}, canon.Outcome{Status: canon.StatusFail, Reason: "matches under py-sorted", Found: true, Matched: canon.PySorted, Computed: sumInteger}},
		{"none matches", canon.Claim{Preimage: floats, Stated: other}, canon.Outcome{Status: canon.StatusFail, Reason: "matches under no profile", Computed: sumInteger}},
		{"no preimage", canon.Claim{Stated: sumInteger}, canon.Outcome{Status: canon.StatusNotChecked, Reason: "no preimage"}},
		{"opaque", canon.Claim{Preimage: floats, Stated: "v1:abc"}, canon.Outcome{Status: canon.StatusOpaque, Reason: "the stated text is no SHA-256 as hex"}},
		{"upper case is opaque", canon.Claim{Preimage: floats, Stated: strings.ToUpper(sumInteger)}, canon.Outcome{Status: canon.StatusOpaque, Reason: "the stated text is no SHA-256 as hex"}},
		{"no form", canon.Claim{Profile: canon.DBL, Preimage: floats, Stated: other}, canon.Outcome{
			Status: canon.StatusNotChecked,
			Reason: `the preimage has no form under dbl: canon.float_refused at byte 6, pointer "/a": the profile dbl has no numbers with fraction or exponent`,
		}},
		{"no form, but another profile matches", canon.Claim{Profile: canon.DBL, Preimage: floats, Stated: sumInteger}, canon.Outcome{Status: canon.StatusFail, Reason: "matches under json-v1", Found: true, Matched: canon.JSONv1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.claim.Check(); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestEncodingsSpellDigests(t *testing.T) {
	sum, err := canon.Digest(canon.Raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	tests := []struct {
		encoding    canon.Encoding
		name, spelt string
	}{
		{canon.Encoding{}, "hex", empty},
		{canon.Hex, "hex", empty},
		{canon.PrefixedHex, "sha256:hex", "sha256:" + empty},
		{canon.Base64, "base64", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
		{canon.HexPrefix(12), "hex prefix of 12", empty[:12]},
		{canon.HexPrefix(0), "hex prefix of 1", empty[:1]},
		{canon.HexPrefix(99), "hex prefix of 64", empty},
	}
	for _, tt := range tests {
		if got := tt.encoding.Spell(sum); got != tt.spelt || tt.encoding.String() != tt.name {
			t.Errorf("%s: %s, want %s %s", tt.encoding, got, tt.name, tt.spelt)
		}
		claim := canon.Claim{Profile: canon.Raw, Encoding: tt.encoding, Preimage: []byte{}, Stated: tt.spelt}
		if outcome := claim.Check(); outcome.Status != canon.StatusPass {
			t.Errorf("%s: %+v", tt.encoding, outcome)
		}
	}
	for _, stated := range []string{"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=", "AAAA", "47DEQpj8HBSa+/TImW+5\nJCeuQeRkm5NMpJWZG3hSuFU="} {
		claim := canon.Claim{Encoding: canon.Base64, Preimage: []byte("1"), Stated: stated}
		if outcome := claim.Check(); outcome.Status != canon.StatusOpaque {
			t.Errorf("%q: %+v", stated, outcome)
		}
	}
}

func TestParseDigest(t *testing.T) {
	tests := []struct {
		stated, hex string
		ok          bool
	}{
		{sumFloat, sumFloat, true},
		{"sha256:" + sumFloat, sumFloat, true},
		{"SHA256:" + sumFloat, "", false},
		{"sha256:sha256:" + sumFloat, "", false},
		{sumFloat[1:], "", false},
		{sumFloat + "0", "", false},
		{strings.Repeat("g", 64), "", false},
		{strings.Repeat("A", 64), "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if hex, ok := canon.ParseDigest(tt.stated); hex != tt.hex || ok != tt.ok {
			t.Errorf("%q: %q, %t", tt.stated, hex, ok)
		}
	}
}
