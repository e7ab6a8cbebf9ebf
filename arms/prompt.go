package arms

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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
//
// Examples are part of what the arm adds to, like Base: the same in every arm.
type Prompt struct {
	Examples []Message // the task's worked examples, as turns before the request; nil for none
	Base     string    // the task, its files, its verify command: the same in every arm
	Added    string    // the arm's block, "" for none
	Turns    []Message // what the arm adds behind the request
	Files    []File    // what the arm places into the workspace
}

// Messages returns the prompt as the solver gets it: the examples' turns, then
// the request, in which what the arm added stands last, then the turns it added.
func (p Prompt) Messages() []Message {
	text := p.Base
	if p.Added != "" {
		text += "\n" + p.Added
	}
	list := append(slices.Clone(p.Examples), Message{Role: "user", Content: text})
	return append(list, p.Turns...)
}

// Text is the whole prompt for solvers that read one text: the request alone
// where there are no examples, else every turn behind its role in brackets.
func (p Prompt) Text() string {
	list := p.Messages()
	if len(list) == 1 {
		return list[0].Content
	}
	turns := make([]string, len(list))
	for i, m := range list {
		turns[i] = "[" + m.Role + "]\n" + m.Content
	}
	return strings.Join(turns, "\n\n")
}

// Chars is the length of the whole prompt in runes: of what its messages say.
func (p Prompt) Chars() int {
	n := 0
	for _, m := range p.Messages() {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

// JSON is the canonical form of the whole prompt: its messages, or an object of
// messages and files where files are placed. Hashes of prompts are sha256 over
// this form.
func (p Prompt) JSON() []byte {
	if len(p.Files) == 0 {
		return mustJSON(p.Messages())
	}
	return mustJSON(sent{p.Messages(), p.Files})
}

// AddedBlob is the canonical form of what the arm added, as [Addition.Blob].
func (p Prompt) AddedBlob() []byte { return addedBlob(p.Added, p.Turns, p.Files) }

// sent is a prompt with placed files, as JSON.
type sent struct {
	Messages []Message `json:"messages"`
	Files    []File    `json:"files"`
}

// ParsePrompt reads what [Prompt.JSON] wrote.
func ParsePrompt(data []byte) (messages []Message, files []File, err error) {
	if err = json.Unmarshal(data, &messages); err == nil {
		return messages, nil, nil
	}
	var s sent
	if err = json.Unmarshal(data, &s); err != nil {
		return nil, nil, fmt.Errorf("read prompt: %w", err)
	}
	return s.Messages, s.Files, nil
}

// with is the prompt with what an arm adds.
func (p Prompt) with(add Addition) Prompt {
	p.Added, p.Turns, p.Files = add.Block, add.Turns, add.Files
	return p
}

// Without returns the prompt less what the arm added.
func (p Prompt) Without() Prompt { return Prompt{Examples: p.Examples, Base: p.Base} }

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
	Answer      string // the file that the whole reply becomes; "" where a reply holds files
	Examples    []Example
}

// Example is one worked example, shown as two turns before the request.
type Example struct {
	Prompt string
	Reply  string
}

// File is one text file as a prompt shows it.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// languages names the fence label of a file by its ending; others get none.
var languages = map[string]string{
	".py": "python", ".go": "go", ".js": "javascript", ".ts": "typescript", ".rs": "rust",
	".java": "java", ".c": "c", ".h": "c", ".cc": "cpp", ".md": "markdown", ".json": "json", ".sh": "sh",
}

// prompt composes what every arm's attempts share: it does not depend on the
// attempt's number.
func (t Problem) prompt() Prompt {
	p := Prompt{Base: t.base()}
	for _, e := range t.Examples {
		p.Examples = append(p.Examples, Message{"user", e.Prompt}, Message{"assistant", e.Reply})
	}
	return p
}

// base composes the request. Where the whole reply is the answer it is the
// instruction and nothing else: a file or a command would only mislead.
func (t Problem) base() string {
	if t.Answer != "" {
		return strings.TrimSpace(t.Instruction) + "\n"
	}
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
