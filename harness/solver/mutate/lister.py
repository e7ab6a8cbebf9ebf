"""Lists what can be mutated in a program and what can be left out of its tests. Runs none of it.

One JSON request a line, one answer a line:

    {"do": "mutants", "files": {path: text}}   every mutation, as in server.py, with its "function"
    {"do": "tests", "files": {path: text}}     the tests of test files, and the asserts of a lone one
"""
import ast
import json
import os
import sys

from mutate_program import Program
from mutate_source import FUNCTIONS, Source

# Behind a test module whose asserts are tried one by one: each that fails says so, the test fails at its end.
PROBE = '''

class retrial_unit_:
    failed = []

    def __init__(self, number):
        self.number = number

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None or not issubclass(kind, Exception):
            return False
        said = str(error)
        if not said and hasattr(self, "right"):
            try:
                said = "%.200r against %.200r" % (self.left, self.right)
            except Exception:
                said = ""
        import sys
        lines = ("%s: %s" % (kind.__name__, said)).splitlines()
        sys.stderr.write("[unit %d] %s\\n" % (self.number, lines[0]))
        self.failed.append(self.number)
        return True
'''
VERDICT = "assert not retrial_unit_.failed, \"asserts failed: %r\" % retrial_unit_.failed\n"
COMPOUND = (ast.For, ast.While, ast.With, ast.If, ast.Try)


def mutants(files):
    program = Program(files)
    listed = program.mutants()
    where = {path: functions(file.source.tree) for path, file in program.files.items()}
    for mutant in listed:
        mutant["function"] = where[mutant["path"]].get(mutant["line"], "")
    return {"mutants": listed}


def functions(tree):
    """Maps each line inside a function to the function's dotted name, innermost last."""
    found = {}

    def visit(node, name):
        for child in ast.iter_child_nodes(node):
            inner = name
            if isinstance(child, FUNCTIONS + (ast.ClassDef,)):
                inner = name + "." + child.name if name else child.name
                if isinstance(child, FUNCTIONS):
                    found.update((line, inner) for line in range(child.lineno, child.end_lineno + 1))
            visit(child, inner)
    visit(tree, "")
    return found


def named_test(node):
    return isinstance(node, FUNCTIONS) and node.name.startswith("test")


def tests(files):
    """Test methods and functions of all files; where there is one alone, what its asserts come to."""
    found, holders = [], []
    for path in sorted(files):
        try:
            source = Source(path, files[path])
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in source.tree.body:
            if named_test(node):
                found.append(unit(source, node, node.name, "", False))
                holders.append((source, node))
            elif isinstance(node, ast.ClassDef):
                own = [n for n in node.body if named_test(n)]
                alone = len(own) == len(node.body)
                for method in own:
                    found.append(unit(source, method, node.name + "." + method.name, node.name, alone))
                    holders.append((source, method))
    lone = asserts(*holders[0]) if len(holders) == 1 else None
    return {"tests": found, "asserts": lone}


def unit(source, node, name, block, alone):
    first = min([node.lineno] + [d.lineno for d in node.decorator_list])
    start, end = source.lines(first, node.end_lineno)
    return {"path": source.path, "name": name, "start": start, "end": end, "block": block, "alone": alone,
            "filler": " " * node.col_offset + "pass\n", "method": bool(block)}


def asserts(source, test):
    """The asserts of a test, or of the function of its file that it calls; None where they are fewer than two."""
    called = {n.func.id for n in ast.walk(test) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    for holder in [test] + [n for n in source.tree.body if isinstance(n, FUNCTIONS) and n.name in called]:
        chosen = [s for i, s in enumerate(holder.body) if separable(source, holder.body, i)]
        if len(chosen) > 1:
            units = [dict(zip(("start", "end"), source.lines(s.lineno, s.end_lineno)), path=source.path, block="",
                          name="assert %d" % i, alone=False, filler="", method=False) for i, s in enumerate(chosen)]
            return {"units": units, "path": source.path, "probe": probe(source, holder, chosen)}
    return None


def separable(source, body, index):
    """Whether a statement checks something and can be left out by itself."""
    stmt = body[index]
    if not source.whole_lines(stmt):
        return False
    if isinstance(stmt, ast.Assert):
        return not isinstance(stmt.test, ast.Constant)
    if isinstance(stmt, ast.Expr):
        return checks(stmt.value)
    if not isinstance(stmt, COMPOUND) or spans_lines(stmt):
        return False
    if not any(isinstance(n, ast.Assert) or checks(n) for n in ast.walk(stmt)):
        return False
    if any(isinstance(n, FUNCTIONS + (ast.Return, ast.Global, ast.Nonlocal)) for n in ast.walk(stmt)):
        return False
    bound = {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    later = {n.id for s in body[index + 1:] for n in ast.walk(s) if isinstance(n, ast.Name)}
    return not bound & later


def checks(node):
    """self.assertX(...)"""
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert")
            and isinstance(node.func.value, ast.Name) and node.func.value.id == "self")


def spans_lines(stmt):
    """Whether a string goes over several lines, which another indentation would change."""
    return any(isinstance(n, (ast.Constant, ast.JoinedStr)) and n.end_lineno != n.lineno for n in ast.walk(stmt))


def probe(source, holder, chosen):
    """The file with each chosen statement tried by itself."""
    out, last = [], 0
    for i, stmt in enumerate(chosen):
        start, end = source.span(stmt)
        out.append(source.data[last:start])
        out.append(tried(source, i, stmt).encode("utf-8"))
        last = end
    stop = source.lines(holder.lineno, holder.end_lineno)[1]
    rest = source.data[last:stop]
    out.append(rest if rest.endswith(b"\n") else rest + b"\n")
    out.append((" " * holder.body[0].col_offset + VERDICT).encode("utf-8"))
    out.append(source.data[stop:])
    return b"".join(out).decode("utf-8") + PROBE


def tried(source, number, stmt):
    head = "with retrial_unit_(%d) as retrial_seen_:" % number
    if isinstance(stmt, COMPOUND):
        indent = " " * stmt.col_offset
        return head + "\n    " + indent + source.get(stmt).replace("\n", "\n    ")
    test = getattr(stmt, "test", None)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and not stmt.msg:
        found = source.gap(test.left, test.comparators[0])
        if found:
            return "%s retrial_seen_.left = (%s); retrial_seen_.right = (%s); assert retrial_seen_.left %s retrial_seen_.right" % (
                head, source.get(test.left), source.get(test.comparators[0]), found[2])
    return head + " " + source.get(stmt)


def main(requests):
    writer = os.fdopen(os.dup(1), "wb")
    for line in requests:
        try:
            request = json.loads(line.decode("utf-8"))
            answer = {"mutants": mutants, "tests": tests}[request["do"]](request.get("files") or {})
        except Exception as error:  # told to the caller, which reports it
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
        writer.write(json.dumps(answer).encode("utf-8") + b"\n")
        writer.flush()
    sys.exit(0)
