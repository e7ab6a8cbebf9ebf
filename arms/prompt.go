package arms

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Message is one turn of a prompt.
type Message struct {
	Role    string `json:"role"` // user|assistant|system
	Content string `json:"content"`
}

// Prompt is what a solver is sent. What the arm added is kept apart from what
// it was added to, so that a reader can check that nothing else differs.
type Prompt struct {
	Base  string // the task, its files, its verify command: the same in every arm
	Added string // the arm's block, "" for none
}

// Messages returns the prompt as the solver gets it.
func (p Prompt) Messages() []Message {
	text := p.Base
	if p.Added != "" {
		text += "\n" + p.Added
	}
	return []Message{{Role: "user", Content: text}}
}

// Text joins the messages' contents, for solvers that read one text.
func (p Prompt) Text() string {
	var b strings.Builder
	for _, m := range p.Messages() {
		b.WriteString(m.Content)
	}
	return b.String()
}

// Chars is the length of the whole prompt in runes.
func (p Prompt) Chars() int { return utf8.RuneCountInString(p.Text()) }

// JSON is the canonical form of the whole prompt: its messages. Hashes of
// prompts are sha256 over this form.
func (p Prompt) JSON() []byte { return mustJSON(p.Messages()) }

// Without returns the prompt less what the arm added.
func (p Prompt) Without() Prompt { return Prompt{Base: p.Base} }

// SHA is the hex sha256 of data.
func SHA(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs of strings and numbers always marshal
	}
	return data
}

// Problem is a task as a prompt shows it.
type Problem struct {
	ID          string
	Instruction string
	Verify      string // the verify command
	Files       []File // editable files, in order
}

// File is one text file as a prompt shows it.
type File struct {
	Path    string
	Content string
}

// languages names the fence label of a file by its ending; others get none.
var languages = map[string]string{
	".py": "python", ".go": "go", ".js": "javascript", ".ts": "typescript", ".rs": "rust",
	".java": "java", ".c": "c", ".h": "c", ".cc": "cpp", ".md": "markdown", ".json": "json", ".sh": "sh",
}

// base composes the prompt that every arm's attempts share: it does not depend
// on the attempt's number.
func (t Problem) base() string {
	var b strings.Builder
	b.WriteString("Change the program below so that its tests pass.\n\n## Task\n\n")
	b.WriteString(strings.TrimSpace(t.Instruction))
	fmt.Fprintf(&b, "\n\n## Tests\n\nCommand: %s\n\n## Files\n\nYou may change these files and no others. Reply with the whole new content of each file that you change.\n", t.Verify)
	for _, f := range t.Files {
		label := ""
		if i := strings.LastIndexByte(f.Path, '.'); i >= 0 {
			label = languages[f.Path[i:]]
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s", f.Path, fenced(label, f.Content))
	}
	return b.String()
}

// fenced wraps content in a Markdown fence that the content cannot close: the
// fence is longer than every run of backticks inside.
func fenced(label, content string) string {
	longest, run := 0, 0
	for _, r := range content {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", max(3, longest+1))
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	return fence + label + "\n" + content + fence + "\n"
}
