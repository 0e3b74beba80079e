package trace

import (
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// ToolProfileSchema names the format of a tool profile.
const ToolProfileSchema = "memory.tool_profile.v1"

// Unknown begins what a runtime writes in place of an identity or a version that it does not know: no claim rests on it (CONTRACT V3).
const Unknown = "unknown"

// ToolProfile says which fields of a tool's arguments, results and side effects are compared (CONTRACT D1, D2).
// An entry is a top-level name, or an RFC 6901 pointer when it starts with "/"; "*" alone selects the value itself.
type ToolProfile struct {
	Path        string
	Name        string
	Version     string
	Args        []string
	Result      []string
	SideEffects []string
	Datetimes   []string // CONTRACT C8: entries of the same form
	Decimals    *int     // CONTRACT C5: 0…15, nil for 6
}

// Profiles is a set of tool profiles.
type Profiles []ToolProfile

// For gives the profile of a tool under the version that a call was recorded with.
func (ps Profiles) For(tool, version string) (*ToolProfile, bool) {
	for i := range ps {
		if ps[i].Name == tool && ps[i].Version == version {
			return &ps[i], true
		}
	}
	return nil, false
}

// Override gives the profile to apply in place of the recorded one: that of the recorded version, or the only one that
// the set has of the tool (CONTRACT R1).
func (ps Profiles) Override(tool, version string) (*ToolProfile, bool) {
	if p, ok := ps.For(tool, version); ok {
		return p, true
	}
	var only *ToolProfile
	count := 0
	for i := range ps {
		if ps[i].Name == tool {
			only = &ps[i]
			count++
		}
	}
	return only, count == 1
}

// Select gives the canonical bytes of the fields that entries select from a JSON value (CONTRACT D1): an object keyed
// by the entries as written. What is absent stays absent, and a value that is no object has no fields.
// Errors are those of canonicalising the value.
func (p *ToolProfile) Select(raw []byte, entries []string) ([]byte, error) {
	normal, err := canon.AppendForm(nil, raw, canon.Form{Decimals: p.Decimals, Datetimes: p.Datetimes})
	if err != nil {
		return nil, err
	}
	if len(entries) == 1 && entries[0] == "*" {
		return normal, nil
	}
	value, err := canon.Parse(normal)
	if err != nil {
		return nil, err
	}
	selection := []byte{'{'}
	for _, entry := range entries {
		field, ok := selectField(value, entry)
		if !ok {
			continue
		}
		if len(selection) > 1 {
			selection = append(selection, ',')
		}
		selection = canon.Quote(selection, []byte(entry))
		selection = append(selection, ':')
		selection = append(selection, field.Raw()...)
	}
	return canon.AppendForm(nil, append(selection, '}'), canon.Form{Decimals: p.Decimals})
}

func selectField(value canon.Value, entry string) (canon.Value, bool) {
	if strings.HasPrefix(entry, "/") {
		return value.At(entry)
	}
	return value.Get(entry)
}

// Fingerprint gives the digest of the selection (CONTRACT D2).
func (p *ToolProfile) Fingerprint(raw []byte, entries []string) (string, error) {
	selection, err := p.Select(raw, entries)
	if err != nil {
		return "", err
	}
	sum, err := canon.Digest(canon.Raw, selection)
	if err != nil {
		return "", err
	}
	return sum.Hex(), nil
}
