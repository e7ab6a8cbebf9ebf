package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
)

// Fingerprint is the SHA-256, as 64 hex digits, of all rows of a sealed run
// (events, attempts, trials, blobs) without their volatile columns: equal for
// two runs exactly if everything but names and clocks is equal. It is taken of
// the rows and not of the files, and so does not depend on their compression.
func Fingerprint(runDir string) (string, error) {
	if _, err := sealedMeta(runDir); err != nil {
		return "", fmt.Errorf("take fingerprint: %w", err)
	}
	hash := sha256.New()
	for _, add := range []func() error{
		func() error { return hashTable[Event](hash, runDir, EventsFile) },
		func() error { return hashTable[Attempt](hash, runDir, AttemptsFile) },
		func() error { return hashTable[Trial](hash, runDir, TrialsFile) },
		func() error { return hashTable[BlobRow](hash, runDir, BlobsFile) },
	} {
		if err := add(); err != nil {
			return "", fmt.Errorf("take fingerprint: %w", err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// hashTable adds the table's name and one JSON line per row.
func hashTable[T any](hash io.Writer, runDir, name string) error {
	columns := slices.DeleteFunc(columnsOf[T](), func(c column) bool {
		return slices.Contains(VolatileColumns, c.name)
	})
	text := []byte(name + "\n")
	hash.Write(text) // a hash never fails
	return scanParquet(filepath.Join(runDir, name), func(row *T) {
		text = appendRowJSON(text[:0], columns, reflect.ValueOf(row).Elem())
		text = append(text, '\n')
		hash.Write(text)
	})
}
