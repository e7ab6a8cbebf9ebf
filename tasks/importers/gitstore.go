package importers

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gitStore reads the objects of one repository from its files: loose ones, and
// packs with an index of version 2. It starts no program, so that no hook, no
// configuration, no network and no question can come of a mirror. Refs are never
// read: a commit is named by its whole hash, and every object that is given out
// is checked against its name. A delta's base that the pack names by its place
// has no name there; where it is damaged, what lies on it has another hash.
type gitStore struct {
	objects []string // folders of objects: the repository's own, then its alternates
	packs   []*gitPack
	memory  *gitMemory
}

// gitMemory is what the repositories of one source keep in memory together:
// contents that rows share, and objects that deltas were made against.
type gitMemory struct {
	limit int // bytes
	held  int
	blobs map[gitBlobKey][]byte
	bases map[gitPlace]gitBase
}

type gitBlobKey struct {
	store *gitStore
	hash  gitHash
}

// gitPlace is where an object stands in a pack.
type gitPlace struct {
	pack   *gitPack
	offset int64
}

type gitBase struct {
	kind int
	data []byte
}

// newGitMemory is one of at most limit bytes.
func newGitMemory(limit int) *gitMemory {
	return &gitMemory{limit: limit, blobs: map[gitBlobKey][]byte{}, bases: map[gitPlace]gitBase{}}
}

// room says whether n more bytes may be kept, and forgets all others where they
// would be too many.
func (m *gitMemory) room(n int) bool {
	if n > m.limit {
		return false
	}
	if m.held += n; m.held > m.limit {
		m.held = n
		clear(m.blobs)
		clear(m.bases)
	}
	return true
}

type gitHash [sha1.Size]byte

func (h gitHash) String() string { return hex.EncodeToString(h[:]) }

const (
	maxHeld       = 256 << 20 // bytes that all repositories of a source keep for the next row
	maxObject     = 64 << 20  // bytes of a commit or a folder's listing
	maxBase       = 512 << 20 // bytes of what deltas lie on: git makes none of larger files by itself
	maxDeltas     = 4096      // length of a chain of deltas; git's own limit is 4095
	maxAlternates = 64
	firstRoom     = 1 << 20 // bytes that are set aside at most before any of an object was read
)

// Kinds of objects, as packs number them.
const (
	gitCommit   = 1
	gitTree     = 2
	gitBlob     = 3
	gitTag      = 4
	gitOfsDelta = 6
	gitRefDelta = 7
)

var gitKinds = map[string]int{"commit": gitCommit, "tree": gitTree, "blob": gitBlob, "tag": gitTag}

// errNoObject: the repository does not hold an object.
var errNoObject = errors.New("no such object")

// openGit opens a clone, bare or not, that keeps contents in memory. The error
// says why dir is none.
func openGit(dir string, memory *gitMemory) (*gitStore, error) {
	s := &gitStore{memory: memory}
	for _, at := range []string{filepath.Join(dir, ".git"), dir} {
		objects := filepath.Join(at, "objects")
		if _, err := os.Stat(filepath.Join(at, "HEAD")); err != nil {
			continue
		}
		if info, err := os.Stat(objects); err == nil && info.IsDir() {
			s.objects = []string{objects}
			break
		}
	}
	if s.objects == nil {
		return nil, errors.New("it is no git repository: neither it nor .git in it holds HEAD and objects/")
	}
	for i := 0; i < len(s.objects); i++ {
		if err := s.alternates(s.objects[i]); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if err := s.openPacks(s.objects[i]); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Close closes the packs.
func (s *gitStore) Close() error {
	var err error
	for _, p := range s.packs {
		err = errors.Join(err, p.file.Close())
	}
	return err
}

// alternates adds the folders that a clone made with --shared borrows from.
func (s *gitStore) alternates(objects string) error {
	data, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(objects, line)
		}
		if s.objects = append(s.objects, line); len(s.objects) > maxAlternates {
			return errors.New("its objects/info/alternates lead in a circle")
		}
	}
	return err
}

// object reads one object of at most limit bytes.
func (s *gitStore) object(h gitHash, limit int64) (kind int, data []byte, err error) {
	return s.base(h, limit, 0)
}

// base is object for one that deltas lie on; deltas is how many.
func (s *gitStore) base(h gitHash, limit int64, deltas int) (kind int, data []byte, err error) {
	for _, dir := range s.objects {
		name := h.String()
		f, err := os.Open(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		kind, data, err = readLoose(f, limit)
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, nil, fmt.Errorf("object %s: %w", h, err)
		}
		return kind, data, h.check(kind, data)
	}
	for _, p := range s.packs {
		offset, ok := p.find(h)
		if !ok {
			continue
		}
		kind, data, err = s.inPack(p, offset, limit, deltas)
		if err != nil && deltas == 0 {
			err = fmt.Errorf("object %s: %w", h, err)
		}
		if err != nil {
			return 0, nil, err
		}
		return kind, data, h.check(kind, data)
	}
	return 0, nil, fmt.Errorf("%w: %s", errNoObject, h)
}

// hashOf is an object's name.
func hashOf(kind int, data []byte) gitHash {
	sum := sha1.New()
	for name, k := range gitKinds {
		if k == kind {
			fmt.Fprintf(sum, "%s %d\x00", name, len(data))
		}
	}
	sum.Write(data)
	return gitHash(sum.Sum(nil))
}

