"""Writes heldout/RUNNER.txtar: programs and tests of other kinds than those of
generate.py, which were written when the parsers were done and are only
measured. The files are named as there.

    SIG_PYTHONPATH=... SIG_NODE=... python3 heldout.py [RUNNER...]

In a program "@V@" is a number that differs between variants, "@S@" a place
for lines that push the rest down, "@N@" a place where it may print.
"""
import sys

from runners import build, CMAKE

VARIANTS = ["plain", "moved+noisy", "shifted+value"]

# --- Python: a parser of settings, its tests in two files, with fixtures,
# --- parameters, helpers, chained and custom exceptions.
PY = '''@S@import json


class ConfigError(Exception):
    pass


class MissingKey(ConfigError):
    pass


def read(text):
    out = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        key, value = split(line)
        out[key] = convert(value)
    return out


def split(line):
    key, sep, value = line.partition("=")
    if not sep:
        raise ConfigError("line without '=': %r" % line)
    return key.strip(), value.strip()


def convert(value):
    if value.isdigit():
        return int(value)
    return value


def lookup(settings, key):
    try:
        return settings[key]
    except KeyError as error:
        raise MissingKey(key) from error


def depth(tree):
    return 1 + max((depth(t) for t in tree), default=0)


def dump(settings):
    return json.dumps(settings, sort_keys=True)
'''
PY_BUGS = {  # name: (file, old, new)
    "never-converts": ("        return int(value)\n", "        return value * @V@\n"),
    "wrong-error": ("        raise MissingKey(key) from error", "        raise RuntimeError('nothing under %s, size %d' % (key, @V@))"),
    "plain-key-error": ("        raise MissingKey(key) from error", "        raise"),
    "none-split": ("    return key.strip(), value.strip()", "    return None"),
    "strips-none": ("    return key.strip(), value.strip()", "    value = None\n    return key.strip(), value.strip()"),
    "recursion": ("    return 1 + max((depth(t) for t in tree), default=0)", "    return @V@ + depth([tree])"),
    "swallows": ('        raise ConfigError("line without \'=\': %r" % line)', "        return line, str(@V@)"),
    "bad-json": ("    return json.dumps(settings, sort_keys=True)", "    return json.loads('{' + str(settings)[:@V@])"),
    "gone": ("def dump(settings):", "def dumps(settings):"),
}
PYTEST = {"test_read.py": '''@S@import pytest

from settings import ConfigError, lookup, read, MissingKey


@pytest.fixture
def settings():
    @N@
    return read("port = 80\\nname = web\\n\\n")


def check(settings, key, want):
    assert lookup(settings, key) == want, "setting %s" % key


class TestRead:
    @pytest.mark.parametrize("key, want", [("port", 80), ("name", "web")])
    def test_values(self, settings, key, want):
        check(settings, key, want)

    def test_missing(self, settings):
        with pytest.raises(MissingKey):
            lookup(settings, "host")

    def test_bad_line(self):
        with pytest.raises(ConfigError):
            read("nothing")
''', "sub/test_tree.py": '''@S@import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from settings import depth, dump


def test_depth():
    assert depth([[], [[]]]) == 3


def test_dump():
    assert dump({"b": 1, "a": 2}) == '{"a": 2, "b": 1}'
'''}
UNITTEST = {"test_settings.py": '''@S@import unittest

from settings import ConfigError, MissingKey, depth, dump, lookup, read


class Base(unittest.TestCase):
    def setUp(self):
        @N@
        self.settings = read("port = 80\\nname = web\\n\\n")

    def check(self, key, want):
        self.assertEqual(lookup(self.settings, key), want, "setting %s" % key)


class ReadTest(Base):
    def test_values(self):
        for key, want in [("port", 80), ("name", "web")]:
            with self.subTest(key=key):
                self.check(key, want)

    def test_missing(self):
        with self.assertRaises(MissingKey):
            lookup(self.settings, "host")


class LineTest(unittest.TestCase):
    def test_bad_line(self):
        self.assertRaises(ConfigError, read, "nothing")

    def test_depth(self):
        self.assertEqual(depth([[], [[]]]), 3)

    def test_dump(self):
        self.assertEqual(dump({"b": 1, "a": 2}), '{"a": 2, "b": 1}')


if __name__ == "__main__":
    unittest.main()
'''}

