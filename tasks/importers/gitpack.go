package importers

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// gitPack is one pack with its index, the latter in memory:
//
//	magic(4) version(4) fanout(256×4) names(n×20) crc(n×4) offsets(n×4) large offsets(m×8) trailer(40)
type gitPack struct {
	file  *os.File
	size  int64
	index []byte
	count int
}

const (
	indexFanout = 8
	indexNames  = indexFanout + 256*4
)

func (s *gitStore) openPacks(objects string) error {
	found, err := filepath.Glob(filepath.Join(EscapeGlob(objects), "pack", "*.idx"))
	if err != nil {
		return err
	}
	for _, idx := range found {
		p, err := openPack(idx)
		if err != nil {
			return fmt.Errorf("read %s: %w", filepath.Base(idx), err)
		}
		s.packs = append(s.packs, p)
	}
	return nil
}

// EscapeGlob makes a path a pattern, as of filepath.Glob, that matches itself.
func EscapeGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}

func openPack(idx string) (*gitPack, error) {
	p := &gitPack{}
	var err error
	if p.index, err = os.ReadFile(idx); err != nil {
		return nil, err
	}
	if len(p.index) < indexNames || !bytes.HasPrefix(p.index, []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, errors.New("it is no index of version 2: `git repack -ad` writes one")
	}
	p.count = int(p.fanout(255))
	if want := int64(indexNames) + int64(p.count)*28 + 40; int64(len(p.index)) < want {
		return nil, fmt.Errorf("it is cut off: it has %d bytes of %d", len(p.index), want)
	}
	if p.file, err = os.Open(strings.TrimSuffix(idx, ".idx") + ".pack"); err != nil {
		return nil, err
	}
	info, err := p.file.Stat()
	if err != nil {
		return nil, errors.Join(err, p.file.Close())
	}
	p.size = info.Size()
	return p, nil
}

func (p *gitPack) fanout(i int) uint32 { return binary.BigEndian.Uint32(p.index[indexFanout+4*i:]) }

// find is where an object stands in the pack.
func (p *gitPack) find(h gitHash) (offset int64, ok bool) {
	low, high := 0, min(int(p.fanout(int(h[0]))), p.count)
	if h[0] > 0 {
		low = min(int(p.fanout(int(h[0])-1)), high)
	}
	name := func(i int) []byte { return p.index[indexNames+i*sha1.Size:][:sha1.Size] }
	i := low + sort.Search(high-low, func(i int) bool { return bytes.Compare(name(low+i), h[:]) >= 0 })
	if i >= high || !bytes.Equal(name(i), h[:]) {
		return 0, false
	}
	offsets := indexNames + p.count*(sha1.Size+4)
	at := binary.BigEndian.Uint32(p.index[offsets+4*i:])
	if at&(1<<31) == 0 {
		return int64(at), true
	}
	large := offsets + p.count*4 + int(at&^(1<<31))*8
	if large+8 > len(p.index) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(p.index[large:])), true
}

// inPack reads the object at an offset, of at most limit bytes; deltas is how many
// lie on it already. What it lies on itself may be larger.
func (s *gitStore) inPack(p *gitPack, offset, limit int64, deltas int) (kind int, data []byte, err error) {
	if base, ok := s.memory.bases[gitPlace{p, offset}]; ok {
		if size := int64(len(base.data)); size > limit {
			return 0, nil, overLimit(size, limit)
		}
		return base.kind, base.data, nil
	}
	if deltas > maxDeltas {
		return 0, nil, fmt.Errorf("its pack is damaged: more than %d deltas lie on one another", maxDeltas)
	}
	if offset < 0 || offset >= p.size {
		return 0, nil, errors.New("its pack is damaged: an object outside of it")
	}
	in := bufio.NewReader(io.NewSectionReader(p.file, offset, p.size-offset))
	kind, size, err := packHeader(in)
	if err != nil {
		return 0, nil, err
	}
	var base gitBase
	switch kind {
	case gitCommit, gitTree, gitBlob, gitTag:
		data, err = inflate(in, size, limit)
		return kind, data, err
	case gitOfsDelta:
		var back int64
		if back, err = packOffset(in); err == nil {
			base.kind, base.data, err = s.inPack(p, offset-back, maxBase, deltas+1)
		}
		offset -= back
	case gitRefDelta:
		var h gitHash
		if _, err = io.ReadFull(in, h[:]); err == nil {
			base.kind, base.data, err = s.base(h, maxBase, deltas+1)
		}
		offset = -1
	default:
		err = fmt.Errorf("its pack is damaged: an object of kind %d", kind)
	}
	if err != nil {
		return 0, nil, err
	}
	if offset >= 0 {
		s.keep(p, offset, base)
	}
	delta, err := inflate(in, size, maxBase)
	if err != nil {
		return 0, nil, err
	}
	data, err = applyDelta(base.data, delta, limit)
	return base.kind, data, err
}

