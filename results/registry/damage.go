package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// DamageError says where a registry cannot be trusted. Nothing of the registry is
// used then.
type DamageError struct {
	File   string
	Line   int // from 1; 0 where no single line is at fault
	Reason string
}

func (e *DamageError) Error() string {
	at := e.File
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("read registry: %s is damaged: %s", at, e.Reason)
}

// UnknownError: no registration has a hash that begins so.
type UnknownError struct {
	Hash  string
	Known []string // hashes, in the order registered
}

func (e *UnknownError) Error() string { return fmt.Sprintf("no registration %q", e.Hash) }

// AmbiguousError: several registrations have a hash that begins so.
type AmbiguousError struct {
	Hash string
	Fits []string // hashes
}

func (e *AmbiguousError) Error() string {
	short := make([]string, len(e.Fits))
	for i, h := range e.Fits {
		short[i] = Short(h)
	}
	return fmt.Sprintf("%q begins the hash of %d registrations: %s", e.Hash, len(e.Fits), strings.Join(short, ", "))
}

// offsetOf is where in its input a JSON error was found.
func offsetOf(err error) (int64, bool) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset, true
	case errors.As(err, &kind):
		return kind.Offset, true
	}
	return 0, false
}