GO = '''package queue

@S@import (
	"errors"
	"fmt"
)

// ErrEmpty is returned by an empty queue.
var ErrEmpty = errors.New("queue is empty")

type Job struct {
	ID       int
	Priority int
	Next     *Job
}

type Queue struct {
	jobs []*Job
	seen map[int]bool
}

func New() *Queue { return &Queue{seen: map[int]bool{}} }

func (q *Queue) Push(j *Job) error {
	if q.seen[j.ID] {
		return fmt.Errorf("push job %d: seen before", j.ID)
	}
	q.seen[j.ID] = true
	i := 0
	for i < len(q.jobs) && q.jobs[i].Priority >= j.Priority {
		i++
	}
	q.jobs = append(q.jobs[:i], append([]*Job{j}, q.jobs[i:]...)...)
	return nil
}

func (q *Queue) Pop() (*Job, error) {
	if len(q.jobs) == 0 {
		return nil, ErrEmpty
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	return j, nil
}
'''
GO_TEST = '''package queue

@S@import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func filled(t *testing.T, priorities ...int) *Queue {
	t.Helper()
	q := New()
	for i, p := range priorities {
		if err := q.Push(&Job{ID: i, Priority: p}); err != nil {
			t.Fatalf("filling: %v", err)
		}
	}
	return q
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []int
		want int
	}{{"rising", []int{1, 2, 3}, 2}, {"falling", []int{3, 2, 1}, 0}} {
		t.Run(c.name, func(t *testing.T) {
			@N@
			j, err := filled(t, c.in...).Pop()
			if err != nil {
				t.Fatal(err)
			}
			if j.ID != c.want {
				t.Errorf("popped job %d of priority %d, want job %d", j.ID, j.Priority, c.want)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	if _, err := New().Pop(); !errors.Is(err, ErrEmpty) {
		t.Errorf("Pop of an empty queue: got %v, want %v", err, ErrEmpty)
	}
}

func TestTwice(t *testing.T) {
	q := filled(t, 1)
	if err := q.Push(&Job{ID: 0}); err == nil {
		t.Error("a job was pushed twice")
	}
}

func TestDrain(t *testing.T) {
	done := make(chan bool)
	go func() {
		q := filled(t, 1, 2)
		for {
			if _, err := q.Pop(); err != nil {
				break
			}
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		t.Fatal("the queue is never empty")
	}
	_ = fmt.Sprint()
}
'''
GO_BUGS = {
    "unordered": ("q.jobs[i].Priority >= j.Priority", "i < @V@*10"),
    "nil-map": ("&Queue{seen: map[int]bool{}}", "&Queue{jobs: make([]*Job, 0, @V@)}"),
    "no-error": ("\t\treturn nil, ErrEmpty\n", "\t\treturn &Job{ID: @V@}, nil\n"),
    "other-error": ("\t\treturn nil, ErrEmpty\n", "\t\treturn nil, fmt.Errorf(\"no job of %d\", @V@)\n"),
    "forgets": ("\tq.seen[j.ID] = true\n", ""),
    "always-seen": ("if q.seen[j.ID] {", "if len(q.seen) < @V@ {"),
    "nil-job": ("\tj := q.jobs[0]\n", "\tvar j *Job\n\tj.Priority = @V@\n"),
    "unused": ("\ti := 0\n", "\ti := 0\n\tk := @V@\n"),
}

