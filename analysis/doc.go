// Package analysis says what a run means. It reads the sealed Parquet files of
// package results, and nothing else of the run:
//
//  1. [Load] reads trials, attempts, events and the patches behind them.
//  2. pairs.go puts two arms' trials of one fork side by side and hands the
//     counts to [paired.Difference], by group of tasks.
//  3. landings.go and indicators.go look at where retries went: patch identity,
//     similarity to the shared draft.
//  4. gates.go recomputes from the log whether the experiment was one at all.
//  5. [Compare] puts the numbers into a [Comparison]: values, never formatted
//     text. Its JSON form is the contract "retrial/compare/v1".
//  6. text.go lays a Comparison out as tables for people.
//
// The statistics themselves live in package paired, which knows nothing of
// runs. This package never imports the harness.
package analysis
