package seed

import (
	"slices"
	"strings"
	"testing"
)

const rule = "======================================================================\n"

// TestFailures: what each runner prints of a failure.
func TestFailures(t *testing.T) {
	unittest := rule + "ERROR: test_b (tests.test_x.Case.test_b)\n" + strings.Repeat("-", 70) + "\nTraceback (most recent call last):\n" +
		"  File \"/ws/tests/test_x.py\", line 9, in test_b\n    f()\n  File \"/ws/x.py\", line 2, in f\nKeyError: 'k'\n\n" +
		rule + "FAIL: test_a (test_x.Case)\n" + strings.Repeat("-", 70) + "\nTraceback (most recent call last):\n" +
		"  File \"/ws/test_x.py\", line 5, in test_a\n    self.assertEqual(1, 2)\nAssertionError: 1 != 2\n\nRan 2 tests in [time]\n\nFAILED\n"
	for name, c := range map[string]struct {
		output string
		want   []failure
	}{
		"unittest": {unittest, []failure{{"test_x.Case.test_a", "test_x.py:5 AssertionError: 1 != 2"}, {"tests.test_x.Case.test_b", "test_x.py:9 KeyError: 'k'"}}},
		"pytest": {"F.\nFAILED tests/test_x.py::test_a[1-2] - assert 1 == 2\nFAILED test_y.py::Case::test_b - KeyError\nERROR tests/test_z.py\n2 failed\n",
			[]failure{{"test_x.test_a", "assert 1 == 2"}, {"test_y.Case.test_b", "KeyError"}, {"test_z", ""}}},
		"go": {"--- FAIL: TestB (0.00s)\n    --- FAIL: TestB/sub (0.01s)\n        b_test.go:7: got 3\n--- FAIL: TestA (0.20s)\n    a_test.go:1: bad\nFAIL\nFAIL\tm/deep\t0.1s\n" +
			"--- FAIL: TestC (0.00s)\npanic: runtime error: index [recovered]\nFAIL\tm\t0.02s\nFAIL\n",
			[]failure{{"m TestC", "panic: runtime error: index"}, {"m/deep TestA", "a_test.go:1: bad"}, {"m/deep TestB", "--- FAIL: TestB/sub"}}},
		"probe": {"[unit 2] AssertionError: 3 against 4\n" + unittest, []failure{{"unit 2", "AssertionError: 3 against 4"}}},
		"none":  {"all is well\n", nil},
	} {
		got := failures(c.output)
		for i := range got {
			got[i].err = strings.TrimSpace(got[i].err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if fingerprint("--- FAIL: TestA (0.20s)\n    x\nFAIL\tm\t0.1s") != fingerprint("--- FAIL: TestA (0.30s)\n    x\nFAIL\tm\t0.2s") {
		t.Error("durations make a difference")
	}
	if fingerprint("a\nb\n") == fingerprint("a\nc\n") {
		t.Error("two outputs that name no test are one")
	}
}

// TestMatching: which unit a test's id means.
func TestMatching(t *testing.T) {
	python := Tests{Units: []Unit{
		{Path: "tests/test_x.py", Name: "Case.test_a", Block: "Case"}, {Path: "tests/test_x.py", Name: "Case.test_b", Block: "Case"},
		{Path: "tests/test_y.py", Name: "Case.test_a", Block: "Case"}, {Path: "tests/test_y.py", Name: "test_f"},
	}}
	for id, want := range map[string][]int{
		"tests.test_x.Case.test_a":                 {0},
		"test_y.Case.test_a":                       {2},
		"test_x.Case.setUpClass":                   {0, 1},
		"test_y.test_f":                            {3},
		"unittest.loader._FailedTest.test_y":       {2, 3},
		"unittest.loader._FailedTest.tests.test_x": {0, 1},
		"test_x.Heir.test_b":                       {1},
		"test_q.Other.test_q":                      nil,
	} {
		if got := python.matching(id); !slices.Equal(got, want) {
			t.Errorf("%s means %v, want %v", id, got, want)
		}
	}
	goUnits := Tests{
		Units: []Unit{
			{Path: "a_test.go", Name: "TestA"}, {Path: "deep/a_test.go", Name: "TestA"}, {Path: "a/deep/a_test.go", Name: "TestA"},
			{Path: "sub/deep/a_test.go", Name: "TestA"}, {Path: "deep/c_test.go", Name: "TestC"}, {Path: "d_test.go", Name: "TestD"},
		},
		modules: goModules{"host/m": ".", "host/m/nested": "sub"},
	}
	for id, want := range map[string][]int{
		"host/m/deep TestA": {1}, "host/m TestA": {0}, "host/m/deep TestA/sub": {1}, "host/m TestB": nil, "host/m/a/deep TestA": {2},
		"host/m/nested/deep TestA": {3}, "host/m/other TestA": nil, "host/m/deep TestD": nil, "host/m TestC": nil, "host/mm/deep TestA": nil,
		"command-line-arguments TestA": nil, "command-line-arguments TestC": {4}, "command-line-arguments TestD": {5},
	} {
		if got := goUnits.matching(id); !slices.Equal(got, want) {
			t.Errorf("%s means %v, want %v", id, got, want)
		}
	}
	probe := Tests{Units: make([]Unit, 3), Probe: map[string]string{"t.py": ""}}
	if got := probe.failing("[unit 1] X: y\n"); !slices.Equal(got, []int{1}) {
		t.Errorf("a probe's line means %v", got)
	}
	if got := probe.failing("no line\n"); len(got) != 3 {
		t.Errorf("a probe that fails before any assert means %v", got)
	}
}