RUST = '''@S@use std::collections::HashMap;
use std::fmt;

#[derive(Debug, PartialEq)]
pub enum BankError {
    NoAccount(String),
    TooLittle { needed: u64, there: u64 },
}

impl fmt::Display for BankError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", self)
    }
}

#[derive(Default)]
pub struct Bank {
    accounts: HashMap<String, u64>,
}

impl Bank {
    pub fn deposit(&mut self, name: &str, amount: u64) -> u64 {
        let account = self.accounts.entry(name.to_string()).or_insert(0);
        *account += amount;
        *account
    }

    pub fn withdraw(&mut self, name: &str, amount: u64) -> Result<u64, BankError> {
        let account = self.accounts.get_mut(name).ok_or_else(|| BankError::NoAccount(name.to_string()))?;
        if *account < amount {
            return Err(BankError::TooLittle { needed: amount, there: *account });
        }
        *account -= amount;
        Ok(*account)
    }
}
'''
RUST_TEST = '''@S@use bank::{Bank, BankError};

fn bank() -> Bank {
    @N@
    let mut b = Bank::default();
    b.deposit("ann", 100);
    b
}

#[test]
fn deposits_add_up() {
    assert_eq!(bank().deposit("ann", 5), 105, "after two deposits");
}

#[test]
fn withdraws() -> Result<(), BankError> {
    let left = bank().withdraw("ann", 30)?;
    assert!(left == 70);
    Ok(())
}

#[test]
fn knows_its_accounts() {
    assert_eq!(bank().withdraw("bob", 1), Err(BankError::NoAccount("bob".to_string())));
}

#[test]
fn refuses_too_much() {
    match bank().withdraw("ann", 101) {
        Err(BankError::TooLittle { .. }) => {}
        other => panic!("withdrew too much: {:?}", other),
    }
}
'''
RUST_BUGS = {
    "adds-wrongly": ("*account += amount;", "*account += amount + @V@;"),
    "overflow": ("*account -= amount;", "*account -= amount + 1000 * @V@;"),
    "error-always": ("        *account -= amount;\n        Ok(*account)", "        Err(BankError::NoAccount(format!(\"{}{}\", name, @V@)))"),
    "other-error": ("BankError::NoAccount(name.to_string()))?", "BankError::TooLittle { needed: @V@, there: 0 })?"),
    "unwraps": (".ok_or_else(|| BankError::NoAccount(name.to_string()))?", ".unwrap()"),
    "lets-through": ("if *account < amount {", "if *account + 10 * @V@ < amount {"),
    "types": ("        *account\n", "        *account as u32 + @V@\n"),
}

JS = '''@S@class InvalidRange extends Error {
  constructor(message) {
    super(message);
    this.name = 'InvalidRange';
  }
}

function parseRange(text) {
  const m = /^(\\d+)-(\\d+)$/.exec(text);
  if (!m) throw new InvalidRange(`cannot read ${text}`);
  return { from: Number(m[1]), to: Number(m[2]) };
}

async function load(source) {
  const text = await source();
  return text.split(',').map(parseRange);
}

function overlap(a, b) {
  return a.from <= b.to && b.from <= a.to;
}

function merge(ranges) {
  const out = [];
  for (const r of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = out[out.length - 1];
    if (last && overlap(last, r)) last.to = Math.max(last.to, r.to);
    else out.push({ ...r });
  }
  return out;
}
'''
JS_BUGS = {
    "not-numbers": ("from: Number(m[1])", "from: m[1] + @V@"),
    "type-error": ("  return text.split(',').map(parseRange);", "  return text.rows.slice(@V@).map(parseRange);"),
    "other-class": ("throw new InvalidRange(`cannot read ${text}`)", "throw new TypeError(`cannot read ${text} at ${@V@}`)"),
    "no-throw": ("  if (!m) throw new InvalidRange(`cannot read ${text}`);\n", "  if (!m) return { from: @V@, to: @V@ };\n"),
    "rejects": ("  const text = await source();\n", "  await Promise.reject(new Error(`lost after ${@V@} s`));\n  const text = await source();\n"),
    "never-merges": ("a.from <= b.to && b.from <= a.to", "a.from > b.to + @V@"),
    "reference": ("    const last = out[out.length - 1];\n", "    const last = outt[out.length - @V@];\n"),
    "stack": ("  return a.from <= b.to && b.from <= a.to;", "  return overlap(b, a) + @V@;"),
}
JS_TESTS = [("reads ranges", "", "assert.deepStrictEqual(parseRange('3-5'), { from: 3, to: 5 });", "expect(parseRange('3-5')).toEqual({ from: 3, to: 5 });"),
            ("refuses other text", "", "assert.throws(() => parseRange('x'), InvalidRange);", "expect(() => parseRange('x')).toThrow(InvalidRange);"),
            ("loads", "async ", "assert.strictEqual((await load(async () => '1-2,4-9')).length, 2);", "expect(await load(async () => '1-2,4-9')).toHaveLength(2);"),
            ("merges what overlaps", "", "assert.deepStrictEqual(merge([{ from: 4, to: 6 }, { from: 1, to: 4 }]), [{ from: 1, to: 6 }]);", "expect(merge([{ from: 4, to: 6 }, { from: 1, to: 4 }])).toEqual([{ from: 1, to: 6 }]);")]

