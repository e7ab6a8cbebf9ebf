package tokens

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestKnownCounts: counts that tiktoken's own documentation and tests give.
func TestKnownCounts(t *testing.T) {
	for _, c := range []struct {
		counter, text string
		want          int
	}{
		// cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken
		{"cl100k_base", "tiktoken is great!", 6},
		{"o200k_base", "tiktoken is great!", 6},
		{"cl100k_base", "antidisestablishmentarianism", 6},
		{"o200k_base", "antidisestablishmentarianism", 6},
		{"cl100k_base", "2 + 2 = 4", 7},
		{"o200k_base", "2 + 2 = 4", 7},
		{"cl100k_base", "お誕生日おめでとう", 9},
		{"o200k_base", "お誕生日おめでとう", 8},
		// openai/tiktoken, tests/test_simple_public.py
		{"cl100k_base", "hello world", 2},
		// What looks like a control mark is text in a prompt.
		{"o200k_base", "<|endoftext|>", 7},
		{Estimate, "", 0}, {Estimate, "a", 1}, {Estimate, "abcd", 1}, {Estimate, "abcde", 2}, {Estimate, "日本語日本", 2},
	} {
		counter, err := Named(c.counter)
		if err != nil {
			t.Fatal(err)
		}
		if got := counter.Count(c.text); got != c.want {
			t.Errorf("%s counts %d tokens in %q, want %d", c.counter, got, c.text, c.want)
		}
	}
}

// TestCount: no token is shorter than a byte, counting again gives the same, and
// a text counted in parts has hardly fewer or more tokens than the whole.
func TestCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := Named(rapid.SampledFrom(Names()).Draw(t, "counter"))
		if err != nil {
			t.Fatal(err)
		}
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		a = strings.Repeat(a, rapid.IntRange(1, 40).Draw(t, "times"))
		n := c.Count(a)
		if n > len(a) || n < 0 || (n == 0) != (a == "") {
			t.Fatalf("%d tokens in %d bytes", n, len(a))
		}
		if again := c.Count(a); again != n {
			t.Fatalf("%d tokens, then %d", n, again)
		}
		if whole, parts := c.Count(a+b), n+c.Count(b); whole > parts+1 && c.IsEstimate() {
			t.Fatalf("%d tokens in the whole, %d in its parts", whole, parts)
		}
	})
}

// TestCountConcurrently: one counter serves many goroutines, past what it
// remembers.
func TestCountConcurrently(t *testing.T) {
	c, err := Named("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	want := c.of(strings.Repeat("a word of text ", 64) + "0000")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range memoTexts/2 + 10 {
				if got := c.Count(strings.Repeat("a word of text ", 64) + fmt.Sprintf("%04d", i%1000+g)); got < want-1 || got > want+1 {
					t.Errorf("%d tokens, want about %d", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(c.memo) > memoTexts {
		t.Errorf("%d texts are remembered", len(c.memo))
	}
}

// TestLongText: text without an end in one line, blanks and broken UTF-8 are
// counted in pieces.
func TestLongText(t *testing.T) {
	c, err := Named("cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"letters": strings.Repeat("a", 1<<19), "blanks": strings.Repeat(" ", 1<<18), "bytes": strings.Repeat("\x80", 1<<18),
		"newlines": strings.Repeat("\n", 1<<18), "lines": strings.Repeat("if x == 1:\n    return y\n", 1<<14), "CJK": strings.Repeat("日", 1<<17),
	} {
		if n := c.Count(text); n == 0 || n > len(text) {
			t.Errorf("%s: %d tokens in %d bytes", name, n, len(text))
		}
	}
}

// TestFind: models by name, dated version and provider's prefix; a name that only
// begins alike is another model.
func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-4o": "gpt-4o", "gpt-4o-2024-08-06": "gpt-4o", "openai/gpt-4o-mini": "gpt-4o-mini", "gpt-4-0613": "gpt-4",
		"gpt-4-32k": "", "gpt-4o-audio": "", "claude-haiku-4-5-20251001": "claude-haiku-4-5", "claude-opus-5-5": "claude-opus-5-5",
		"": "", "no-such-model": "", "gpt-4.1-2025-04-14": "gpt-4.1", "gpt-4.1-nano": "",
	} {
		if m, ok := Find(name); m.Name != want || ok != (want != "") {
			t.Errorf("%q is found as %q", name, m.Name)
		}
	}
	for _, m := range Models() {
		if _, err := Named(m.Tokenizer); err != nil || m.Window <= 0 || m.Source == "" || m.Name == "" {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

func TestNamedUnknown(t *testing.T) {
	if _, err := Named("o200k-base"); err == nil || !strings.Contains(err.Error(), "o200k_base") {
		t.Errorf("error %v does not name the nearest", err)
	}
}

// BenchmarkCount is the cost of a prompt of 4,000 characters: new, remembered and
// estimated.
func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("def merge(a, b):\n    if a[0] > b[0]:  # compare\n        return b, a\n", 60)[:4000]
	for _, name := range Names() {
		c, err := Named(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/new", func(b *testing.B) {
			for b.Loop() {
				c.of(text)
			}
			b.ReportMetric(float64(utf8.RuneCountInString(text)), "chars")
		})
		b.Run(name+"/again", func(b *testing.B) {
			for b.Loop() {
				c.Count(text)
			}
		})
	}
}
