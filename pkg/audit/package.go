package audit

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Version is the only version of packages and save files that there is.
const Version = 1

// Package is a debug package: the records of all NPCs and what made them (llamabrain.md §9).
type Package struct {
	Version            int64
	PackageID          string // random
	CreatedAt          int64  // ticks of the wall clock
	CreatorNotes       string
	Model              Fingerprint
	GameVersion        string
	SceneName          string
	NpcIDs             []string
	Records            []Record
	TotalInteractions  int64
	ValidationFailures int64
	FallbacksUsed      int64
	IntegrityHash      string
}

// Fingerprint is the model that a package was made with. The path is not part of its hash.
type Fingerprint struct {
	ModelPath        string
	ModelFileName    string
	ModelFileSize    int64
	ModelFilePrefix  string // of the file's hash
	QuantizationType string
	ContextLength    int64
	GpuLayers        int64
	BatchSize        int64
	Hash             string
}

// FingerprintDigits is how many hex digits a fingerprint has.
const FingerprintDigits = 16

// Preimage gives what the fingerprint is a hash of.
func (f Fingerprint) Preimage() []byte {
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []byte("ModelFileName:" + dotnet.UTF8(f.ModelFileName) + "|ModelFileSizeBytes:" + whole(f.ModelFileSize) +
		"|ModelFileHashPrefix:" + dotnet.UTF8(f.ModelFilePrefix) + "|QuantizationType:" + dotnet.UTF8(f.QuantizationType) +
		"|ContextLength:" + whole(f.ContextLength) + "|GpuLayers:" + whole(f.GpuLayers) + "|BatchSize:" + whole(f.BatchSize))
}

// IntegrityPreimage gives what the integrity hash is a hash of. Of a record it covers the id and the output hash alone,
// and ids of records and NPCs may stand in any order (llamabrain.md §9).
func (p *Package) IntegrityPreimage() []byte {
	var text []byte
	line := func(parts ...string) {
		for _, part := range parts {
			text = append(text, dotnet.UTF8(part)...)
		}
		text = append(text, '\n')
	}
	line("Version:", strconv.FormatInt(p.Version, 10))
	line("PackageId:", p.PackageID)
	line("CreatedAtUtcTicks:", strconv.FormatInt(p.CreatedAt, 10))
	line("GameVersion:", p.GameVersion)
	line("ModelFingerprint:", p.Model.Hash)
	ids := slices.Clone(p.NpcIDs)
	slices.SortStableFunc(ids, dotnet.Compare)
	for _, id := range ids {
		line("NpcId:", id)
	}
	order := make([]*Record, len(p.Records))
	for i := range p.Records {
		order[i] = &p.Records[i]
	}
	slices.SortStableFunc(order, func(a, b *Record) int { return dotnet.Compare(a.RecordID, b.RecordID) })
	for _, r := range order {
		line("Record:", r.RecordID, "|", r.OutputHash)
	}
	return text
}

// DistinctNPCs gives the NPCs of the records, each once, in ordinal order: what NpcIds should be.
func (p *Package) DistinctNPCs() []string {
	ids := make([]string, 0, len(p.NpcIDs))
	seen := map[string]bool{}
	for i := range p.Records {
		if id := p.Records[i].NpcID; !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, dotnet.Compare)
	return ids
}

// Count is a number that a package states about its records.
type Count struct {
	Name           string // of the member
	Stated, Actual int64
}

// Counts gives what the package says about its records, and what they say.
func (p *Package) Counts() []Count {
	counts := []Count{
		{Name: "TotalInteractions", Stated: p.TotalInteractions, Actual: int64(len(p.Records))},
		{Name: "ValidationFailures", Stated: p.ValidationFailures},
		{Name: "FallbacksUsed", Stated: p.FallbacksUsed},
	}
	for i := range p.Records {
		if !p.Records[i].ValidationPassed {
			counts[1].Actual++
		}
		if p.Records[i].FallbackUsed {
			counts[2].Actual++
		}
	}
	return counts
}

// ReadHead reads everything but the records. What is missing or null has the producer's default.
func ReadHead(o *document.Object) Package {
	m := o.Object("ModelFingerprint")
	return Package{
		Version:      o.Integer("Version", Version),
		PackageID:    o.Text("PackageId", ""),
		CreatedAt:    o.Integer("CreatedAtUtcTicks", 0),
		CreatorNotes: o.Text("CreatorNotes", ""),
		Model: Fingerprint{
			ModelPath:        m.Text("ModelPath", ""),
			ModelFileName:    m.Text("ModelFileName", ""),
			ModelFileSize:    m.Integer("ModelFileSizeBytes", 0),
			ModelFilePrefix:  m.Text("ModelFileHashPrefix", ""),
			QuantizationType: m.Text("QuantizationType", ""),
			ContextLength:    m.Integer("ContextLength", 0),
			GpuLayers:        m.Integer("GpuLayers", 0),
			BatchSize:        m.Integer("BatchSize", 0),
			Hash:             m.Text("FingerprintHash", ""),
		},
		GameVersion:        o.Text("GameVersion", ""),
		SceneName:          o.Text("SceneName", ""),
		NpcIDs:             o.Texts("NpcIds"),
		TotalInteractions:  o.Integer("TotalInteractions", 0),
		ValidationFailures: o.Integer("ValidationFailures", 0),
		FallbacksUsed:      o.Integer("FallbacksUsed", 0),
		IntegrityHash:      o.Text("PackageIntegrityHash", ""),
	}
}

// Write writes the package as a document (llamabrain.md §9).
func (p *Package) Write(w *document.Writer) {
	w.Object("", func() {
		w.Integer("Version", p.Version)
		w.Text("PackageId", p.PackageID)
		w.Integer("CreatedAtUtcTicks", p.CreatedAt)
		w.Text("CreatorNotes", p.CreatorNotes)
		w.Object("ModelFingerprint", func() {
			w.Text("ModelPath", p.Model.ModelPath)
			w.Text("ModelFileName", p.Model.ModelFileName)
			w.Integer("ModelFileSizeBytes", p.Model.ModelFileSize)
			w.Text("ModelFileHashPrefix", p.Model.ModelFilePrefix)
			w.Text("QuantizationType", p.Model.QuantizationType)
			w.Integer("ContextLength", p.Model.ContextLength)
			w.Integer("GpuLayers", p.Model.GpuLayers)
			w.Integer("BatchSize", p.Model.BatchSize)
			w.Text("FingerprintHash", p.Model.Hash)
		})
		w.Text("GameVersion", p.GameVersion)
		w.Text("SceneName", p.SceneName)
		w.List("NpcIds", func() {
			for _, id := range p.NpcIDs {
				w.Text("", id)
			}
		})
		w.List("Records", func() {
			for i := range p.Records {
				p.Records[i].Write(w, "")
			}
		})
		w.Integer("TotalInteractions", p.TotalInteractions)
		w.Integer("ValidationFailures", p.ValidationFailures)
		w.Integer("FallbacksUsed", p.FallbacksUsed)
		w.Text("PackageIntegrityHash", p.IntegrityHash)
	})
}

// CompareCapture orders records as a package is exported: by the time of capture, ties by NPC and by place in its buffer
// (llamabrain.md §9).
func CompareCapture(a, b *Record) int {
	return cmp.Or(
		cmp.Compare(a.CapturedAt, b.CapturedAt), dotnet.Compare(a.NpcID, b.NpcID), cmp.Compare(a.BufferIndex, b.BufferIndex),
	)
}