JAVA = '''@S@package lib;

import java.util.*;

public class Library {
  public static class NotHere extends RuntimeException {
    NotHere(String m, Throwable cause) { super(m, cause); }
  }

  private final Map<String, Integer> books = new TreeMap<>();

  public void add(String title, int copies) {
    books.merge(title, copies, Integer::sum);
  }

  public int lend(String title) {
    try {
      int left = books.get(title) - 1;
      books.put(title, left);
      return left;
    } catch (NullPointerException e) {
      throw new NotHere("no book " + title, e);
    }
  }

  public List<String> titles() {
    return new ArrayList<>(books.keySet());
  }
}
'''
JAVA_TEST = '''@S@package lib;

import static org.junit.jupiter.api.Assertions.*;

import java.util.*;
import org.junit.jupiter.api.*;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LibraryTest {
  private Library library;

  @BeforeEach
  void open() {
    @N@
    library = new Library();
    library.add("Emma", 2);
    library.add("Dune", 1);
  }

  @Test
  void lends() {
    assertEquals(1, library.lend("Emma"), "copies left");
  }

  @Test
  void missesABook() {
    assertThrows(Library.NotHere.class, () -> library.lend("Ulysses"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Dune", "Emma"})
  void lists(String title) {
    assertTrue(library.titles().contains(title));
  }

  @Nested
  class Sorted {
    @Test
    void byTitle() {
      assertIterableEquals(List.of("Dune", "Emma"), library.titles());
    }
  }
}
'''
JAVA_BUGS = {
    "counts-wrongly": ("books.get(title) - 1", "books.get(title) - 1 - @V@"),
    "other-exception": ('throw new NotHere("no book " + title, e)', 'throw new IllegalStateException("no book " + title + @V@, e)'),
    "unsorted": ("new ArrayList<>(books.keySet())", "new ArrayList<>(Collections.nCopies(@V@, \"Emma\"))"),
    "immutable": ("books.merge(title, copies, Integer::sum);", "Map.of(\"a\", @V@).put(title, copies);"),
    "cast": ("return new ArrayList<>(books.keySet());", "return (List<String>) (Object) Integer.valueOf(@V@);"),
    "symbol": ("books.put(title, left);", "books.put(titel, left + @V@);"),
}

CPP = '''@S@#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <iostream>

struct Shape {
  virtual ~Shape() {}
  virtual double area() const = 0;
};

struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {
    if (s < 0) throw std::invalid_argument("negative side");
  }
  double area() const override { return side * side; }
};

inline double total(const std::vector<std::unique_ptr<Shape>>& shapes) {
  double sum = 0;
  for (const auto& s : shapes) sum += s->area();
  return sum;
}

inline std::string name(int corners) {
  static const std::map<int, std::string> names = {{3, "triangle"}, {4, "square"}};
  return names.at(corners);
}
'''
CPP_TEST = '''#include <gtest/gtest.h>
#include "shapes.h"
@S@
class ShapesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    @N@
    shapes.push_back(std::make_unique<Square>(2));
    shapes.push_back(std::make_unique<Square>(1));
  }
  std::vector<std::unique_ptr<Shape>> shapes;
};

TEST_F(ShapesTest, Total) { EXPECT_DOUBLE_EQ(total(shapes), 5.0) << "of two squares"; }

TEST(SquareTest, RefusesNegative) { EXPECT_THROW(Square(-1), std::invalid_argument); }

TEST(NameTest, Known) {
  ASSERT_EQ(name(3), "triangle");
  EXPECT_STREQ(name(4).c_str(), "square");
}

class NameUnknown : public ::testing::TestWithParam<int> {};
TEST_P(NameUnknown, Throws) { EXPECT_ANY_THROW(name(GetParam())); }
INSTANTIATE_TEST_SUITE_P(Few, NameUnknown, ::testing::Values(0, 2));
'''
CPP_BUGS = {
    "area": ("return side * side;", "return side * side + @V@;"),
    "no-check": ("if (s < 0)", "if (s < -100 * @V@)"),
    "other-type": ('throw std::invalid_argument("negative side")', 'throw std::out_of_range("side " + std::to_string(@V@))'),
    "always-throws": ("if (s < 0)", "if (s < 100 * @V@)"),
    "default-name": ("return names.at(corners);", "return names.count(corners) ? names.at(corners) : std::to_string(@V@);"),
    "wrong-name": ('{3, "triangle"}', '{3, "tri@V@"}'),
    "null": ("sum += s->area();", "{ const Shape* p = nullptr; sum += p->area() + @V@; }"),
}

