package mutate

import "testing"

// TestSummarise: a line for each attempt, an earlier summary's lines as they are.
func TestSummarise(t *testing.T) {
	got := Summarise("Reply with a summary.\n\n## Earlier attempts\n\nSummary of earlier attempts that are left out here:\n\n```text\nAttempt 1: failed test_a; changed a.py:3\n```\n\n" +
		"### Attempt 2: failed\n\nPatch that was tried:\n\n```diff\n--- a/a.py\n+++ b/a.py\n@@ -4,3 +4,3 @@\n x\n-y\n+z\n w\n@@ -9,2 +9,3 @@\n u\n+v\n t\n```\n\nVerifier output:\n\n```text\nFAIL: test_b (t.T.test_b)\nERROR: test_c (t.T)\nFAIL: test_b (t.T.test_b)\n```\n\n" +
		"### Attempt 3: changed nothing\n\nPatch that was tried: none, the files were left as they were.\n")
	want := "Attempt 1: failed test_a; changed a.py:3\nAttempt 2: failed test_b, test_c; changed a.py:5, a.py:9\nAttempt 3: no test named; no line shown\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Summarise(""); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
