"""Writes real/RUNNER.txtar: what test runners print for one small program, in
one language each, broken in eleven ways, and each way run under other folders,
line numbers, values, orders, colours, widths and numbers of workers.

    SIG_PYTHONPATH=... SIG_NODE=... python3 generate.py [RUNNER...]

A file's name is FAILURE/VARIANT: files of one failure are one failure.
"""
import sys

from runners import build, CMAKE

FAILURES = ["total", "label", "both", "find-value", "find-lookup", "find-words", "find-deeper", "nth", "syntax", "undefined", "crash"]
ALL = ["", "moved", "shifted", "value", "noisy", "order"]
SOME = ["", "moved+noisy", "shifted+value", "order"]
VARIANTS = {
    "unittest": ALL + ["seed", "verbose", "colour"],
    "pytest": ["", "moved", "shifted", "value", "noisy", "order", "colour", "narrow", "wide", "workers"],
    "pytest-q": SOME + ["colour", "narrow", "workers"],
    "pytest-rA": SOME + ["colour", "wide", "workers+order"],
    "junit-pytest": SOME,
    "go": ALL + ["verbose"], "go-json": SOME,
    "cargo": SOME + ["colour+workers"],
    "node-spec": ALL + ["colour", "wide"], "node-tap": SOME,
    "jest": SOME + ["colour", "verbose"], "vitest": SOME + ["colour", "verbose"],
    "surefire": ["", "moved+noisy", "shifted+value+order", "colour"], "junit-surefire": ["", "shifted+value"],
    "gtest": SOME + ["colour", "verbose"], "junit-gtest": ["", "moved+shifted+value"],
    "ctest": ["", "moved+shifted", "value+order", "workers"],
    "bats": ALL + ["colour", "narrow"],
    "prove": SOME + ["colour", "verbose"], "perl-tap": SOME,
}


def fill(template, parts):
    for key, text in parts.items():
        template = template.replace("@%s@" % key, text)
    return template


def shape(tests, variant, comment):
    """The tests in their order, and lines that push the rest down."""
    if "order" in variant:
        tests = tests[::-1]
    return tests, (comment + " moved down\n") * 7 if "shifted" in variant else ""


def number(variant):
    return "4" if "value" in variant else "1"


def python(failure, variant, style):
    v = number(variant)
    # In the value variants what is found, expected or wrong differs, not how.
    total = "sum(items) + " + v if failure in ("total", "both") else "sum(items)"
    label = {"1": "'%d items' % n", "4": "'%d of basket' % (n * 3)"}[v] if failure in ("label", "both") else "'%d pieces' % n"
    find = {"find-value": "raise ValueError('item %d is too far' % (n + @V))", "find-lookup": "raise LookupError('item %d is too far' % (n + @V))",
            "find-words": "raise ValueError('item %d is not sorted' % (n + @V))", "find-deeper": "return seek(items, n + @V)",
            "undefined": "return itms.index(n)", "crash": "os._exit(3)"}.get(failure, "return items.index(n)").replace("@V", v)
    nth = "items[i + 3]" if failure == "nth" else "items[i]"
    tests, shift = shape(["sum", "label", "find", "nth"], variant, "#")
    prog = shift + "import os\nimport sys\n\n\ndef total(items):\n    return %s\n\n\ndef label(n):\n    return %s\n\n\ndef seek(items, n):\n    raise ValueError('item %%d is too far' %% n)\n\n\ndef find(items, n):\n    %s\n\n\ndef nth(items, i):\n    return %s\n" % (total, label, find, nth)
    if failure == "syntax":
        prog = prog.replace("def find(items, n):", "def find(items, n:")
    noise = "    print('2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_')\n" % ((v,) * 7) if "noisy" in variant else ""
    if style == "unittest":
        bodies = {"sum": "        self.assertEqual(total([1, 2]), 3)\n", "label": "        self.assertEqual(label(2), '2 pieces')\n",
                  "find": "        self.assertEqual(find([1, 2], 2), 1)\n", "nth": "        self.assertEqual(nth([1, 2], 1), 2)\n"}
        test = shift + "import unittest\n\nfrom basket import find, label, nth, total\n\n\nclass BasketTest(unittest.TestCase):\n"
        test += "\n".join("    def test_%s(self):\n%s%s" % (t, noise.replace("    print", "        print"), bodies[t]) for t in tests)
    else:
        bodies = {"sum": "    assert total([1, 2]) == 3\n", "label": "    assert label(2) == '2 pieces'\n",
                  "find": "    assert find([1, 2], 2) == 1\n", "nth": "    assert nth([1, 2], 1) == 2\n"}
        test = shift + "from basket import find, label, nth, total\n"
        test += "".join("\n\ndef test_%s():\n%s%s" % (t, noise, bodies[t]) for t in tests)
    return {"basket.py": prog, "test_basket.py": test}


