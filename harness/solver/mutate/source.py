"""One Python file seen as bytes, tokens, statements and scopes.

Positions are UTF-8 byte offsets into the file, so that an edit means the same
to the caller, which is not written in Python. Works on Python 3.8 and later.
"""
import ast
import bisect
import io
import tokenize

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LINKED = (ast.mod, ast.stmt, ast.expr, ast.comprehension, ast.arguments, ast.arg,
          ast.keyword, ast.ExceptHandler, ast.withitem,
          getattr(ast, "slice", ast.expr), getattr(ast, "match_case", ast.expr))
FSTRINGS = ("JoinedStr", "TemplateStr")


class Scope:
    """Names bound by a module, class, function or comprehension.

    `names` maps a name to the line of the statement that binds it first; 0 for
    parameters and comprehension targets, which are bound throughout.
    """

    def __init__(self, kind, parent, node):
        self.kind, self.parent, self.node, self.names = kind, parent, node, {}

    def bind(self, name, line):
        self.names[name] = min(line, self.names.get(name, line))

    def chain(self):
        """This scope and those whose names it sees, the module's last."""
        scope, inner = self, True
        while scope:
            if inner or scope.kind != "class":
                yield scope
            inner, scope = False, scope.parent

    def function(self):
        """The function this scope is or lies in; None at module or class level."""
        scope = self
        while scope and scope.kind == "comprehension":
            scope = scope.parent
        return scope if scope and scope.kind == "function" else None


class Source:
    """A parsed file. Raises SyntaxError or ValueError if it does not parse."""

    def __init__(self, path, text):
        self.path, self.text, self.data = path, text, text.encode("utf-8")
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in self.data.split(b"\n")[:-1]:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.tokens = self._tokens()
        self.token_starts = [t[0] for t in self.tokens]
        self.nodes = []
        self.module = Scope("module", None, self.tree)
        self._link(self.tree, None, self.module, None)
        self.owner = _owners(self.tree)

    def _tokens(self):
        """Name, number, string and operator tokens as (start, end, text), f-strings left out."""
        out, depth = [], 0
        lines = self.text.split("\n")
        for tok in tokenize.generate_tokens(io.StringIO(self.text).readline):
            name = tokenize.tok_name[tok.type]
            if name.endswith("STRING_START"):
                depth += 1
            elif name.endswith("STRING_END"):
                depth -= 1
            elif not depth and name in ("NAME", "OP", "NUMBER", "STRING"):
                out.append((self._char(lines, tok.start), self._char(lines, tok.end), tok.string))
        return out

    def _char(self, lines, position):
        row, col = position
        return self.starts[row - 1] + len(lines[row - 1][:col].encode("utf-8"))

    def _link(self, node, up, scope, stmt):
        """Give every node its parent, scope and statement; list those that may be mutated."""
        if not isinstance(node, LINKED) or type(node).__name__ in FSTRINGS:
            return
        if isinstance(node, ast.stmt):
            stmt = node
        node.up, node.scope, node.stmt = up, scope, stmt
        self.nodes.append(node)
        self._bind(node, scope, stmt)
        inner = self._inner(node, scope)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "bases", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    outside = field in ("defaults", "kw_defaults") or self._first_iter(up, node, field)
                    target = inner.parent if outside and inner.parent else inner
                    self._link(child, node, target, stmt)

    @staticmethod
    def _first_iter(up, node, field):
        return (field == "iter" and isinstance(node, ast.comprehension)
                and isinstance(up, COMPREHENSIONS) and up.generators[0] is node)

    @staticmethod
    def _inner(node, scope):
        if isinstance(node, FUNCTIONS + (ast.Lambda,)):
            return Scope("function", scope, node)
        if isinstance(node, ast.ClassDef):
            return Scope("class", scope, node)
        if isinstance(node, COMPREHENSIONS):
            return Scope("comprehension", scope, node)
        return scope

    @staticmethod
    def _bind(node, scope, stmt):
        if isinstance(node, ast.arg):
            scope.bind(node.arg, 0)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            scope.bind(node.id, 0 if scope.kind == "comprehension" else stmt.lineno)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            scope.bind(node.name, node.lineno)

    def at(self, line, col):
        return self.starts[line - 1] + col

    def span(self, node):
        return (self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset))

    def get(self, node):
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8")

    def line_of(self, offset):
        return bisect.bisect_right(self.starts, offset)

    def gap(self, left, right):
        """The operator written between two neighbouring expressions: (start, end, text)."""
        first = bisect.bisect_left(self.token_starts, self.span(left)[1])
        last = bisect.bisect_left(self.token_starts, self.span(right)[0])
        found = [t for t in self.tokens[first:last] if t[2] not in "(),"]
        if not found:
            return None
        return found[0][0], found[-1][1], " ".join(t[2] for t in found)

    def token_at(self, offset):
        index = bisect.bisect_left(self.token_starts, offset)
        if index < len(self.tokens) and self.token_starts[index] == offset:
            return self.tokens[index]
        return None

    def lines(self, first, last):
        """Bytes span of whole lines, the last newline included."""
        end = self.starts[last] if last < len(self.starts) else len(self.data)
        return self.starts[first - 1], end

    def whole_lines(self, stmt):
        """Whether the statement shares its lines with nothing but blanks and a comment."""
        start, end = self.span(stmt)
        first, last = self.lines(stmt.lineno, stmt.end_lineno)
        rest = self.data[end:last].strip()
        return not self.data[first:start].strip() and (not rest or rest.startswith(b"#"))


def _owners(tree):
    """Map each line to the first line of the statement whose header or text it belongs to."""
    own = {}
    for stmt in ast.walk(tree):
        if not isinstance(stmt, ast.stmt):
            continue
        first = min([stmt.lineno] + [d.lineno for d in getattr(stmt, "decorator_list", [])])
        body = getattr(stmt, "body", None) or getattr(stmt, "cases", None)
        last = stmt.end_lineno
        if body:
            inner = body[0]
            last = max(stmt.lineno, getattr(inner, "lineno", stmt.lineno + 1) - 1)
        for line in range(first, last + 1):
            own.setdefault(line, stmt.lineno)
    return own
