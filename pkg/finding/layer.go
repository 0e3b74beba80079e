package finding

import "strings"

// Layer is a group of codes: the part of a code before the dot.
type Layer struct {
	Name    string
	Meaning string
}

// Layers gives all layers in the order in which an artifact meets them, which is the order of [Entries].
func Layers() []Layer { return layers }

var layers = []Layer{
	{"input", "The evidence could not be read, or there is none."},
	{"canon", "The bytes are no JSON that evidence may be written in, or have no canonical form."},
	{"shape", "A field is missing, or is not what its schema says."},
	{"trace", "The parts of one artifact do not fit together."},
	{"claim", "The artifact cannot support a deterministic claim."},
	{"size", "Artifacts are bounded."},
	{"digest", "A stored digest is not what it claims to be."},
	{"blind", "A check that cannot fail."},
	{"stream", "The events of a gateway do not give what they claim."},
	{"run", "A native run is not whole, or its files do not fit together."},
	{"store", "A memory store refused something, or does not hold together."},
	{"ledger", "An exported ledger does not tell a history that a store can have had."},
	{"audit", "The records of a debug package or a rolling log do not give what they claim."},
	{"save", "The memories of a save file do not fit together."},
	{"equiv", "Two runs were compared, and differ or are not comparable."},
	{"stage", "Two native runs were compared, and a stage made something else."},
	{"streamdiff", "Two event streams were compared, and differ or are not comparable."},
	{"auditdiff", "Two debug packages or rolling logs were compared, and differ or are not comparable."},
	{"savediff", "Two save files were compared, and differ."},
	{"replay", "A recording was built again, and differs from what it stores."},
	{"auditreplay", "The turns of a debug package were run again, and give something else or could not be run."},
}

// Layer gives the name of the code's layer, e.g. "equiv".
func (c Code) Layer() string {
	name, _, _ := strings.Cut(string(c), ".")
	return name
}
