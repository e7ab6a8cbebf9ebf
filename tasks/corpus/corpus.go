// Package corpus holds the built-in corpora, one folder each, one txtar file a
// task. They are written for this project.
package corpus

import "embed"

// FS holds the corpora: NAME/ID.txtar.
//
//go:embed go-bugs py-bugs text
var FS embed.FS