func (s *gitStore) keep(p *gitPack, offset int64, base gitBase) {
	at := gitPlace{p, offset}
	if _, ok := s.memory.bases[at]; !ok && s.memory.room(len(base.data)) {
		s.memory.bases[at] = base
	}
}

// packHeader reads an object's kind and the size of what is packed.
func packHeader(in io.ByteReader) (kind int, size int64, err error) {
	b, err := in.ReadByte()
	kind, size = int(b>>4&7), int64(b&15)
	for shift := 4; err == nil && b&0x80 != 0; shift += 7 {
		if shift > 50 {
			return 0, 0, errors.New("its pack is damaged: an object without end")
		}
		b, err = in.ReadByte()
		size |= int64(b&0x7f) << shift
	}
	return kind, size, err
}

// packOffset reads how far back a delta's base stands.
func packOffset(in io.ByteReader) (int64, error) {
	b, err := in.ReadByte()
	n := int64(b & 0x7f)
	for err == nil && b&0x80 != 0 {
		if n > 1<<50 {
			return 0, errors.New("its pack is damaged: a delta without base")
		}
		b, err = in.ReadByte()
		n = (n+1)<<7 | int64(b&0x7f)
	}
	if err == nil && n <= 0 {
		err = errors.New("its pack is damaged: a delta on itself")
	}
	return n, err
}

func inflate(in io.Reader, size, limit int64) ([]byte, error) {
	z, err := zlib.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("its pack is damaged: %w", err)
	}
	return readSized(z, size, limit)
}

// applyDelta makes an object from its base: a delta holds both sizes, then
// pieces to copy from the base and bytes to insert.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	damaged := errors.New("its pack is damaged: a delta does not fit its base")
	in := bytes.NewReader(delta)
	from, err := binary.ReadUvarint(in)
	to, err2 := binary.ReadUvarint(in)
	if err != nil || err2 != nil || from != uint64(len(base)) {
		return nil, damaged
	}
	if to > uint64(limit) {
		return nil, overLimit(int64(min(to, math.MaxInt64)), limit)
	}
	out := make([]byte, 0, min(to, firstRoom))
	for in.Len() > 0 {
		op, _ := in.ReadByte()
		var piece []byte
		if op&0x80 == 0 {
			piece = make([]byte, op)
			if _, err := io.ReadFull(in, piece); op == 0 || err != nil {
				return nil, damaged
			}
		} else {
			start, size := deltaCopy(in, op)
			if start < 0 || start+size > len(base) {
				return nil, damaged
			}
			piece = base[start : start+size]
		}
		if out = append(out, piece...); uint64(len(out)) > to {
			return nil, damaged
		}
	}
	if uint64(len(out)) != to {
		return nil, damaged
	}
	return out, nil
}

// deltaCopy reads which piece of the base to copy; start is -1 where the delta
// ends before. A size of 0 stands for 64 KiB.
func deltaCopy(in io.ByteReader, op byte) (start, size int) {
	var parts [7]int
	for i := range parts {
		if op&(1<<i) == 0 {
			continue
		}
		b, err := in.ReadByte()
		if err != nil {
			return -1, 0
		}
		parts[i] = int(b)
	}
	start = parts[0] | parts[1]<<8 | parts[2]<<16 | parts[3]<<24
	if size = parts[4] | parts[5]<<8 | parts[6]<<16; size == 0 {
		size = 1 << 16
	}
	return start, size
}