def golang(failure, variant):
    v = number(variant)
    total = "n + " + v if failure in ("total", "both") else "n"
    label = {"1": 'fmt.Sprintf("%d items", n)', "4": 'fmt.Sprintf("%d of basket", n*3)'}[v] if failure in ("label", "both") else 'fmt.Sprintf("%d pieces", n)'
    find = {"find-value": 'return 0, fmt.Errorf("item %d is too far", n+V)', "find-lookup": 'panic(fmt.Sprintf("item %d is too far", n+V))',
            "find-words": 'return 0, fmt.Errorf("item %d is not sorted", n+V)', "find-deeper": "return seek(items, n+V)",
            "undefined": "return itms[0], nil", "crash": "os.Exit(3)"}.get(failure, "").replace("V", v)
    nth = "items[i+3]" if failure == "nth" else "items[i]"
    tests, shift = shape(["Sum", "Label", "Find", "Nth"], variant, "//")
    prog = "package basket\n\n" + shift + 'import (\n\t"fmt"\n\t"os"\n)\n\nvar _ = os.Exit\n\nfunc Total(items []int) (n int) {\n\tfor _, i := range items {\n\t\tn += i\n\t}\n\treturn %s\n}\n\nfunc Label(n int) string { return %s }\n\nfunc seek(items []int, n int) (int, error) {\n\tpanic(fmt.Sprintf("item %%d is too far", n))\n}\n\nfunc Find(items []int, n int) (int, error) {\n\t%s\n\tfor i, item := range items {\n\t\tif item == n {\n\t\t\treturn i, nil\n\t\t}\n\t}\n\treturn 0, nil\n}\n\nfunc Nth(items []int, i int) int { return %s }\n' % (total, label, find, nth)
    if failure == "syntax":
        prog = prog.replace("func Find(items []int, n int)", "func Find(items []int, n int")
    noise = '\tfmt.Println("2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_")\n' % ((v,) * 7) if "noisy" in variant else ""
    bodies = {"Sum": '\tif got := Total([]int{1, 2}); got != 3 {\n\t\tt.Errorf("Total = %d, want 3", got)\n\t}\n',
              "Label": '\tif got := Label(2); got != "2 pieces" {\n\t\tt.Errorf("Label(2) = %q, want 2 pieces", got)\n\t}\n',
              "Find": '\tgot, err := Find([]int{1, 2}, 2)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif got != 1 {\n\t\tt.Errorf("Find = %d, want 1", got)\n\t}\n',
              "Nth": '\tif got := Nth([]int{1, 2}, 1); got != 2 {\n\t\tt.Errorf("Nth = %d, want 2", got)\n\t}\n'}
    test = "package basket\n\n" + shift + 'import (\n\t"fmt"\n\t"testing"\n)\n\nvar _ = fmt.Sprint\n'
    test += "".join("\nfunc Test%s(t *testing.T) {\n%s%s}\n" % (t, noise, bodies[t]) for t in tests)
    return {"basket.go": prog, "basket_test.go": test}


