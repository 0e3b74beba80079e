package canon

// Claim is a digest stored in an artifact, with what it should be the digest of (V5).
type Claim struct {
	Code     string   // what the claim is, in the words of the code table
	Profile  Profile  // the form that the digest covers (C2)
	Form     *Form    // choices of that form; nil for none
	Encoding Encoding // how the digest is spelled (C2)
	Preimage []byte   // the JSON text it was computed over; nil when the artifact does not have it
	Stated   string   // the digest as stored
	Pointer  string   // where it is stored (RFC 6901)
}

// Status is how a check of a claim ended (V5).
type Status string

// The statuses (V5).
const (
	StatusPass       Status = "pass"
	StatusFail       Status = "fail"
	StatusNotChecked Status = "not_checked"
	StatusOpaque     Status = "opaque" // the stated text is no SHA-256 in the claim's encoding
)

// Outcome is the result of checking a Claim.
type Outcome struct {
	Status   Status
	Reason   string  // one clause for everything but a pass
	Found    bool    // Matched is set: some profile gives the stated digest
	Matched  Profile // the claim's own on a pass; another on a fail (C10)
	Computed string  // the digest under the claim's profile, in its encoding; empty where none was computed
}

// Check computes the claim again. A claim without preimage, or whose preimage has no canonical form, is not checked;
// a digest that is none is opaque; on a mismatch the other profiles are tried (C10, V5).
func (c Claim) Check() Outcome {
	stated, ok := c.Encoding.read(c.Stated)
	if !ok {
		return Outcome{Status: StatusOpaque, Reason: "the stated text is no SHA-256 as " + c.Encoding.String()}
	}
	if c.Preimage == nil {
		return Outcome{Status: StatusNotChecked, Reason: "no preimage"}
	}
	sum, err := DigestForm(c.Preimage, c.form())
	if err != nil {
		return c.tryOthers(stated, Outcome{Status: StatusNotChecked, Reason: "the preimage has no form under " + c.Profile.String() + ": " + err.Error()})
	}
	computed := c.Encoding.Spell(sum)
	if computed == stated {
		return Outcome{Status: StatusPass, Found: true, Matched: c.Profile, Computed: computed}
	}
	return c.tryOthers(stated, Outcome{Status: StatusFail, Reason: "matches under no profile", Computed: computed})
}

func (c Claim) form() Form {
	if c.Form == nil {
		return Form{Profile: c.Profile}
	}
	form := *c.Form
	form.Profile = c.Profile
	return form
}

// tryOthers says which other profile gives the stated digest; where none does, the outcome stays (C10).
func (c Claim) tryOthers(stated string, outcome Outcome) Outcome {
	for _, p := range Profiles() {
		if p == c.Profile {
			continue
		}
		if sum, err := Digest(p, c.Preimage); err == nil && c.Encoding.Spell(sum) == stated {
			outcome.Status, outcome.Found, outcome.Matched = StatusFail, true, p
			outcome.Reason = "matches under " + p.String()
			return outcome
		}
	}
	return outcome
}
