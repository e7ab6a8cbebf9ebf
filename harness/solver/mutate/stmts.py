"""Mutations of statements: dropped, moved, and returns of something else."""
import ast

from mutate_ops import WEIGHTS
from mutate_source import FUNCTIONS

LOOPS = (ast.For, ast.While, ast.AsyncFor)
JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
FIXED = FUNCTIONS + (ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)


class Statements:
    """Collects the mutations of one file's statements; `emit` as in Expressions."""

    def __init__(self, source, emit):
        self.src, self.emit = source, emit

    def run(self):
        for node in self.src.nodes:
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    self.block(node, block)

    def block(self, holder, block):
        for i, stmt in enumerate(block):
            if isinstance(stmt, FIXED) or docstring(stmt):
                continue
            self.drop(holder, block, i)
            self.jump(stmt)
            self.returns(stmt)
            if i + 1 < len(block):
                self.down(stmt, block[i + 1])
            if i:
                self.into(block[i - 1], stmt)
            if i and i + 1 == len(block):
                self.out(holder, stmt)

    def label(self, stmt):
        """A statement's first line, for people."""
        return self.src.get(stmt).split("\n")[0].strip()

    def drop(self, holder, block, i):
        stmt = block[i]
        weight = WEIGHTS["delete"]
        if not simple(stmt):
            if not (isinstance(stmt, ast.If) and not stmt.orelse and len(stmt.body) == 1 and simple(stmt.body[0])):
                return
            weight /= 2
        if isinstance(stmt, (ast.Assign, ast.AnnAssign)) and self.needed(stmt):
            return
        if isinstance(stmt, ast.Return) and isinstance(holder, FUNCTIONS) and i + 1 == len(block):
            return
        if self.src.whole_lines(stmt) and len(block) > 1:
            start, end = self.src.lines(stmt.lineno, stmt.end_lineno)
            self.emit(start, end, "", "delete", weight, self.label(stmt), "", at=stmt.lineno)
        elif simple(stmt):
            start, end = self.src.span(stmt)
            self.emit(start, end, "pass", "delete", weight, self.label(stmt), "pass")

    def needed(self, stmt):
        """Whether dropping an assignment would only leave its name or field unbound."""
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        for target in targets:
            if isinstance(target, ast.Name) and stmt.scope.names.get(target.id, 0) < stmt.lineno:
                continue
            if isinstance(target, ast.Subscript):
                continue
            function = stmt.scope.function()
            if isinstance(target, ast.Attribute) and function and getattr(function.node, "name", "") != "__init__":
                continue
            return True
        return False

    def jump(self, stmt):
        if isinstance(stmt, (ast.Break, ast.Continue)):
            new = "continue" if isinstance(stmt, ast.Break) else "break"
            start, end = self.src.span(stmt)
            self.emit(start, end, new, "jump", WEIGHTS["jump"], self.src.get(stmt), new)

    def returns(self, stmt):
        if not isinstance(stmt, ast.Return) or stmt.value is None:
            return
        value = stmt.value
        choices = ["None"]
        constant = isinstance(value, ast.Constant)
        if isinstance(value, (ast.Compare, ast.BoolOp)) or self.boolean(stmt):
            choices += ["True", "False"]
            if not constant and not isinstance(value, ast.UnaryOp):
                choices.append("not (" + self.src.get(value) + ")")
        start, end = self.src.span(value)
        for new in choices:
            if not (constant and value.value is None):
                self.emit(start, end, new, "return", WEIGHTS["return"], "return " + self.src.get(value), "return " + new)

    @staticmethod
    def boolean(stmt):
        """Whether the statement's function returns a truth value somewhere."""
        function = stmt.scope.function()
        return function is not None and any(
            isinstance(node, ast.Return) and isinstance(getattr(node.value, "value", None), bool)
            for node in ast.walk(function.node))

    def down(self, stmt, after):
        """Exchange a statement with the next."""
        if isinstance(after, FIXED + JUMPS) or isinstance(stmt, JUMPS) or not (simple(stmt) or simple(after)):
            return
        if isinstance(stmt, (ast.Assign, ast.AnnAssign)) and self.needed(stmt) and not simple(after):
            return
        if not (self.src.whole_lines(stmt) and self.src.whole_lines(after)) or independent(stmt, after):
            return
        a, b = self.src.lines(stmt.lineno, stmt.end_lineno)
        c, d = self.src.lines(after.lineno, after.end_lineno)
        first, second = self.src.data[a:b].decode("utf-8"), self.src.data[c:d].decode("utf-8")
        if not second.endswith("\n"):
            return
        mover = stmt if simple(stmt) else after
        where = " below" if mover is stmt else " above"
        other = after if mover is stmt else stmt
        self.emit(a, d, second + self.src.data[b:c].decode("utf-8") + first, "move", WEIGHTS["move"],
                  self.label(mover), where + " `" + self.label(other) + "`", at=mover.lineno)

    def out(self, holder, stmt):
        """Move a block's last statement behind the block."""
        if not simple(stmt) or isinstance(stmt, (ast.Break, ast.Continue)):
            return
        if not isinstance(holder, LOOPS + (ast.If, ast.With)) or not self.src.whole_lines(stmt):
            return
        a, b = self.src.lines(stmt.lineno, stmt.end_lineno)
        c, d = b, self.src.lines(holder.lineno, holder.end_lineno)[1]
        self.shift(stmt, a, d, self.src.data[c:d].decode("utf-8"), holder.col_offset, True, " out of its block")

    def into(self, before, stmt):
        """Move a statement to the end of the block before it."""
        if not simple(stmt) or not isinstance(before, LOOPS + (ast.If, ast.With)) or getattr(before, "orelse", []):
            return
        last = before.body[-1]
        if isinstance(last, JUMPS) or not self.src.whole_lines(stmt) or last.lineno == before.lineno:
            return
        a, b = self.src.lines(before.lineno, before.end_lineno)
        d = self.src.lines(stmt.lineno, stmt.end_lineno)[1]
        if self.src.data[b:self.src.lines(stmt.lineno, stmt.lineno)[0]].strip():
            return
        self.shift(stmt, b, d, "", last.col_offset, True, " into the block above")

    def shift(self, stmt, start, end, between, column, after, where):
        """Rewrite [start, end) as what lies between and the statement at another indentation."""
        a, b = self.src.lines(stmt.lineno, stmt.end_lineno)
        lines = self.src.data[a:b].decode("utf-8").split("\n")
        if '"""' in lines[0] or "'''" in lines[0] or "\t" in lines[0][:stmt.col_offset]:
            return
        delta = column - stmt.col_offset
        moved = []
        for line in lines:
            if line.strip():
                line = " " * delta + line if delta > 0 else line[-delta:]
            moved.append(line)
        text = "\n".join(moved)
        if between and not between.endswith("\n") or not text.endswith("\n"):
            return
        self.emit(start, end, between + text, "move", WEIGHTS["move"], self.label(stmt), where, at=stmt.lineno)


def simple(stmt):
    return not hasattr(stmt, "body") and not hasattr(stmt, "cases")


def docstring(stmt):
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def independent(one, two):
    """Whether two statements plainly commute: no jump or call, and no common written name."""
    def touched(stmt):
        read, written = set(), set()
        for node in ast.walk(stmt):
            if isinstance(node, JUMPS + (ast.Call, ast.Yield, ast.YieldFrom, ast.Await, ast.Assert)):
                return None, None
            if isinstance(node, ast.Name):
                (read if isinstance(node.ctx, ast.Load) else written).add(node.id)
            elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
                written.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        return read, written
    read1, written1 = touched(one)
    read2, written2 = touched(two)
    if read1 is None or read2 is None:
        return False
    return not (written1 & (read2 | written2) or written2 & read1)
