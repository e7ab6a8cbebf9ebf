"""The few names of pytest that these test files use; see test_quixbugs.py."""
import unittest

use_correct = False
run_slow = False


def skip(reason="", **_):
    raise unittest.SkipTest(reason)


class _Param:
    def __init__(self, *values, marks=()):
        self.values = values
        self.marks = marks if isinstance(marks, (list, tuple)) else (marks,)


def param(*values, marks=(), id=None):
    return _Param(*values, marks=marks)


class _Skip:
    """A skip mark, for a function or a param."""

    def __init__(self, reason):
        self.reason = reason

    def __call__(self, function):
        function.skipped = self.reason
        return function


class _Mark:
    def parametrize(self, names, rows):
        count = len([n for n in (names.split(",") if isinstance(names, str) else names)])

        def decorate(function):
            function.rows = [row if isinstance(row, _Param) else _Param(*(row if count > 1 else [row])) for row in rows]
            return function

        return decorate

    def skip(self, reason=""):
        return _Skip(reason)

    def skipif(self, condition, reason=""):
        return _Skip(reason) if condition else (lambda function: function)


mark = _Mark()


class approx:
    """Equal within a tolerance: the larger of abs and rel times the expected."""

    def __init__(self, expected, rel=None, abs=None):
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, actual):
        if self.expected == actual:
            return True
        relative = self.rel if self.rel is not None else (0 if self.abs is not None else 1e-6)
        size = self.expected if self.expected >= 0 else -self.expected
        tolerance = max(relative * size, self.abs if self.abs is not None else 1e-12)
        return -tolerance <= actual - self.expected <= tolerance

    def __repr__(self):
        return "approx(%r)" % (self.expected,)


class raises:
    """The context manager."""

    def __init__(self, kind):
        self.kind = kind

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            raise AssertionError("did not raise %s" % self.kind)
        return issubclass(kind, self.kind)
