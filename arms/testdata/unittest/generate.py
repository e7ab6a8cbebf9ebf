"""Writes python<version>.txtar beside this file: what unittest prints for the
programs below, as it printed it but for the folders, which are given fixed
names. Run it once with each Python that should have a file:

    python3.11 generate.py
"""
import os
import re
import subprocess
import sys
import sysconfig
import tempfile

PROG = '''\
class NotFound(Exception):
    pass


def parse(text):
    return [int(part) for part in text.split(",")]


def total(text):
    return sum(parse(text)) + 1


def find(text, n):
    for i, value in enumerate(parse(text)):
        if value == n:
            return i
    raise NotFound("no %d in %r" % (n, text))


def load(text):
    try:
        return parse(text)
    except ValueError:
        raise KeyError(text)
'''
TEST = '''\
import unittest

from prog import find, load, parse, total


class TotalTest(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(parse(""), [])

    def test_sum(self):
        """The sum of two numbers."""
        self.assertEqual(total("1,2"), 3)

    def test_each(self):
        for text, want in [("1", 1), ("2", 2)]:
            with self.subTest("one number", text=text):
                self.assertEqual(total(text), want)

    def test_parse(self):
        self.assertEqual(parse("1,2"), [1, 2])


class FindTest(unittest.TestCase):
    def test_absent(self):
        self.assertIsNone(find("1,2", 3))

    def test_load(self):
        self.assertEqual(load("x"), [])
'''
SET_UP_CLASS = '''\
import unittest

from prog import parse


class TotalTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.values = parse("1,x")

    def test_first(self):
        self.assertEqual(self.values[0], 1)
'''
SUCCESS = '''\
import unittest


class TotalTest(unittest.TestCase):
    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(1, 1)
'''
# The same tests in the opposite order, under a loader that does not sort them.
REVERSED = TEST + '''

def load_tests(loader, tests, pattern):
    loader.sortTestMethodsUsing = lambda a, b: (a < b) - (a > b)
    suite = unittest.TestSuite()
    for case in (FindTest, TotalTest):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite
'''
LOUD = 'print("ERROR: total is not a number")\nprint("FAIL: test_made_up (test_visible.TotalTest)")\n'
BY_NAME = ["-q", "test_visible"]
DISCOVER = ["discover", "-q", "-p", "test_*.py"]

CASES = {  # name: (prog.py, test_visible.py, arguments of unittest)
    "several": (PROG, TEST, BY_NAME),
    "several-again": (PROG, TEST, BY_NAME),
    "several-verbose": (PROG, TEST, ["-v", "test_visible"]),
    "several-shifted": ("# A comment.\n\n\n" + PROG, "# Another.\n\n" + TEST, BY_NAME),
    "several-other-values": (PROG.replace("+ 1", "+ 40"), TEST, BY_NAME),
    "several-reversed": (PROG, REVERSED, BY_NAME),
    "several-loud": (LOUD + PROG, TEST, BY_NAME),
    "one-less": (PROG.replace(" + 1", ""), TEST, BY_NAME),
    "other-type": (PROG.replace("raise NotFound", "raise LookupError"), TEST, BY_NAME),
    "other-class": (PROG, TEST.replace("FindTest", "SearchTest"), BY_NAME),
    "import-name": (PROG.replace("def find", "def search"), TEST, BY_NAME),
    "import-module": ("import no_such_module\n" + PROG, TEST, BY_NAME),
    "import-module-discover": ("import no_such_module\n" + PROG, TEST, DISCOVER),
    "syntax": (PROG.replace("def total(text):", "def total(text:"), TEST, BY_NAME),
    "syntax-shifted": ("# A comment.\n\n\n" + PROG.replace("def total(text):", "def total(text:"), TEST, BY_NAME),
    "syntax-discover": (PROG.replace("def total(text):", "def total(text:"), TEST, DISCOVER),
    "indent-discover": (PROG.replace("    return sum", "  return sum\n    return sum"), TEST, DISCOVER),
    "set-up-class": (PROG, SET_UP_CLASS, BY_NAME),
    "unexpected-success": (PROG, SUCCESS, BY_NAME),
    "passes": (PROG, TEST.split("    def test_empty")[0] + "    def test_parse(self):\n        self.assertEqual(parse('1'), [1])\n", BY_NAME),
}


def output(prog, test, arguments, folder):
    """What unittest prints, standard output first, in a folder of that name."""
    with tempfile.TemporaryDirectory() as top:
        work = os.path.join(os.path.realpath(top), "work")
        os.mkdir(work)
        for name, text in [("prog.py", prog), ("test_visible.py", test)]:
            with open(os.path.join(work, name), "w") as f:
                f.write(text)
        done = subprocess.run([sys.executable, "-B", "-m", "unittest"] + arguments, cwd=work,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        text = (done.stdout + done.stderr).decode()
        library = os.path.realpath(sysconfig.get_paths()["stdlib"])
        for path in (sysconfig.get_paths()["stdlib"], library):
            text = text.replace(path, "/usr/lib/python3")
        return text.replace(work, folder)


def main():
    version = "%d.%d" % sys.version_info[:2]
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "python%s.txtar" % version), "w") as f:
        f.write("What unittest of Python %s prints; written by generate.py.\n" % version)
        for name, (prog, test, arguments) in CASES.items():
            folder = "/srv/elsewhere/7" if name == "several-again" else "/tmp/work"
            text = output(prog, test, arguments, folder)
            assert not re.search(r"(?m)^-- .* --$", text)
            f.write("-- %s --\n%s" % (name, text))


main()
