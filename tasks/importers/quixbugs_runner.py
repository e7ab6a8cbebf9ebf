"""Runs python_testcases/TEST_MODULE.py on unittest: one test per function, or per row of its parameters."""
import importlib
import inspect
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_testcases"))
TESTS = importlib.import_module("TEST_MODULE")


class QuixBugs(unittest.TestCase):
    pass


def add(name, function, values, reason):
    def run(self):
        if reason is not None:
            self.skipTest(reason)
        try:
            function(*values)
        except AssertionError as error:
            if values and not str(error):
                raise AssertionError("with " + ", ".join(map(repr, values))[:500]) from error
            raise

    setattr(QuixBugs, name, run)


def collect():
    found = [f for n, f in vars(TESTS).items() if n.startswith("test") and inspect.isfunction(f)]
    if not found:
        raise AssertionError("TEST_MODULE.py holds no test")
    for i, function in enumerate(sorted(found, key=lambda f: f.__code__.co_firstlineno)):
        skipped = getattr(function, "skipped", None)
        if not hasattr(function, "rows"):
            add("test_%03d_%s" % (i + 1, function.__name__), function, (), skipped)
            continue
        for j, row in enumerate(function.rows):
            reasons = [m.reason for m in row.marks if hasattr(m, "reason")]
            add("test_%03d_%s_%03d" % (i + 1, function.__name__, j + 1), function, row.values, reasons[0] if reasons else skipped)


collect()
