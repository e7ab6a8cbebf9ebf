// Package tokens counts tokens offline. A [Counter] is a vocabulary that is built
// into the program, or a labelled estimate; [Find] says which one a model has and
// how large its context window is, from models.yaml. It knows nothing of designs,
// arms or prompts.
package tokens

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"retrial/tasks/strict"
)

// Estimate is the name of the counter that has no vocabulary: one token for every
// four characters, rounded up. The rule is the one that providers give for English
// (ai.google.dev/gemini-api/docs/tokens: "about 4 characters"); code has more
// tokens a character, other scripts far more.
const Estimate = "estimate"

// charsPerToken is the rule of the estimate.
const charsPerToken = 4

// Names lists the counters, the estimate first.
func Names() []string {
	return []string{Estimate, string(tokenizer.Cl100kBase), string(tokenizer.O200kBase)}
}

// Counter counts tokens. It is safe for concurrent use.
type Counter struct {
	name string
	of   func(text string) int

	mu   sync.Mutex
	memo map[[sha256.Size]byte]int // of texts worth remembering; nil for the estimate
}

// Name is the counter's name: one of [Names].
func (c *Counter) Name() string { return c.name }

// IsEstimate says whether the counts are an estimate.
func (c *Counter) IsEstimate() bool { return c.name == Estimate }

// What a counter remembers: texts of some length, and so many of them; then it
// forgets all. The base of a task's prompt is counted again at every attempt.
const (
	memoLength = 512
	memoTexts  = 4096
)

// Count is the number of tokens of a text, control marks of the model's chat
// format not among them: they are not text.
func (c *Counter) Count(text string) int {
	if c.memo == nil || len(text) < memoLength {
		return c.of(text)
	}
	key := sha256.Sum256([]byte(text))
	c.mu.Lock()
	n, known := c.memo[key]
	c.mu.Unlock()
	if known {
		return n
	}
	n = c.of(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.memo) >= memoTexts {
		clear(c.memo)
	}
	c.memo[key] = n
	return n
}

// estimate is the rule of [Estimate].
func estimate(text string) int {
	return (utf8.RuneCountInString(text) + charsPerToken - 1) / charsPerToken
}

var (
	countersMu sync.Mutex
	counters   = map[string]*Counter{Estimate: {name: Estimate, of: estimate}}
)

// Named returns a counter by its name. A name that is none of [Names] is an
// error that says the nearest one. The vocabulary is read at the first call.
func Named(name string) (*Counter, error) {
	countersMu.Lock()
	defer countersMu.Unlock()
	if c := counters[name]; c != nil {
		return c, nil
	}
	switch tokenizer.Encoding(name) {
	case tokenizer.Cl100kBase, tokenizer.O200kBase:
	default:
		return nil, fmt.Errorf("%s", strict.Unknown("tokenizer", name, Names()))
	}
	codec, err := tokenizer.Get(tokenizer.Encoding(name))
	if err != nil {
		return nil, fmt.Errorf("read vocabulary %s: %w", name, err)
	}
	c := &Counter{name: name, memo: map[[sha256.Size]byte]int{}}
	c.of = func(text string) int { return countPieces(codec, text) }
	counters[name] = c
	return c, nil
}

// pieceLength bounds the text that a vocabulary is given at a time, in bytes: its
// splitting is more than linear in runs of blanks without an end. The cut changes
// the count by a token or two.
const pieceLength = 16 << 10

func countPieces(codec tokenizer.Codec, text string) int {
	n := 0
	for text != "" {
		piece := text
		if len(text) > pieceLength {
			end := pieceLength
			if i := strings.LastIndexByte(text[:end], '\n'); i > 0 {
				end = i + 1
			} else {
				for end > 0 && !utf8.RuneStart(text[end]) {
					end--
				}
				if end == 0 { // bytes that are no UTF-8
					end = pieceLength
				}
			}
			piece = text[:end]
		}
		k, err := codec.Count(piece)
		if err != nil { // the splitting gave up on the piece: it is counted as bytes, of which no token has less than one
			k = len(piece)
		}
		n, text = n+k, text[len(piece):]
	}
	return n
}

// Model is what is known of a model.
type Model struct {
	Name      string `yaml:"name" json:"name"`
	Tokenizer string `yaml:"tokenizer" json:"tokenizer"` // one of [Names]; the estimate where there is no vocabulary
	Window    int    `yaml:"window" json:"window"`       // tokens of prompt and reply together
	Source    string `yaml:"source" json:"source"`
}

//go:embed models.yaml
var modelsYAML []byte

// Models lists the models that are known.
var Models = sync.OnceValue(func() []Model {
	var file struct {
		Models []Model `yaml:"models"`
	}
	if err := strict.Decode("models.yaml", modelsYAML, &file); err != nil {
		panic(err) // the file is embedded in the program
	}
	for i := range file.Models {
		if file.Models[i].Tokenizer == "" {
			file.Models[i].Tokenizer = Estimate
		}
	}
	return file.Models
})

// version is what a dated version adds to a model's name.
var version = regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$`)

// Find returns what is known of a model: by its name, by that of which it is a
// dated version, each also behind a provider's name and a slash. ok is false for
// a model that is not known.
func Find(model string) (m Model, ok bool) {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, name := range []string{name, version.ReplaceAllString(name, "")} {
		for _, m := range Models() {
			if m.Name == name {
				return m, true
			}
		}
	}
	return Model{}, false
}