def rust(failure, variant):
    v = number(variant)
    total = "items.iter().sum::<i64>() + " + v if failure in ("total", "both") else "items.iter().sum()"
    label = {"1": 'format!("{} items", n)', "4": 'format!("{} of basket", n * 3)'}[v] if failure in ("label", "both") else 'format!("{} pieces", n)'
    find = {"find-value": 'panic!("item {} is too far", n + V)', "find-lookup": "None::<usize>.unwrap()",
            "find-words": 'panic!("item {} is not sorted", n + V)', "find-deeper": "other::seek(n + V)",
            "undefined": "itms.len()", "crash": "std::process::exit(3)"}.get(failure, "items.iter().position(|i| *i == n).unwrap()").replace("V", v)
    nth = "items[i + 3]" if failure == "nth" else "items[i]"
    tests, shift = shape(["sum", "label", "find", "nth"], variant, "//")
    lib = shift + "mod other;\n\npub fn total(items: &[i64]) -> i64 {\n    %s\n}\n\npub fn label(n: i64) -> String {\n    %s\n}\n\npub fn find(items: &[i64], n: i64) -> usize {\n    %s\n}\n\npub fn nth(items: &[i64], i: usize) -> i64 {\n    %s\n}\n\npub fn far(n: i64) -> usize {\n    other::seek(n)\n}\n" % (total, label, find, nth)
    if failure == "syntax":
        lib = lib.replace("find(items: &[i64], n: i64)", "find(items: &[i64], n: i64")
    noise = '        println!("2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_");\n' % ((v,) * 7) if "noisy" in variant else ""
    bodies = {"sum": "        assert_eq!(total(&[1, 2]), 3);\n", "label": '        assert_eq!(label(2), "2 pieces");\n',
              "find": "        assert_eq!(find(&[1, 2], 2), 1);\n", "nth": "        assert_eq!(nth(&[1, 2], 1), 2);\n"}
    lib += "\n#[cfg(test)]\nmod tests {\n    use super::*;\n" + "".join("\n    #[test]\n    fn %s_works() {\n%s%s    }\n" % (t, noise, bodies[t]) for t in tests) + "}\n"
    return {"src/lib.rs": lib, "src/other.rs": shift + 'pub fn seek(n: i64) -> usize {\n    panic!("item {} is too far", n)\n}\n'}


def javascript(failure, variant, style):
    v = number(variant)
    total = "items.reduce((a, b) => a + b, 0)" + (" + " + v if failure in ("total", "both") else "")
    label = {"1": "`${n} items`", "4": "`${n * 3} of basket`"}[v] if failure in ("label", "both") else "`${n} pieces`"
    find = {"find-value": "throw new RangeError(`item ${n + V} is too far`)", "find-lookup": "throw new SyntaxError(`item ${n + V} is too far`)",
            "find-words": "throw new RangeError(`item ${n + V} is not sorted`)", "find-deeper": "return seek(items, n + V)",
            "undefined": "return itms.indexOf(n)", "crash": "process.exit(3)"}.get(failure, "return items.indexOf(n)").replace("V", v)
    nth = "items[i + 3].price" if failure == "nth" else "items[i].price"
    tests, shift = shape(["sum", "label", "find", "nth"], variant, "//")
    prog = shift + "function total(items) {\n  return %s;\n}\n\nfunction label(n) {\n  return %s;\n}\n\nfunction seek(items, n) {\n  throw new RangeError(`item ${n} is too far`);\n}\n\nfunction find(items, n) {\n  %s;\n}\n\nfunction nth(items, i) {\n  return %s;\n}\n\n" % (total, label, find, nth)
    if failure == "syntax":
        prog = prog.replace("function find(items, n) {", "function find(items, n {")
    noise = "    console.log('2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_');\n" % ((v,) * 7) if "noisy" in variant else ""
    args = {"sum": ("total([1, 2])", "3"), "label": ("label(2)", "'2 pieces'"), "find": ("find([1, 2], 2)", "1"), "nth": ("nth([{price: 1}, {price: 2}], 1)", "2")}
    equal = "assert.strictEqual(%s, %s)" if style == "node" else "expect(%s).toBe(%s)"
    head = {"node": "const assert = require('node:assert');\nconst { describe, it } = require('node:test');\nconst { find, label, nth, total } = require('./basket.js');\n",
            "jest": "const { find, label, nth, total } = require('./basket.js');\n",
            "vitest": "import { describe, expect, it } from 'vitest';\nimport { find, label, nth, total } from './basket.js';\n"}[style]
    test = shift + head + "\ndescribe('basket', () => {\n" + "\n".join("  it('knows its %s', () => {\n%s    %s;\n  });\n" % (t, noise, equal % args[t]) for t in tests) + "});\n"
    prog += "export { find, label, nth, total };\n" if style == "vitest" else "module.exports = { find, label, nth, total };\n"
    return {"basket.js": prog, "basket.test.js": test}


