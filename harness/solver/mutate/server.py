"""The warm interpreter: reads one JSON request a line, answers one a line.

    {"do": "open", "key": K, "files": {path: text}, "tests": {...}, "ticks": {...} or null}
    {"do": "analyse", "key": K, "dir": D}   mutants, coverage and outcome of the unmodified program
    {"do": "try", "key": K, "dir": D, "path": P, "start": S, "end": E, "text": T}

An unknown key is answered {"unknown": true}; the caller opens it and asks again.
"""
import ast
import collections
import gc
import json
import os
import sys

import mutate_trial as trial
from mutate_program import Program

TRIES = 3  # of a candidate whose process is killed from outside; then it is an error
KEPT = 64  # programs kept open, the latest used

# Loaded once so that no child has to.
PRELOADED = ("abc bisect calendar collections collections.abc contextlib copy csv dataclasses datetime decimal enum "
             "fractions functools heapq io itertools json math operator os.path random re statistics string "
             "textwrap time types typing urllib.parse").split()


class Server:
    """Open programs by key. `core` names the modules that `python3 -m unittest` itself has loaded."""

    def __init__(self, private, core):
        self.private, self.core = private, core
        self.tasks = collections.OrderedDict()

    def open(self, request):
        program = Program(request["files"])
        self.tasks[request["key"]] = {"program": program, "tests": request["tests"], "core": self.core,
                                      "ticks": request.get("ticks")}
        while len(self.tasks) > KEPT:
            self.tasks.popitem(last=False)
        gc.collect()
        gc.freeze()
        return {}

    def codes(self, task):
        codes = {path: file.compiled() for path, file in task["program"].files.items()}
        codes.update(task["program"].broken)
        return codes

    def fork(self, task, codes, directory, cover=False):
        for left in reversed(range(TRIES)):
            try:
                answer = trial.fork(task, codes, directory, self.private, cover)
                break
            except trial.Killed:
                if not left:
                    raise
        for path in (answer or {}).pop("loaded", []):
            self.remember(path)
        return answer

    def remember(self, path):
        """Compile a workspace file once for all later children; keyed by content."""
        cache = trial.Loader.cache
        try:
            with open(path, "rb") as file:
                data = file.read()
            if data not in cache:
                if len(cache) >= 4 * KEPT:
                    cache.clear()
                cache[data] = compile(data, path, "exec", 0, True)
        except (OSError, SyntaxError, ValueError):
            pass

    def analyse(self, task, request):
        program = task["program"]
        answer = self.fork(task, self.codes(task), request["dir"], cover=True)
        if answer is None:
            answer = {"passed": False, "count": 0, "total": 0, "names": [], "good": [], "covered": {},
                      "named": [], "ticks": {}}
        task["ticks"] = answer["ticks"]
        mutants = program.mutants()
        return {"mutants": mutants, "lines": self.lines(program, answer, mutants), "passed": answer["passed"],
                "count": answer["count"], "total": answer["total"], "ticks": answer["ticks"],
                "failing": len(answer["names"]) - len(answer["good"])}

    @staticmethod
    def lines(program, answer, mutants):
        """Per statement with mutants: failing and passing tests that execute it; whether a traceback names it."""
        good, names = set(answer["good"]), answer["names"]
        hit = {}
        for name in names:
            for path, line in answer["covered"].get(name, []):
                hit.setdefault((path, program.files[path].source.owner.get(line, line)), set()).add(name)
        named = {(p, program.files[p].source.owner.get(n, n)) for p, n in answer["named"] if p in program.files}
        always = {(path, stmt.lineno) for path, file in program.files.items() for stmt in file.source.nodes
                  if isinstance(stmt, ast.stmt) and stmt.scope.function() is None and not hasattr(stmt, "args")}
        out = []
        for key in sorted({(m["path"], m["stmt"]) for m in mutants}):
            tests = set(names) if key in always else hit.get(key, set())
            passing = len(tests & good)
            out.append({"path": key[0], "stmt": key[1], "failing": len(tests) - passing, "passing": passing,
                        "named": key in named})
        return out

    def attempt(self, task, request):
        file = task["program"].files[request["path"]]
        codes = self.codes(task)
        try:
            codes[request["path"]] = file.mutated(request["start"], request["end"], request["text"])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {"passed": False, "count": 0, "total": 0, "crashed": True}
        answer = self.fork(task, codes, request["dir"])
        return answer or {"passed": False, "count": 0, "total": 0, "crashed": True}

    def handle(self, request):
        if request["do"] == "open":
            return self.open(request)
        task = self.tasks.get(request["key"])
        if task is None:
            return {"unknown": True}
        self.tasks.move_to_end(request["key"])
        if request["do"] == "analyse":
            return self.analyse(task, request)
        return self.attempt(task, request)


def main(core, requests):
    # Tests own the standard streams of their children: the protocol moves to private descriptors.
    writer = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
    sys.dont_write_bytecode = True
    for name in PRELOADED:
        __import__(name)
    server = Server([requests.fileno(), writer], core)
    for line in requests:
        try:
            answer = server.handle(json.loads(line.decode("utf-8")))
        except Exception as error:  # told to the caller, which reports it
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
        data = json.dumps(answer).encode("utf-8") + b"\n"
        while data:
            data = data[os.write(writer, data):]
