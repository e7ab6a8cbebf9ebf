"""Runs the tests of a task on one candidate in a forked child."""
import gc
import importlib.machinery
import json
import os
import random
import resource
import select
import signal
import sys
import time
import types
import unittest

from mutate_program import Hang, Ticks

BASELINE_TICKS = 200000  # work a test of the unmodified program may count
FREE_TICKS = 20000       # work any test may count, unless the request says otherwise
TIMES = 20               # how many times the baseline's work a candidate may count
HUNG_TESTS = 2           # after this many the run stops
# Backstops only; work is counted above. Seconds and bytes.
WALL, CPU, MEMORY, FILE_SIZE = 10, 5, 160 << 20, 1 << 20


class Loader(importlib.machinery.SourceFileLoader):
    """Serves the candidate's files from memory, everything else from the workspace without bytecode files."""

    served = {}   # real path -> code objects, or text that does not parse
    cache = {}    # source bytes -> code object, filled before the fork
    loaded = []   # real paths read from the workspace

    def exec_module(self, module):
        path = os.path.realpath(self.path)
        codes = self.served.get(path)
        if codes is None:
            self.loaded.append(path)
            with open(path, "rb") as file:
                data = file.read()
            codes = self.cache.get(data) or compile(data, path, "exec", 0, True)
        if isinstance(codes, str):
            codes = compile(codes, path, "exec", 0, True)
        for code in [codes] if isinstance(codes, types.CodeType) else codes:
            exec(code, module.__dict__)


class Result(unittest.TestResult):
    """Per test: failed or not, work counted, lines executed."""

    def __init__(self, ticks, limits, lines, paths):
        super().__init__()
        self.ticks, self.limits, self.lines, self.paths = ticks, limits, lines, paths
        self.outcome, self.work, self.covered, self.named = {}, {}, {}, set()
        self.good, self.hung, self.exhausted = True, 0, False

    def startTest(self, test):
        super().startTest(test)
        name = test.id()
        self.outcome.setdefault(name, True)
        if self.lines is not None:
            self.lines.clear()
        random.seed(0)
        self.ticks.start(self.limits(name))

    def stopTest(self, test):
        name = test.id()
        if self.ticks.over():
            self.hung += 1
            self.failed(test, None)
        self.work[name] = self.ticks.count
        if self.lines is not None:
            self.covered[name] = sorted(self.lines)
        self.ticks.start(self.limits(""))
        super().stopTest(test)
        if self.lines is None and self.hung >= HUNG_TESTS or self.exhausted:
            self.stop()

    def failed(self, test, error):
        self.good = False
        self.outcome[test.id()] = False
        if error is None:
            return
        if isinstance(error[1], MemoryError):
            self.exhausted = True
        trace = error[2]
        while trace is not None:
            path = self.paths.get(trace.tb_frame.f_code.co_filename)
            if path:
                self.named.add((path, trace.tb_lineno))
            trace = trace.tb_next

    addError = addFailure = failed

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.failed(test, error)

    def addUnexpectedSuccess(self, test):
        self.failed(test, None)

    def addExpectedFailure(self, test, error):
        pass


def tracer(lines, paths):
    """A trace function that adds (path, line) of editable files to `lines`."""
    def local(frame, event, arg):
        if event == "line":
            lines.add((paths[frame.f_code.co_filename], frame.f_lineno))
        return local

    def calls(frame, event, arg):
        path = paths.get(frame.f_code.co_filename)
        if path is None:
            return None
        lines.add((path, frame.f_lineno))
        return local
    return calls


def load(request):
    loader = unittest.TestLoader()
    if request.get("patterns"):
        loader.testNamePatterns = [p if "*" in p else "*%s*" % p for p in request["patterns"]]
    if request.get("discover"):
        return loader.discover(**request["discover"])
    names = []
    for name in request["names"]:
        if name.lower().endswith(".py") and os.path.isfile(name):
            name = os.path.normpath(name)[:-3].replace("\\", ".").replace("/", ".")
        names.append(name)
    return loader.loadTestsFromNames(names)


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            for inner in flatten(test):
                yield inner
        else:
            yield test.id()