def java(failure, variant):
    v = number(variant)
    total = " + " + v if failure in ("total", "both") else ""
    label = {"1": 'n + " items"', "4": '(n * 3) + " of basket"'}[v] if failure in ("label", "both") else 'n + " pieces"'
    find = {"find-value": 'throw new IllegalStateException("item " + (n + V) + " is too far");', "find-lookup": 'throw new IllegalArgumentException("item " + (n + V) + " is too far");',
            "find-words": 'throw new IllegalStateException("item " + (n + V) + " is not sorted");', "find-deeper": "return seek(n + V);",
            "undefined": "return itms[0];", "crash": "System.exit(3); return 0;"}.get(failure, "for (int i = 0; i < items.length; i++) if (items[i] == n) return i;\n    return -1;").replace("V", v)
    nth = "items[i + 3]" if failure == "nth" else "items[i]"
    tests, shift = shape(["sum", "label", "find", "nth"], variant, "//")
    prog = shift + "package shop;\n\npublic class Basket {\n  static int total(int... items) {\n    int n = 0;\n    for (int i : items) n += i;\n    return n%s;\n  }\n\n  static String label(int n) {\n    return %s;\n  }\n\n  static int seek(int n) {\n    throw new IllegalStateException(\"item \" + n + \" is too far\");\n  }\n\n  static int find(int[] items, int n) {\n    %s\n  }\n\n  static int nth(int[] items, int i) {\n    return %s;\n  }\n}\n" % (total, label, find, nth)
    if failure == "syntax":
        prog = prog.replace("static int find(int[] items, int n)", "static int find(int[] items, int n")
    noise = '    System.out.println("2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_");\n' % ((v,) * 7) if "noisy" in variant else ""
    args = {"sum": "3, Basket.total(1, 2)", "label": '"2 pieces", Basket.label(2)', "find": "1, Basket.find(new int[]{1, 2}, 2)", "nth": "2, Basket.nth(new int[]{1, 2}, 1)"}
    test = shift + "package shop;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.Test;\n\nclass BasketTest {\n" + "\n".join("  @Test\n  void %sWorks() {\n%s    assertEquals(%s);\n  }\n" % (t, noise, args[t]) for t in tests) + "}\n"
    return {"src/main/java/shop/Basket.java": prog, "src/test/java/shop/BasketTest.java": test}


