// Package arms decides; it does nothing else. An [Arm] is data: what of a
// trial's history goes into the retry prompt. [Arm.Next] looks at a [State]
// and says what to do next. The package has no clock, file, network or random
// source, so the same state always gives the same prompt, byte for byte.
//
// # The technique under test, step by step
//
// Each step has a test of its name, TestStep1… to TestStep7…, that fails
// without it; testdata/*.txt shows the prompts that they make, arm by arm.
//
//  1. Keep the attempts in a list, one [Record] each: the verifier's output,
//     the patch really written, the first tool step that errored. The list is
//     [State.Records], to which the caller appends; nothing here drops or
//     reorders it.
//  2. Take the real diff. The caller takes it from the tree before it reverts
//     it and puts it in [Record.Patch]; an arm that shows [PartDiff] shows it
//     as it is.
//  3. Compose the retry prompt from all records, oldest first, each labelled
//     with number and verdict, under a heading that says they were tried and
//     reverted: [Arm.Compose], called by [Arm.Next]. The heading is the arm's
//     own, in presets.yaml.
//  4. Cap each part of a record and cut it with a visible marker: [Caps], the
//     functions in cut.go, and a [Cut] for each.
//  5. Merge records of one failure, by signature or, with [Fuzzy], by the words
//     of their outputs; keep the earliest or the latest, say that and where it
//     recurred: [Dedupe], [Keep], [Merge]; signatures are made by [Sign].
//  6. When a failure repeats ([Arm.Repeat]), change something structural:
//     [Arm.OnRepeat] says what, in next.go. A plan from the accumulated causes
//     stands in the history's place, the next rung of the solver's ladder makes
//     the attempt, or the solver is told to go another way.
//  7. Account for what was injected: an [Injection] comes with every prompt
//     that shows records, for one event.
//
// # Where to read
//
//	State --Arm.Next--> Decision{Action, Prompt, Injection}     next.go
//	          |
//	          +-- Problem.prompt: what all arms share            prompt.go
//	          +-- Arm.Add: what this arm adds to it              next.go, place.go
//	               +-- Arm.Compose: the history                  compose.go, cut.go, wording.go
//	records.jsonl --ParseRecords--> []Record                     readrecords.go
//	verifier output --NormaliseOutput--> Record.VerifyOutput     normalise.go
//	                --Sign--> Record.Signature                   signature.go, package signature
//	records --Arm.merge--> one record for each failure          dedupe.go
//	design.yaml --Override, ParseDesign--> Design                override.go, parse.go, spec.go, design.go
//	          |
//	          +-- Prediction: what was expected of the outcome   prediction.go
//	          +-- Arm.Specimen: how an arm composes, to be hashed specimen.go
//	            --Schema--> what an editor completes             schema.go
package arms
