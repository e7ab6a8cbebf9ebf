"""Runs named tests and says whether every one of them passed.

usage: python3 FILE NAMES.json

NAMES.json holds "style", "tests" (their names as they stand in the row) and
"targets" (what is given to the test runner). A test that did not run, or was
skipped, has not passed. Each style is run in a process of its own, which writes
what became of each test to a file; a process that ends before it has written
has passed nothing.

Exit status: 0 where all passed, 1 where one did not, 75 where the test runner
is not there: nothing was found out then.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = os.path.splitext(os.path.basename(__file__))[0]
# Where the published images keep the interpreter that has the packages.
IMAGE_PYTHON = "/opt/miniconda3/envs/testbed/bin/python"
RESULTS, WANTED = "RETRIAL_SWEBENCH_RESULTS", "RETRIAL_SWEBENCH_NAMES"
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


class Seen:
    """What became of each test, under each of its names; the worst counts."""

    def __init__(self):
        self.tests = {}

    def add(self, names, outcome):
        for name in names:
            before = self.tests.get(name)
            if before is None or before == PASSED or outcome == FAILED:
                self.tests[name] = outcome

    def write(self, path):
        with open(path, "w") as f:
            json.dump(self.tests, f)


def cut(name):
    """A name with parameters that was cut off at a space, as log readers do."""
    return "[" in name and not name.endswith("]")


def outcome_of(name, seen):
    if name in seen:
        return seen[name]
    if cut(name):
        found = [o for n, o in seen.items() if n.startswith(name + " ")]
        if found:
            return FAILED if FAILED in found else SKIPPED if SKIPPED in found else PASSED
    return "not run"


# --- pytest: this file is its plugin -----------------------------------------

_seen = Seen()


def names_in_pytest(nodeid):
    """The names of a test: its id, and for rows that give no file its last part."""
    last = nodeid.split("::")[-1]
    return [nodeid, last, last.split("[")[0]]


def pytest_collection_modifyitems(config, items):
    with open(os.environ[WANTED]) as f:
        wanted = json.load(f)["tests"]
    exact, prefixes = set(wanted), tuple(n + " " for n in wanted if cut(n))
    keep = [i for i in items if i.nodeid.startswith(prefixes) or exact & set(names_in_pytest(i.nodeid))]
    dropped = [i for i in items if i not in set(keep)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = keep


def pytest_runtest_logreport(report):
    expected = hasattr(report, "wasxfail")
    if report.outcome == "failed":
        _seen.add(names_in_pytest(report.nodeid), FAILED)
    elif report.outcome == "skipped" and not expected:
        _seen.add(names_in_pytest(report.nodeid), SKIPPED)
    elif report.when == "call":
        _seen.add(names_in_pytest(report.nodeid), PASSED)


def pytest_sessionfinish(session, exitstatus):
    _seen.write(os.environ[RESULTS])


def run_pytest(spec, environment):
    probe = subprocess.run([sys.executable, "-c", "import pytest"], cwd=tempfile.gettempdir(),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if probe.returncode != 0:
        print("no verdict: %s has no pytest" % sys.executable, file=sys.stderr)
        sys.exit(75)
    path = [HERE] + [p for p in [environment.get("PYTHONPATH")] if p]
    environment["PYTHONPATH"] = os.pathsep.join(path)
    there = [t for t in spec["targets"] if os.path.exists(t)]
    if there:  # with none, pytest would run all there are
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", NAME, "-p", "no:cacheprovider", "--rootdir=.", "--tb=short",
                        "--continue-on-collection-errors"] + there, env=environment)


# --- unittest ----------------------------------------------------------------

def unittest_names(test):
    names = [test.id(), str(test), test.shortDescription()]
    method, _, place = str(test).partition(" ")
    names.append("%s (%s)" % (method, test.id()))
    names.append("%s (%s)" % (method, test.id().rpartition(".")[0]))
    return [n for n in names if n]


def unittest_process(spec):
    """Runs in a process of its own: the tests may do anything to it."""
    import unittest

    seen = Seen()

    class Result(unittest.TextTestResult):
        def addSuccess(self, test):
            super().addSuccess(test)
            seen.add(unittest_names(test), PASSED)

        def addExpectedFailure(self, test, err):
            super().addExpectedFailure(test, err)
            seen.add(unittest_names(test), PASSED)

        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            seen.add(unittest_names(test), SKIPPED)

        def addFailure(self, test, err):
            super().addFailure(test, err)
            seen.add(unittest_names(test), FAILED)

        def addError(self, test, err):
            super().addError(test, err)
            seen.add(unittest_names(test), FAILED)

        def addUnexpectedSuccess(self, test):
            super().addUnexpectedSuccess(test)
            seen.add(unittest_names(test), FAILED)

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                seen.add(unittest_names(test), FAILED)

    wanted = set(spec["tests"])

    def keep(suite):
        if isinstance(suite, unittest.TestCase):
            broken = type(suite).__name__ == "_FailedTest"
            return suite if broken or wanted & set(unittest_names(suite)) else None
        return type(suite)([t for t in map(keep, suite) if t is not None])

    # sys.path[0] is the folder of this file; python3 -m unittest has the working folder there.
    sys.path[0] = os.getcwd()
    suite = unittest.TestSuite(keep(unittest.defaultTestLoader.loadTestsFromName(m)) for m in spec["targets"])
    unittest.TextTestRunner(resultclass=Result, verbosity=1).run(suite)
    seen.write(os.environ[RESULTS])


def run_unittest(spec, environment):
    subprocess.run([sys.executable, os.path.abspath(__file__), "--unittest", environment[WANTED]], env=environment)


# --- Django's own runner, whose words are read --------------------------------

WORDS = {"ok": PASSED, "FAIL": FAILED, "ERROR": FAILED, "expected failure": PASSED, "unexpected success": FAILED}
HEAD = re.compile(r"^(\w+ \([\w.]+\))(.*)$")
ENDS = re.compile(r"(?:^|\.\.\. ?)(ok|FAIL|ERROR|expected failure|unexpected success|skipped .*)$")


def read_words(output, seen):
    names = []  # of the test that is running: its name, then its description
    for line in output.split("\n"):
        head = HEAD.match(line)
        if head:
            method, place = head.group(1)[:-1].split(" (")
            names = [head.group(1)]
            if place.endswith("." + method):  # Python 3.11 and later
                names.append("%s (%s)" % (method, place[:-len(method) - 1]))
        elif names and " ... " in line:
            names.append(line.split(" ... ")[0])
        end = ENDS.search(line)
        if names and end:
            seen.add(names, WORDS.get(end.group(1), SKIPPED))
            names = []


def run_django(spec, environment):
    child = subprocess.run([sys.executable, "tests/runtests.py", "--verbosity", "2", "--settings=test_sqlite", "--parallel", "1"]
                           + spec["targets"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = child.stdout.decode("utf-8", "replace")
    print(output)
    seen = Seen()
    read_words(output, seen)
    seen.write(environment[RESULTS])


def main(path):
    if os.access(IMAGE_PYTHON, os.X_OK) and os.path.realpath(sys.executable) != os.path.realpath(IMAGE_PYTHON):
        os.execv(IMAGE_PYTHON, [IMAGE_PYTHON, os.path.abspath(__file__), path])
    with open(path) as f:
        spec = json.load(f)
    with tempfile.TemporaryDirectory() as scratch:
        results = os.path.join(scratch, "results.json")
        environment = dict(os.environ)
        environment[RESULTS], environment[WANTED] = results, os.path.abspath(path)
        sys.stdout.flush()
        {"pytest": run_pytest, "unittest": run_unittest, "django": run_django}[spec["style"]](spec, environment)
        try:
            with open(results) as f:
                seen = json.load(f)
        except (OSError, ValueError):
            seen = {}
    sys.stderr.flush()
    bad = [(outcome_of(n, seen), n) for n in spec["tests"]]
    bad = [(o, n) for o, n in bad if o != PASSED]
    for outcome, name in bad:
        print("%s %s" % (outcome.upper(), name))
    print("%d of %d named tests passed" % (len(spec["tests"]) - len(bad), len(spec["tests"])))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--unittest":
        with open(sys.argv[2]) as names:
            unittest_process(json.load(names))
    else:
        main(sys.argv[1])