def cpp(failure, variant, style):
    v = number(variant)
    total = " + " + v if failure in ("total", "both") else ""
    label = {"1": 'std::to_string(n) + " items"', "4": 'std::to_string(n * 3) + " of basket"'}[v] if failure in ("label", "both") else 'std::to_string(n) + " pieces"'
    find = {"find-value": 'throw std::range_error("item " + std::to_string(n + V) + " is too far");', "find-lookup": "throw n + V;",
            "find-words": 'throw std::range_error("item " + std::to_string(n + V) + " is not sorted");', "find-deeper": 'throw std::range_error("seek: item " + std::to_string(n + V) + " is too far");',
            "undefined": "return itms[0];", "crash": "abort();"}.get(failure, "for (size_t i = 0; i < items.size(); i++) if (items[i] == n) return i;\n  return -1;").replace("V", v)
    nth = "items.at(i + 3)" if failure == "nth" else "items.at(i)"
    tests, shift = shape(["Sum", "Label", "Find", "Nth"], variant, "//")
    head = shift + "#include <cstdlib>\n#include <iostream>\n#include <stdexcept>\n#include <string>\n#include <vector>\n\nusing Items = std::vector<int>;\n\nint total(const Items& items) {\n  int n = 0;\n  for (int i : items) n += i;\n  return n%s;\n}\n\nstd::string label(int n) {\n  return %s;\n}\n\nint find(const Items& items, int n) {\n  %s\n}\n\nint nth(const Items& items, int i) {\n  return %s;\n}\n" % (total, label, find, nth)
    if failure == "syntax":
        head = head.replace("int find(const Items& items, int n)", "int find(const Items& items, int n")
    noise = '  std::cout << "2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_" << std::endl;\n' % ((v,) * 7) if "noisy" in variant else ""
    args = {"Sum": ("total({1, 2})", "3"), "Label": ("label(2)", '"2 pieces"'), "Find": ("find({1, 2}, 2)", "1"), "Nth": ("nth({1, 2}, 1)", "2")}
    if style == "gtest":
        test = '#include <gtest/gtest.h>\n#include "basket.h"\n' + shift + "".join("\nTEST(Basket, %s) {\n%s  EXPECT_EQ(%s, %s);\n}\n" % (t, noise, args[t][0], args[t][1]) for t in tests)
        return {"basket.h": head, "basket_test.cc": test}
    test = '#include <iostream>\n#include "basket.h"\n' + shift + '\n#define CHECK(a, b) do { if ((a) != (b)) { std::cerr << "check failed: " #a " is " << (a) << std::endl; return 1; } } while (0)\n\nint main(int, char** argv) {\n  std::string t = argv[1];\n' + "".join('  if (t == "%s") CHECK((%s), %s);\n' % (t, args[t][0].replace("{", "Items{"), args[t][1]) for t in tests) + "}\n"
    return {"basket.h": head, "basket_test.cc": test, "CMakeLists.txt": CMAKE % "\n".join("add_test(NAME %s COMMAND basket_test %s)" % (t, t) for t in tests)}


def shell(failure, variant):
    v = number(variant)
    find = {"find-value": 'echo "item $(($1 + V)) is too far" >&2; return 1', "find-lookup": 'echo "item $(($1 + V)) is too far" >&2; return 2',
            "find-words": 'return 4', "find-deeper": "seek $1",
            "undefined": "fnd_item $1", "crash": "kill -9 $$"}.get(failure, "echo 1").replace("V", v)
    total = "$(($1 + $2 + %s))" % v if failure in ("total", "both") else "$(($1 + $2))"
    label = ("$1 items" if v == "1" else "$1 of basket") if failure in ("label", "both") else "$1 pieces"
    nth = "$((3 + V))".replace("V", v) if failure == "nth" else "2"
    tests, shift = shape(["sum", "label", "find", "nth"], variant, "#")
    prog = shift + 'total() {\n  echo "%s"\n}\n\nlabel() {\n  echo "%s"\n}\n\nseek() {\n  false\n}\n\nfind_item() {\n  %s\n}\n\nnth() {\n  echo "%s"\n}\n' % (total, label, find, nth)
    if failure == "syntax":
        prog = prog.replace("find_item() {", "find_item() {{ (")
    noise = '  echo "2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_"\n' % ((v,) * 7) if "noisy" in variant else ""
    bodies = {"sum": '  [ "$(total 1 2)" = 3 ]\n', "label": '  [ "$(label 2)" = "2 pieces" ]\n', "find": '  find_item 2\n', "nth": '  [ "$(nth 1)" -eq 2 ]\n'}
    test = "#!/usr/bin/env bats\n" + shift + 'setup() {\n  source "$BATS_TEST_DIRNAME/basket.sh"\n}\n' + "".join('\n@test "knows its %s" {\n%s%s}\n' % (t, noise, bodies[t]) for t in tests)
    return {"basket.sh": prog, "basket.bats": test}


