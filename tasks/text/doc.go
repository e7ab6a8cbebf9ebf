// Package text holds the checkers of generate-and-check tasks: the whole reply
// of a solver is the file [AnswerFile], and a verify or score command
// "builtin:text/NAME" names the checker that reads it. Checkers are pure and
// deterministic; they run in the program itself, without a shell.
//
// # How an answer is read
//
// In this order, and the same for every checker:
//
//  1. An answer of more than [MaxAnswer] bytes, or one that is not UTF-8, is one
//     problem and is looked at no further.
//  2. A byte order mark is dropped; CRLF and a lone CR are line ends.
//  3. Blanks at the end of each line go, and so do blanks and blank lines around
//     the whole answer, the indent of its first line too.
//  4. A code fence around the whole answer goes, with its label: models put one
//     around JSON, tables and code unasked, and no task here is about it. A
//     fence with text before or behind it stays, and is part of the answer.
//  5. What is left must not be empty.
//
// Everything else counts: case, punctuation, blank lines and blanks inside.
//
// # Words
//
// A word is what stands between blanks, less the punctuation around it, if a
// letter or a digit is in it: "well-known" and "don't" are one word each, a dash
// by itself is none. A sentence ends with . ! or ?, behind which a closing quote
// or bracket may stand, before a blank or the end; "3.5" ends none, "Mr." does.
// Paragraphs are set apart by blank lines. Words are compared without regard to
// case, and ’ counts as '.
//
// # How checkers are made
//
//	answer --check--> problems           text.go, combine.go
//	check = all | then | eachLine | …    combine.go
//	      | words, sentences, letters    words.go
//	      | lists, sorting, selections   items.go
//	      | numbers, expressions         numbers.go
//	      | JSON, CSV, Markdown tables   json.go, grid.go
//	      | codes and check digits       codes.go
//	      | puzzles                      puzzles.go
//	NAME --> check, family by family     tasks_*.go
package text
