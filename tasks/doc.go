// Package tasks loads and checks the corpus: what is to be solved, how an
// answer is verified, and how it is scored.
//
// A [Task] is one folder, or one txtar file with the same paths:
//
//	task.yaml     the fields of [Task]
//	workspace/    what the solver starts from
//	hidden/       laid over the tree for the score command only
//	solution/     a reference solution, laid over workspace/
//
// A verify or score command "builtin:text/NAME" is a checker of package text,
// which judges the solver's whole reply without a shell.
//
// [Load] reads a corpus named by a specification (builtin:NAME, a folder of
// task folders and txtar files, one task folder, or one txtar file); both
// forms go through one [io/fs.FS] loader. Package importers adds KIND:SOURCE for
// tasks in other formats, by [RegisterImporter]. [Check] runs a task's own commands
// on the untouched workspace and on the solution, through a function that the
// caller supplies: this package starts no process.
package tasks