BATS = {"lib/greet.bash": '''@S@greet() {
  local who="$1"
  if [ -z "$who" ]; then
    echo "greet: nobody there" >&2
    return 64
  fi
  printf 'Hello, %s\\n' "$who"
}

greet_all() {
  for who in "$@"; do
    greet "$who"
  done
}
''', "test/greet.bats": '''#!/usr/bin/env bats
@S@
setup() {
  @N@
  load ../lib/greet.bash
}

assert_output() {
  if [ "$output" != "$1" ]; then
    echo "expected: $1" >&2
    echo "actual:   $output" >&2
    return 1
  fi
}

@test "greets one" {
  run greet Ann
  assert_output "Hello, Ann"
}

@test "fails for nobody" {
  run greet ""
  [ "$status" -eq 64 ]
}

@test "greets all" {
  run greet_all Ann Bob
  [ "${#lines[@]}" -eq 2 ]
  [[ "${lines[1]}" == *Bob ]]
}

@test "greets without run" {
  greet_all Cid > out
  grep -q Cid out
}
'''}
BATS_BUGS = {
    "salutes": ("Hello, %s", "Hi@V@, %s"),
    "other-status": ("return 64", "return 6@V@"),
    "one-line": ('    greet "$who"\n', '    greet "$who" | tr -d "\\n@V@"\n'),
    "no-names": ("local who=\"$1\"", "local who=\"x@V@\""),
    "command": ("  printf 'Hello, %s\\n' \"$who\"", "  prinft@V@ 'Hello, %s\\n' \"$who\""),
}

PERL = {"lib/Stack.pm": '''@S@package Stack;
use strict;
use warnings;

sub new { return bless { items => [] }, shift }

sub push {
    my ($self, $item) = @_;
    push @{ $self->{items} }, $item;
    return $self->size;
}

sub pop {
    my ($self) = @_;
    die "stack is empty\\n" unless $self->size;
    return pop @{ $self->{items} };
}

sub size { return scalar @{ $_[0]{items} } }

1;
''', "t/stack.t": '''@S@use strict;
use warnings;
use lib 'lib';
use Test::More tests => 5;
use Stack;

my $s = Stack->new;
@N@
is($s->size, 0, 'empty at first');
is($s->push('a'), 1, 'push tells the size');
is_deeply($s->{items}, ['a'], 'holds what was pushed');
like(eval { $s->pop; $s->pop } || $@, qr/empty/, 'pop of an empty stack dies');
subtest 'two' => sub {
    $s->push($_) for 1, 2;
    ok($s->size == 2, 'both are there');
    cmp_ok($s->pop, '==', 2, 'the last comes first');
};
'''}
PERL_BUGS = {
    "size": ("return scalar @{ $_[0]{items} }", "return @V@ + scalar @{ $_[0]{items} }"),
    "tells-nothing": ("    return $self->size;\n}\n\nsub pop", "    return 'n@V@';\n}\n\nsub pop"),
    "queue": ("return pop @{ $self->{items} }", "my $v = @V@; return shift @{ $self->{items} }"),
    "silent": ('die "stack is empty\\n" unless $self->size', 'return \'nothing@V@\' unless $self->size'),
    "method": ("    return $self->size;\n}\n\nsub pop", "    return $self->length(@V@);\n}\n\nsub pop"),
}


def fill(files, variant, comment, noise):
    v = "7" if "value" in variant else "2"
    shift = (comment + " moved down\n") * 9 if "shifted" in variant else ""
    said = "2026-03-04 05:06:0%s worker pid=%s4211 id 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6%s cache at 0x7f3a%s0c4d2e10 (1%s.5ms)" % ((v,) * 5)
    return {n: t.replace("@V@", v).replace("@S@", shift).replace("@N@", noise % said if "noisy" in variant else noise.replace("%s", "ready")) for n, t in files.items()}


