package dblgateway_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/thread"
)

// BenchmarkRead reads the largest given stream: 7,892 events.
func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"snapshot.json", "trail.sqlite"} {
		b.Run(name, func(b *testing.B) {
			packed := filepath.Join(vectors, "streams", "s10_large_2000", name+".gz")
			if _, err := os.Stat(packed); err != nil {
				b.Skipf("!! NOT MEASURED: %s is not there", packed)
			}
			path := filepath.Join(b.TempDir(), name)
			data := gunzipped(b, packed)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				s, err := dblgateway.Read(path, dialect.Options{}, func(thread.Event) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
