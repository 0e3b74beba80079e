// Package canon gives JSON documents their canonical bytes: strict reading, the profiles, and the digests stated over them.
package canon

import "fmt"

// Profile is one canonical form (CONTRACT C2). The zero value is JSONv1.
type Profile uint8

// The profiles (C2).
const (
	JSONv1   Profile = iota // our own form, C3 to C8
	PySorted                // what Orket emits: sorted keys, minified, raw non-ASCII, floats as Python prints them
	DBL                     // the gateway's form: ASCII only, no floats
	JCS                     // RFC 8785
	Raw                     // the bytes as they stand
)

var profileNames = [...]string{JSONv1: "json-v1", PySorted: "py-sorted", DBL: "dbl", JCS: "jcs", Raw: "raw"}

// Profiles gives every profile in the order of C2.
func Profiles() []Profile { return []Profile{JSONv1, PySorted, DBL, JCS, Raw} }

// ParseProfile gives the profile of a name as String writes it; the error lists the names (C2).
func ParseProfile(name string) (Profile, error) {
	for _, p := range Profiles() {
		if profileNames[p] == name {
			return p, nil
		}
	}
	return JSONv1, fmt.Errorf("unknown profile %q: one of json-v1, py-sorted, dbl, jcs, raw", name)
}

// String gives the profile's name, as reports and flags write it (C2).
func (p Profile) String() string {
	if int(p) < len(profileNames) {
		return profileNames[p]
	}
	return "unknown"
}

// lenient tells whether the profile reads as Python's json does: the last duplicate wins, and NaN is a token (C2).
func (p Profile) lenient() bool { return p == PySorted || p == DBL }

// Form is a profile with the choices that a tool profile may state (C5, C8).
// Decimals and Datetimes belong to json-v1; the other profiles are foreign forms and have neither.
type Form struct {
	Profile   Profile
	Decimals  *int     // digits kept after the point, 0 to 15; nil means 6 (C5)
	Datetimes []string // datetime fields (C8): top-level names, JSON Pointers when they start with "/", "*" for the value itself
}

const (
	defaultDecimals = 6
	maxDecimals     = 15
)

// decimals gives the precision of C5, or an error when the form states one outside 0 to 15.
func (f Form) decimals() (int, error) {
	if f.Decimals == nil {
		return defaultDecimals, nil
	}
	if *f.Decimals < 0 || *f.Decimals > maxDecimals {
		return 0, fmt.Errorf("a form keeps 0 to %d decimals, not %d", maxDecimals, *f.Decimals)
	}
	return *f.Decimals, nil
}
