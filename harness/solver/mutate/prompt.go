package mutate

import (
	"regexp"
	"strings"
)

// A File is one editable file as the prompt shows it.
type File struct {
	Path, Text string
}

// A Prompt is what a solver can read in a composed prompt.
type Prompt struct {
	Files   []File  // in the order shown
	History []Block // everything after the last file
}

// A Block is a heading, a fenced block or the text between them.
type Block struct {
	Kind  BlockKind
	Level int    // of a heading
	Info  string // info string of a fence
	Text  string // heading without its marks, or content; the content of a fence ends in a newline
}

// BlockKind tells blocks apart.
type BlockKind int

// The kinds of blocks.
const (
	Text BlockKind = iota
	Heading
	Fence
)

// ParsePrompt reads a prompt: files are headings that name a path, each followed
// by a fenced block, under a heading that speaks of files if there is one.
// Fences may have any length from three. Returns ErrPrompt if there is no file.
func ParsePrompt(prompt string) (Prompt, error) {
	blocks := splitBlocks(prompt)
	start := firstFile(blocks)
	if start < 0 {
		return Prompt{}, ErrPrompt
	}
	var p Prompt
	shown := map[string]bool{}
	end := start
	for i := start; i < len(blocks); i++ {
		if blocks[i].Kind != Heading {
			continue
		}
		path, fence := fileAt(blocks, i)
		if path == "" || shown[path] {
			break
		}
		shown[path] = true
		p.Files = append(p.Files, File{path, blocks[fence].Text})
		end = fence + 1
	}
	p.History = blocks[end:]
	return p, nil
}

// firstFile returns the index of the first file's heading, or -1.
func firstFile(blocks []Block) int {
	first := -1
	for i := range blocks {
		if path, _ := fileAt(blocks, i); path == "" {
			continue
		}
		if first < 0 {
			first = i
		}
		for j := i - 1; j >= 0; j-- {
			if blocks[j].Kind == Fence {
				break
			}
			if blocks[j].Kind == Heading {
				if strings.Contains(strings.ToLower(blocks[j].Text), "file") {
					return i
				}
				break
			}
		}
	}
	return first
}

var pathPattern = regexp.MustCompile(`^[\w.@+-]+(/[\w.@+-]+)*\.\w+$`)

// fileAt returns the path that a heading names and the index of its fenced block,
// or "" if the block is not the heading of a file.
func fileAt(blocks []Block, i int) (string, int) {
	b := blocks[i]
	if b.Kind != Heading || strings.Contains(strings.ToLower(b.Text), "attempt") {
		return "", 0
	}
	path := ""
	for _, word := range strings.Fields(b.Text) {
		word = strings.Trim(word, "`*_\"'():,")
		if pathPattern.MatchString(word) {
			path = word
			break
		}
	}
	for j := i + 1; j < len(blocks); j++ {
		switch {
		case blocks[j].Kind == Fence:
			return path, j
		case blocks[j].Kind == Heading:
			return "", 0
		}
	}
	return "", 0
}

var (
	headingPattern = regexp.MustCompile(`^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?$`)
	fencePattern   = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*([^`\r]*)\r?$")
)

// splitBlocks cuts a prompt into blocks; text blocks of blanks only are left out.
func splitBlocks(prompt string) []Block {
	var blocks []Block
	var text []string
	flush := func() {
		if t := strings.Join(text, "\n"); strings.TrimSpace(t) != "" {
			blocks = append(blocks, Block{Kind: Text, Text: t})
		}
		text = nil
	}
	lines := strings.Split(prompt, "\n")
	for i := 0; i < len(lines); i++ {
		if m := headingPattern.FindStringSubmatch(lines[i]); m != nil {
			flush()
			blocks = append(blocks, Block{Kind: Heading, Level: len(m[1]), Text: m[2]})
			continue
		}
		m := fencePattern.FindStringSubmatch(lines[i])
		if m == nil {
			text = append(text, lines[i])
			continue
		}
		flush()
		first := i + 1
		for i++; i < len(lines) && !closes(lines[i], m[1]); i++ {
		}
		content := ""
		if i > first {
			content = strings.Join(lines[first:i], "\n") + "\n"
		}
		blocks = append(blocks, Block{Kind: Fence, Info: strings.TrimSpace(m[2]), Text: content})
	}
	flush()
	return blocks
}

// closes reports whether a line closes a fence that was opened by the given marks.
func closes(line, open string) bool {
	t := strings.TrimRight(strings.TrimLeft(line, " "), " \t\r")
	return len(t) >= len(open) && strings.Trim(t, open[:1]) == "" && len(line)-len(strings.TrimLeft(line, " ")) <= 3
}