def serve(task, codes, directory):
    """Put the candidate's files before those of the workspace, and forget preloaded namesakes."""
    for path, code in codes.items():
        Loader.served[os.path.realpath(os.path.join(directory, path))] = code

    def hook(folder):
        if os.path.commonpath([os.path.realpath(folder), directory]) != directory:
            raise ImportError(folder)
        machinery = importlib.machinery
        return machinery.FileFinder(folder, (machinery.ExtensionFileLoader, machinery.EXTENSION_SUFFIXES),
                                    (Loader, machinery.SOURCE_SUFFIXES))
    sys.path_hooks.insert(0, hook)
    sys.path.insert(0, directory)
    own = {entry.partition(".")[0] for entry in os.listdir(directory)}
    for name in list(sys.modules):
        if name.partition(".")[0] in own and name not in task["core"]:
            del sys.modules[name]


def judge(task, codes, directory, cover):
    """In the child: run the tests, return what there is to say."""
    directory = os.path.realpath(directory)
    os.chdir(directory)
    ticks = Ticks()
    ticks.install()
    known = task.get("ticks") or {}
    free = task["tests"].get("free") or FREE_TICKS
    base = max(BASELINE_TICKS, free) if cover else free + TIMES * max(known.values(), default=0)

    def limits(name):
        return base if cover or name not in known else free + TIMES * known[name]
    serve(task, codes, directory)
    sys.argv = ["python3 -m unittest"]
    random.seed(0)
    paths = {path: path for path in codes}
    lines = set() if cover else None
    result = Result(ticks, limits, lines, paths)
    ticks.start(limits("import"))
    suite = load(task["tests"])
    names = list(flatten(suite))
    imported = ticks.count
    if cover:
        sys.settrace(tracer(lines, paths))
    suite.run(result)
    sys.settrace(None)
    # One that hangs or eats the memory passes nothing: it is the last to be submitted.
    spoiled = result.exhausted or result.hung and not cover
    passed = [] if spoiled else [n for n, good in result.outcome.items() if good]
    answer = {"passed": result.good and result.testsRun > 0, "count": len(passed),
              "total": len(names), "loaded": Loader.loaded}
    if cover:
        answer.update(names=names, good=passed, covered=result.covered, named=sorted(result.named))
        # A test that failed may have ended early: its work says nothing of a full run.
        work = {n: w for n, w in result.work.items() if result.outcome[n]}
        answer["ticks"] = dict(work, **{"import": imported})
    return answer


def limit(cpu):
    for kind, value in ((resource.RLIMIT_CPU, cpu), (resource.RLIMIT_AS, MEMORY),
                        (resource.RLIMIT_FSIZE, FILE_SIZE), (resource.RLIMIT_CORE, 0)):
        try:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, hard))
        except (ValueError, OSError):
            pass


class Killed(Exception):
    """Somebody else killed the child: that says nothing of the candidate."""


def fork(task, codes, directory, private, cover=False):
    """Run `judge` in a child; None if the child did not live to tell. Raises Killed."""
    reader, writer = os.pipe()
    times = 4 if cover else 1
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.close(reader)
            for fd in private:
                os.close(fd)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, WALL * times)
            gc.disable()
            limit(CPU * times)
            data = json.dumps(judge(task, codes, directory, cover)).encode("utf-8")
            while data:
                data = data[os.write(writer, data):]
        except BaseException:
            pass
        finally:
            os._exit(0)
    os.close(writer)
    deadline = time.monotonic() + WALL * times + 2
    answer = status = None
    try:
        answer, ended = collect(reader, deadline)
        if answer is None and ended:
            status = await_exit(child, deadline)
    finally:
        os.close(reader)
        if status is None:
            end(child)
    if status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        raise Killed("the process of a candidate was killed from outside, as when the machine runs out of memory")
    return answer


def end(child):
    """Kill the child and all it started."""
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except OSError:
            pass
    os.waitpid(child, 0)


def await_exit(child, deadline):
    """How a child ended that closed its pipe without an answer; None if it lives on."""
    pause = 0.0005
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            try:
                os.killpg(child, signal.SIGKILL)
            except OSError:
                pass
            return status
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    return None


def collect(reader, deadline):
    """The answer, None if it is not whole; and whether the pipe was closed in time."""
    parts = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return None, False
        part = os.read(reader, 1 << 16)
        if not part:
            break
        parts.append(part)
    try:
        return json.loads(b"".join(parts).decode("utf-8")), True
    except ValueError:
        return None, True
