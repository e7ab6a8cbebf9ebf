package workspace

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// DefaultOutputCap is the output kept of a command, in bytes.
const DefaultOutputCap = 64 << 10

// A capture keeps the head and the tail of what is written to it, each half of
// the cap, in memory bounded by twice the cap.
type capture struct {
	headCap, tailCap int
	head, tail       []byte // tail may be longer than tailCap, by as much again
	cut              int    // bytes dropped between them so far
}

func newCapture(limit int) *capture {
	if limit <= 0 {
		limit = DefaultOutputCap
	}
	return &capture{headCap: limit / 2, tailCap: limit - limit/2}
}

func (c *capture) Write(p []byte) (int, error) {
	n := len(p)
	if room := c.headCap - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	if len(p) > c.tailCap {
		c.cut += len(c.tail) + len(p) - c.tailCap
		c.tail = append(c.tail[:0], p[len(p)-c.tailCap:]...)
		return n, nil
	}
	if len(c.tail)+len(p) > 2*c.tailCap {
		c.trim()
	}
	c.tail = append(c.tail, p...)
	return n, nil
}

func (c *capture) trim() {
	if over := len(c.tail) - c.tailCap; over > 0 {
		c.cut += over
		c.tail = append(c.tail[:0], c.tail[over:]...)
	}
}

// result returns the text and how many bytes were cut from it. A cut never
// splits a character of UTF-8 text.
func (c *capture) result() (string, int) {
	c.trim()
	head, tail := c.head, c.tail
	if c.cut == 0 {
		return string(head) + string(tail), 0
	}
	cut := c.cut
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if b := head[len(head)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(head[len(head)-i:]) {
				head = head[:len(head)-i]
				cut += i
			}
			break
		}
	}
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
		cut++
	}
	return fmt.Sprintf("%s\n[... %d bytes cut ...]\n%s", head, cut, tail), cut
}

// A masker passes text on with the paths of a box replaced by those that a
// sandboxed command sees, so that output does not depend on where the copy
// stands. Paths split over writes are found as well.
type masker struct {
	out  *capture
	box  []byte
	rest []byte // not yet passed on: it may be the start of a path
}

// maskedBox stands for the box itself and what is neither tree, home nor tmp.
const maskedBox = "/box"

var masks = []struct{ name, seen string }{
	{"/" + treeName, sandboxTree},
	{"/" + homeName, sandboxHome},
	{"/" + tmpName, sandboxTmp},
}

func (m *masker) Write(p []byte) (int, error) {
	m.rest = append(m.rest, p...)
	m.flush(false)
	return len(p), nil
}

// flush passes on what is decided; at the end, everything.
func (m *masker) flush(end bool) {
	rest := m.rest
	const longest = len("/" + treeName)
	for {
		i := bytes.Index(rest, m.box)
		if i < 0 || !end && len(rest) < i+len(m.box)+longest {
			break
		}
		m.out.Write(rest[:i])
		rest = rest[i+len(m.box):]
		seen := maskedBox
		for _, mask := range masks {
			if bytes.HasPrefix(rest, []byte(mask.name)) {
				seen = mask.seen
				rest = rest[len(mask.name):]
				break
			}
		}
		m.out.Write([]byte(seen))
	}
	hold := 0
	if i := bytes.Index(rest, m.box); i >= 0 {
		hold = len(rest) - i
	} else if !end {
		hold = overlap(rest, m.box)
	}
	m.out.Write(rest[:len(rest)-hold])
	m.rest = append(m.rest[:0], rest[len(rest)-hold:]...)
}

// overlap is the length of the longest end of text that is a start of word.
func overlap(text, word []byte) int {
	for n := min(len(word)-1, len(text)); n > 0; n-- {
		if bytes.HasSuffix(text, word[:n]) {
			return n
		}
	}
	return 0
}