def perl(failure, variant):
    v = number(variant)
    total = "$_[0] + $_[1]" + (" + " + v if failure in ("total", "both") else "")
    label = ('"$_[0] items"' if v == "1" else '"$_[0] of basket"') if failure in ("label", "both") else '"$_[0] pieces"'
    find = {"find-value": 'die "item " . ($n + V) . " is too far"', "find-lookup": 'die {code => $n + V}',
            "find-words": 'die "item " . ($n + V) . " is not sorted"', "find-deeper": 'seek_item($n + V)',
            "undefined": "fnd_item($n)", "crash": "kill 9, $$"}.get(failure, "return 1").replace("V", v)
    nth = "3 + " + v if failure == "nth" else "2"
    tests, shift = shape(["sum", "label", "find", "nth"], variant, "#")
    prog = shift + 'package Basket;\nuse strict;\nsub total { %s }\nsub label { %s }\nsub seek_item { die "seek: item $_[0] is too far" }\nsub find_item {\n  my ($n) = @_;\n  %s;\n}\nsub nth { %s }\n1;\n' % (total, label, find, nth)
    if failure == "syntax":
        prog = prog.replace("sub find_item {", "sub find_item {{ (")
    noise = 'diag("2026-0%s-1%sT1%s:22:01 run 3f2b8c1%s-77aa-4b0c-9d1e-0123456789a%s took 0.%s3s in /tmp/tmpab%sx7q_");\n' % ((v,) * 7) if "noisy" in variant else ""
    args = {"sum": "is(Basket::total(1, 2), 3, 'sum');\n", "label": "is(Basket::label(2), '2 pieces', 'label');\n", "find": "is(Basket::find_item(2), 1, 'find');\n", "nth": "is(Basket::nth(1), 2, 'nth');\n"}
    if failure.startswith("find") or failure in ("undefined", "crash"):
        tests = [t for t in tests if t != "find"] + ["find"]  # what dies ends the file
    test = shift + "use strict;\nuse lib '.';\nuse Basket;\nuse Test::More;\n" + "".join(noise + args[t] for t in tests) + "done_testing();\n"
    return {"Basket.pm": prog, "basket.t": test}


LANGUAGES = {
    "unittest": lambda f, v: python(f, v, "unittest"), "go": golang, "go-json": golang, "cargo": rust,
    "node-spec": lambda f, v: javascript(f, v, "node"), "node-tap": lambda f, v: javascript(f, v, "node"),
    "jest": lambda f, v: javascript(f, v, "jest"), "vitest": lambda f, v: javascript(f, v, "vitest"),
    "surefire": java, "junit-surefire": java, "gtest": lambda f, v: cpp(f, v, "gtest"), "junit-gtest": lambda f, v: cpp(f, v, "gtest"),
    "ctest": lambda f, v: cpp(f, v, "ctest"), "bats": shell, "prove": perl, "perl-tap": perl,
    **{r: (lambda f, v: python(f, v, "pytest")) for r in ("pytest", "pytest-q", "pytest-rA", "junit-pytest")},
}
# What leaves no report behind, or none that names its cause.
SKIP = {"junit-pytest": ["crash"], "junit-gtest": ["syntax", "undefined", "crash"], "junit-surefire": ["syntax", "undefined", "crash"], "ctest": ["syntax", "undefined", "find-lookup"]}



def told(runner, failure, variant):
    """A program that ends the process leaves no report. What a runner says all
    the same when it is asked to say more, or runs in workers, is another text."""
    says_more = runner in ("unittest", "go") or runner.startswith("pytest")
    return "crash-told" if says_more and failure == "crash" and ("verbose" in variant or "workers" in variant) else failure


if __name__ == "__main__":
    for runner in sys.argv[1:] or VARIANTS:
        build("real", runner, [(told(runner, f, v), v or "plain", LANGUAGES[runner](f, v)) for f in FAILURES if f not in SKIP.get(runner, []) for v in VARIANTS[runner]])