def bugs(files, table, where):
    """One project for each bug: the files with the bug's text in place of the right one."""
    for name, (old, new) in table.items():
        assert any(old in t for t in files.values()), name
        yield name, {n: t.replace(old, new) if n in where else t for n, t in files.items()}


def scripts(style):
    head = {"node": "const assert = require('node:assert');\nconst { describe, it } = require('node:test');\nconst { InvalidRange, load, merge, parseRange } = require('../src/ranges.js');\n",
            "jest": "const { InvalidRange, load, merge, parseRange } = require('../src/ranges.js');\n",
            "vitest": "import { describe, expect, it } from 'vitest';\nimport { InvalidRange, load, merge, parseRange } from '../src/ranges.js';\n"}[style]
    test = "@S@" + head + "\ndescribe('ranges', () => {\n  describe('as text', () => {\n    @N@\n"
    for i, (name, sync, node, other) in enumerate(JS_TESTS):
        if i == 3:
            test += "  });\n\n  describe('as sets', () => {\n"
        test += "    it('%s', %s() => {\n      %s\n    });\n" % (name, sync, node if style == "node" else other)
    exports = "\nexport { InvalidRange, load, merge, parseRange };\n" if style == "vitest" else "\nmodule.exports = { InvalidRange, load, merge, parseRange };\n"
    return {"src/ranges.js": JS + exports, "test/ranges.test.js": test + "  });\n});\n"}


def projects(runner):
    if runner in ("pytest", "pytest-q", "pytest-rA", "junit-pytest", "unittest"):
        tests = UNITTEST if runner == "unittest" else PYTEST
        return bugs({"settings.py": PY, **tests}, PY_BUGS, ["settings.py"]), "#", 'print("%s")'
    if runner in ("go", "go-json"):
        return bugs({"queue.go": GO, "queue_test.go": GO_TEST}, GO_BUGS, ["queue.go"]), "//", 'fmt.Println("%s")'
    if runner == "cargo":
        return bugs({"Cargo.toml": '[package]\nname = "bank"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": RUST, "tests/bank.rs": RUST_TEST}, RUST_BUGS, ["src/lib.rs"]), "//", 'println!("%s");'
    if runner in ("node-spec", "node-tap", "jest", "vitest"):
        return bugs(scripts(runner.split("-")[0]), JS_BUGS, ["src/ranges.js"]), "//", "console.log('%s');"
    if runner in ("surefire", "junit-surefire"):
        return bugs({"src/main/java/lib/Library.java": JAVA, "src/test/java/lib/LibraryTest.java": JAVA_TEST}, JAVA_BUGS, ["src/main/java/lib/Library.java"]), "//", 'System.out.println("%s");'
    if runner in ("gtest", "junit-gtest"):
        return bugs({"shapes.h": CPP, "basket_test.cc": CPP_TEST}, CPP_BUGS, ["shapes.h"]), "//", 'std::cout << "%s" << std::endl;'
    if runner == "ctest":
        lists = CMAKE.replace("basket_test basket_test.cc)", "basket_test basket_test.cc)\ntarget_link_libraries(basket_test gtest gtest_main pthread)") % \
            "add_test(NAME squares COMMAND basket_test --gtest_filter=S*)\nadd_test(NAME names COMMAND basket_test --gtest_filter=*Name*)"
        return bugs({"shapes.h": CPP, "basket_test.cc": CPP_TEST, "CMakeLists.txt": lists}, CPP_BUGS, ["shapes.h"]), "//", 'std::cout << "%s" << std::endl;'
    if runner == "bats":
        return bugs(BATS, BATS_BUGS, ["lib/greet.bash"]), "#", 'echo "%s"'
    return bugs(PERL, PERL_BUGS, ["lib/Stack.pm"]), "#", 'note("%s");'


RUNNERS = ["unittest", "pytest", "pytest-q", "go", "go-json", "node-spec", "node-tap", "bats", "prove", "cargo", "vitest", "jest", "gtest", "ctest", "junit-pytest", "surefire"]

if __name__ == "__main__":
    for runner in sys.argv[1:] or RUNNERS:
        found, comment, noise = projects(runner)
        build("heldout", runner, [(name, v, fill(files, v, comment, noise)) for name, files in found for v in VARIANTS])
