package thread

// ChainSeed stands before the first event of both chains: `sha256:` and 64 zeros.
const ChainSeed = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// NextVDigest gives the chain value after the event at index, whose stored digest is given with its prefix. prev is the
// value before it, ChainSeed for the first. The result is bare hex. It covers stored digests only: a payload that was
// changed does not show here.
func NextVDigest(prev string, index int, digest string) string {
	d, err := digestObject(func(o *object) {
		o.text("digest", digest)
		o.integer("index", index)
		o.text("prev", prev)
	})
	if err != nil {
		return "" // texts and an integer always have a form
	}
	return d.Sum.Hex()
}
