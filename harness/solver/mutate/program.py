"""A program's files, compiled in memory with counted work, and their mutants.

Files are compiled one top-level statement at a time, so that a candidate costs
one small compilation. Every loop turn, function entry and comprehension turn
calls `__tick__`, which raises Hang past a limit: whether a candidate hangs is
decided by counted work, the same on a slow or busy machine.
"""
import __future__
import ast
import builtins

from mutate_model import Model
from mutate_ops import Expressions
from mutate_source import Source
from mutate_stmts import Statements

# Where scopes and loops could break a candidate is compiled, not only parsed; where
# one word replaces another of its kind it need not even be parsed.
STRUCTURAL = ("delete", "move", "jump", "return")
SAFE = ("boundary", "compare", "boolean", "bitwise", "constant", "name", "attribute", "key", "sibling")


class Hang(BaseException):
    """Too much work was counted. Not an Exception, so that programs do not catch it by habit."""


class Ticks:
    """Counts work between `start` calls."""

    def __init__(self):
        self.count, self.limit = 0, 0

    def install(self):
        def tick():
            self.count += 1
            if self.count > self.limit:
                raise Hang()
            return True
        builtins.__tick__ = tick

    def start(self, limit):
        self.count, self.limit = 0, limit

    def over(self):
        return self.count > self.limit


class Instrument(ast.NodeTransformer):
    """Adds a tick to loops, functions, lambdas and comprehensions."""

    @staticmethod
    def call(at):
        name = ast.copy_location(ast.Name(id="__tick__", ctx=ast.Load()), at)
        return ast.copy_location(ast.Call(func=name, args=[], keywords=[]), at)

    def visit_block(self, node):
        self.generic_visit(node)
        first = node.body[0]
        place = 0
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(node.body) > 1:
            place = 1
        node.body.insert(place, ast.copy_location(ast.Expr(value=self.call(first)), first))
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_For = visit_AsyncFor = visit_While = visit_block

    def visit_Lambda(self, node):
        self.generic_visit(node)
        body = node.body
        node.body = ast.copy_location(ast.BoolOp(op=ast.And(), values=[self.call(body), body]), body)
        return node

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.ifs.insert(0, self.call(node.iter))
        return node


class File:
    """One editable file: its text, its top-level pieces and their code."""

    def __init__(self, path, text):
        self.path, self.text, self.data = path, text, text.encode("utf-8")
        self.source = Source(path, text)
        self.flags = 0
        for stmt in self.source.tree.body:
            if isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__":
                for alias in stmt.names:
                    self.flags |= getattr(__future__, alias.name).compiler_flag
        self.pieces = self._pieces()
        self.codes = None

    def _pieces(self):
        """[start, end) byte spans of whole lines, one per run of top-level statements on its own lines."""
        cuts, last = [], 0
        for stmt in self.source.tree.body:
            first = min([stmt.lineno] + [d.lineno for d in getattr(stmt, "decorator_list", [])])
            if first > last:
                cuts.append(self.source.starts[first - 1])
            last = max(last, stmt.end_lineno)
        cuts = cuts or [0]
        return list(zip(cuts, cuts[1:] + [len(self.data)]))

    def piece(self, start, end):
        """Index of the piece that holds an edit, or None if none holds it alone."""
        for i, (first, last) in enumerate(self.pieces):
            if first <= start and (end < last or end == last and start < last):
                return i
        return None

    def parse(self, data, line):
        """Parse bytes that begin at the given line of the file."""
        return ast.parse(b"\n" * (line - 1) + data)

    def code(self, data, line):
        tree = Instrument().visit(self.parse(data, line))
        return compile(tree, self.path, "exec", self.flags, True)

    def compiled(self):
        """The unmodified file's code objects, in order."""
        if self.codes is None:
            self.codes = [self.code(self.data[a:b], self.source.line_of(a)) for a, b in self.pieces]
        return self.codes

    def mutated(self, start, end, text):
        """The code objects after replacing [start, end); SyntaxError or ValueError if it does not compile."""
        new = text.encode("utf-8")
        i = self.piece(start, end)
        if i is None:
            return [self.code(self.data[:start] + new + self.data[end:], 1)]
        a, b = self.pieces[i]
        codes = list(self.compiled())
        codes[i] = self.code(self.data[a:start] + new + self.data[end:b], self.source.line_of(a))
        return codes

    def valid(self, start, end, text, structural):
        """Whether the edit leaves a file that parses; compiled as well where scopes could break."""
        i = self.piece(start, end)
        a, b = (0, len(self.data)) if i is None else self.pieces[i]
        data = self.data[a:start] + text.encode("utf-8") + self.data[end:b]
        try:
            tree = ast.parse(data)
            if structural:
                compile(tree, self.path, "exec", self.flags, True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return True


class Program:
    """All editable files of a task. Files that do not parse are served as they are and not mutated."""

    def __init__(self, files):
        self.files, self.broken = {}, {}
        for path in sorted(files):
            try:
                self.files[path] = File(path, files[path])
            except (SyntaxError, ValueError, RecursionError):
                self.broken[path] = files[path]

    def mutants(self):
        """Every mutation as a dict; of those that give the same text the heaviest is kept."""
        model = Model([f.source for f in self.files.values()])
        found = []
        for path in sorted(self.files):
            found += self._mutants(self.files[path], model)
        return found

    @staticmethod
    def _mutants(file, model):
        kept = {}

        def emit(start, end, new, operator, weight, was, now, at=0):
            key = _canonical(file.data, start, end, new.encode("utf-8"))
            if key[0] == key[1] and not key[2] or key in kept and kept[key]["weight"] >= weight:
                return
            line = at or file.source.line_of(start)
            kept[key] = {"path": file.path, "line": line, "stmt": file.source.owner.get(line, line),
                         "start": start, "end": end, "text": new, "op": operator, "weight": weight,
                         "before": was, "after": now}

        Expressions(file.source, model, emit).run()
        Statements(file.source, emit).run()
        valid = [m for m in kept.values()
                 if m["op"] in SAFE or file.valid(m["start"], m["end"], m["text"], m["op"] in STRUCTURAL)]
        return sorted(valid, key=lambda m: (m["line"], m["start"], m["end"], m["text"]))


def _canonical(data, start, end, new):
    """The edit without the bytes it does not change: equal for edits that give the same text."""
    old = data[start:end]
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start, end, new = start + head, end - tail, new[head:len(new) - tail]
    # A pure insertion or removal may be written at several places of a run of equal bytes.
    if start == end and new:
        while start and data[start - 1:start] == new[-1:]:
            start, end, new = start - 1, end - 1, new[-1:] + new[:-1]
    elif not new and start < end:
        while start and data[start - 1] == data[end - 1]:
            start, end = start - 1, end - 1
    return start, end, new
