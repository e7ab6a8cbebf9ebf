// Package mutate is the built-in offline repairer. It is not a language model.
//
// An attempt is a hypothesis about lines. It goes like this:
//
//  1. The prompt is read (ParsePrompt): the editable files as shown there and,
//     after the last of them, the history that an arm added. Nothing else about
//     the task is known, besides what verify runs tell.
//  2. One verify run of the unmodified program, counted, gives the coverage of
//     each visible test. It and all mutants of the program are kept per task.
//  3. Lines are scored (rank.go) and the few highest taken.
//  4. The mutants of those lines are tried in order against the visible tests
//     until one passes or the verify runs are used up; else the one that passes
//     most tests is submitted. One that hangs, crashes or takes all memory passes
//     none.
//
// A line's score is
//
//	2.5·ln[(0.02 + Ochiai³)·(1 + 3·named)·√Σw] + √ρ·G(trial) + √(1−ρ)·G(attempt) + history
//
// Ochiai is taken from the visible tests, named is 1 where a traceback of theirs
// names the line, w are the prior weights of the line's mutants, G is Gumbel
// noise drawn from the trial seed and from the attempt seed. A mutant's score is
// ln w plus the same two noises. Memory decides the history term.
//
// Mutations are made, and candidates tried, by warm Python interpreters (*.py,
// embedded; Python 3.8 or later, standard library only), one for each concurrent
// Solve, which fork a child for each candidate. A hang is decided by counted
// work, so that verdicts depend neither on load nor on concurrency; verdicts are
// kept per (task, patch) and a kept one still counts as a verify run.
package mutate
