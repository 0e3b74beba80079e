package pipeline_test

import (
	"math"
	"math/big"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// exactHalf gives 0.5^x to 200 bits: the product of the roots that the binary digits of x name.
func exactHalf(x float64) *big.Float {
	whole := math.Floor(x)
	rest := new(big.Float).SetPrec(200).SetFloat64(x - whole)
	result := new(big.Float).SetMantExp(new(big.Float).SetPrec(200).SetInt64(1), -int(whole))
	root := new(big.Float).SetPrec(200).SetFloat64(0.5)
	for rest.Sign() != 0 {
		root.Sqrt(root)
		rest.Mul(rest, big.NewFloat(2))
		if rest.Cmp(big.NewFloat(1)) >= 0 {
			rest.Sub(rest, big.NewFloat(1))
			result.Mul(result, root)
		}
	}
	return result
}

// P2(b): far closer than binary32 needs.
func TestHalfIsWithinAnUlpOfTheExactPower(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	inputs := []float64{0, 1, 2, 0.5, 1.5, 2.5, math.Nextafter(0.5, 0), math.Nextafter(0.5, 1), 1e-300, 149, 1000.25}
	for range 5000 {
		inputs = append(inputs, math.Ldexp(random.Float64(), random.Intn(12)-2))
	}
	for _, x := range inputs {
		if x > 1000 {
			continue // towards the least binary64 there are fewer digits
		}
		want := exactHalf(x)
		off := new(big.Float).Sub(want, new(big.Float).SetFloat64(pipeline.Half(x)))
		relative, _ := off.Quo(off, want).Float64()
		if math.Abs(relative) > 0x1p-52 {
			t.Errorf("0.5^%v is off by %g of itself", x, relative)
		}
	}
}

func TestHalfEndsAtZero(t *testing.T) {
	got := []float64{pipeline.Half(0), pipeline.Half(1074), pipeline.Half(1076), pipeline.Half(1100), pipeline.Half(math.MaxFloat64), pipeline.Half(math.Inf(1))}
	want := []float64{1, math.SmallestNonzeroFloat64, 0, 0, 0, 0}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// plainShare is llamabrain.md §2 word for word.
func plainShare(input, text string) float64 {
	words := func(s string) map[string]bool {
		set := map[string]bool{}
		for _, w := range strings.FieldsFunc(dotnet.Lower(s), func(r rune) bool { return strings.ContainsRune(" .,!?", r) }) {
			if len(utf16.Encode([]rune(w))) > 3 {
				set[w] = true
			}
		}
		return set
	}
	in, found := words(input), 0
	for w := range words(text) {
		if in[w] {
			found++
		}
	}
	if len(in) == 0 {
		return 0
	}
	return float64(found) / float64(len(in))
}

func TestWordsAreFoundAsThePlainRuleFindsThem(t *testing.T) {
	letters := []rune("aAbBkK\u212AİıſΣςé日😀 .,!?\t;-\"")
	random := rand.New(rand.NewSource(2))
	text := func() string {
		var b strings.Builder
		for range random.Intn(40) {
			b.WriteRune(letters[random.Intn(len(letters))])
		}
		return b.String()
	}
	for range 3000 {
		input := text() + " aaaa KKKK\u212A"
		texts := []string{text(), text() + " AAAA", "aaaa aaaa.AAAA", input, "kkkk\u212A", ""}
		var want []float64
		for _, other := range texts {
			want = append(want, plainShare(input, other))
		}
		if got := pipeline.Share(input, texts...); !slices.Equal(got, want) {
			t.Fatalf("input %q in %q: %v, want %v", input, texts, got, want)
		}
	}
}

// A word is found again in the next text, and once in each.
func TestWordsAreCountedOnceInAText(t *testing.T) {
	got := pipeline.Share("dragon castle", "dragon dragon", "Dragon, castle!", "drag cast", "")
	if want := []float64{0.5, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := pipeline.Share("a an the", "a an the"); !slices.Equal(got, []float64{0}) {
		t.Errorf("an input without words is relevant to nothing: %v", got)
	}
}
