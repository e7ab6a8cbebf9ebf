// Package results holds what happened: the accounting events of a run, the
// journal that keeps them while the run is going, and the Parquet files that
// hold them afterwards.
//
// One type, [Event], is what the harness writes and what every reader reads.
// The tidy tables ([Attempt], [Trial]) are derived from events and from
// nothing else, so that each published number can be traced to a line of the
// journal.
//
// The path of one number:
//
//  1. The harness calls [Journal.Append] with events; [Journal.Commit] makes
//     them durable at each attempt's end and after each paid call.
//  2. [ReadJournal] reads them back, whole lines with a good checksum only.
//  3. [Seal] orders the events canonically (see [SortEvents]), derives
//     attempts and trials, and writes events.parquet, attempts.parquet,
//     trials.parquet and blobs.parquet.
//  4. [Open] reads a sealed run for the analysis; [Export] writes its tables
//     in other formats, from the journal where the run was killed.
//
// Package registry, below this one, keeps what was registered before a run, and
// which runs are not to count.
//
// The sealed rows depend on the design, the corpus and the seed alone, and on
// whether the run was registered, but for the columns of [VolatileColumns];
// [Fingerprint] is their hash.
package results