// check compares an object with its name.
func (h gitHash) check(kind int, data []byte) error {
	if hashOf(kind, data) != h {
		return fmt.Errorf("object %s is damaged: its content has another hash", h)
	}
	return nil
}

func readLoose(f io.Reader, limit int64) (kind int, data []byte, err error) {
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return 0, nil, fmt.Errorf("it is damaged: %w", err)
	}
	in := bufio.NewReader(z)
	head, err := in.ReadString(0)
	name, digits, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	size, bad := strconv.ParseInt(digits, 10, 64)
	if kind = gitKinds[name]; err != nil || bad != nil || kind == 0 {
		return 0, nil, errors.New("it is damaged: it has no header")
	}
	data, err = readSized(in, size, limit)
	return kind, data, err
}

// readSized reads size bytes, or none where they are more than limit. It takes no
// more memory than what is there: the size may be a damaged one.
func readSized(r io.Reader, size, limit int64) ([]byte, error) {
	if size < 0 || size > limit {
		return nil, overLimit(size, limit)
	}
	data := make([]byte, min(size, firstRoom))
	for done := int64(0); ; {
		if _, err := io.ReadFull(r, data[done:]); err != nil {
			return nil, fmt.Errorf("it is damaged: %w", err)
		}
		if done = int64(len(data)); done == size {
			return data, nil
		}
		data = append(make([]byte, 0, min(size, 2*done)), data...)
		data = data[:cap(data)]
	}
}

func overLimit(size, limit int64) error {
	return fmt.Errorf("it has %d bytes, over the limit of %d", size, limit)
}

// commitTree is the tree of a commit.
func (s *gitStore) commitTree(h gitHash) (gitHash, error) {
	kind, data, err := s.object(h, maxObject)
	if err != nil {
		return gitHash{}, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	tree, ok := strings.CutPrefix(line, "tree ")
	if kind != gitCommit || !ok {
		return gitHash{}, fmt.Errorf("object %s is no commit", h)
	}
	return parseGitHash(tree)
}

func parseGitHash(s string) (h gitHash, err error) {
	if len(s) != hex.EncodedLen(len(h)) {
		return h, fmt.Errorf("%q is not a whole SHA-1 hash of 40 hex digits", s)
	}
	if _, err = hex.Decode(h[:], []byte(s)); err != nil {
		err = fmt.Errorf("%q is not a whole SHA-1 hash of 40 hex digits", s)
	}
	return h, err
}

// gitFiles is the content of a commit.
type gitFiles struct {
	files      map[string]file
	submodules []string // paths at which another repository stands; nothing is there
	lfs        []string // files that only point to their content
}

// lfsPointer starts a file whose content is kept elsewhere by Git LFS.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// checkout reads the files of a commit, as they are stored: without line ends
// converted and without filters.
func (s *gitStore) checkout(commit gitHash) (gitFiles, error) {
	out := gitFiles{files: map[string]file{}}
	tree, err := s.commitTree(commit)
	if err == nil {
		err = s.walk(tree, "", &out)
	}
	return out, err
}

func (s *gitStore) walk(tree gitHash, dir string, out *gitFiles) error {
	kind, data, err := s.object(tree, maxObject)
	if err == nil && kind != gitTree {
		err = fmt.Errorf("object %s is no folder's listing", tree)
	}
	if err != nil {
		return err
	}
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < sha1.Size {
			return fmt.Errorf("object %s is damaged: it is cut off", tree)
		}
		h := gitHash(rest[:sha1.Size])
		data = rest[sha1.Size:]
		p := dir + name
		if !utf8.ValidString(name) {
			return fmt.Errorf("its file name %q is not UTF-8", p)
		}
		if !fs.ValidPath(name) || strings.Contains(name, "/") || name == "." || strings.EqualFold(name, ".git") {
			return fmt.Errorf("its commit holds the name %q, which no checkout may have", p)
		}
		if err := s.entry(mode, h, p, out); err != nil {
			return err
		}
	}
	return nil
}

// entry adds what stands at one path of a tree.
func (s *gitStore) entry(mode string, h gitHash, p string, out *gitFiles) error {
	switch mode {
	case "40000", "040000":
		return s.walk(h, p+"/", out)
	case "160000":
		out.submodules = append(out.submodules, p)
		return nil
	case "100644", "100664", "100755", "120000":
	default:
		return fmt.Errorf("its file %s has the mode %s, which is not known", p, mode)
	}
	data, err := s.blob(h)
	if err != nil {
		return fmt.Errorf("its file %s cannot be read: %w", p, err)
	}
	if bytes.HasPrefix(data, []byte(lfsPointer)) {
		out.lfs = append(out.lfs, p)
	}
	out.files[p] = file{data: data, exec: mode == "100755", link: mode == "120000"}
	return nil
}

// blob reads a file's content. Rows of one repository share most of them.
func (s *gitStore) blob(h gitHash) ([]byte, error) {
	if data, ok := s.memory.blobs[gitBlobKey{s, h}]; ok {
		return data, nil
	}
	kind, data, err := s.object(h, maxFile)
	if err == nil && kind != gitBlob {
		err = fmt.Errorf("object %s is no file", h)
	}
	if err != nil {
		return nil, err
	}
	if s.memory.room(len(data)) {
		s.memory.blobs[gitBlobKey{s, h}] = data
	}
	return data, nil
}
