"""Mutations of expressions. Each changes one place, as a person's slip would."""
import ast
import re

from mutate_model import index_of, is_range, numbers, numeric

# Weight of a mutation before any evidence; where n places share it, each gets 1/n.
WEIGHTS = {
    "boundary": 6.0, "name": 4.0, "attribute": 3.0, "key": 3.0, "constant": 3.0, "boolean": 3.0,
    "sibling": 3.0, "negate": 2.0, "swap": 2.0, "arithmetic": 2.0, "bitwise": 2.0, "append": 1.5,
    "compare": 1.0, "delete": 1.0, "jump": 1.0, "target": 1.0, "move": 0.7, "return": 0.25,
}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
COMPLEMENT = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "==",
              "in": "not in", "not in": "in", "is": "is not", "is not": "is"}
COMPARE = {"<": [">", ">="], "<=": [">=", ">"], ">": ["<", "<="], ">=": ["<=", "<"],
           "==": ["!=", "<=", ">="], "!=": ["==", "<", ">"],
           "in": ["not in"], "not in": ["in"], "is": ["is not"], "is not": ["is"]}
ARITHMETIC = {"+": ["-", "*"], "-": ["+", "*"], "*": ["+", "//", "**"], "/": ["//", "*"], "//": ["/", "%", "*"],
              "%": ["//", "*"], "**": ["*"]}
BITWISE = {"&": ["|", "^"], "|": ["&", "^"], "^": ["|", "&"], "<<": [">>"], ">>": ["<<"]}
SIBLINGS = [
    ["min", "max"], ["any", "all"], ["int", "round"], ["sorted", "list"], ["floor", "ceil"],
    ["bisect_left", "bisect_right"], ["insort_left", "insort_right"], ["nlargest", "nsmallest"],
    ["strip", "lstrip", "rstrip"], ["startswith", "endswith"], ["find", "rfind"], ["index", "rindex"],
    ["split", "rsplit"], ["partition", "rpartition"], ["upper", "lower"], ["ljust", "rjust", "center"],
    ["append", "appendleft"], ["pop", "popleft"], ["keys", "values", "items"],
    ["union", "intersection", "difference", "symmetric_difference"], ["issubset", "issuperset"],
    ["isdigit", "isalpha", "isalnum"], ["hour", "minute", "second"], ["year", "month", "day"],
    ["weekday", "isoweekday"], ["removeprefix", "removesuffix"], ["days", "seconds"],
    ["permutations", "combinations"], ["takewhile", "dropwhile"],
]
SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


class Expressions:
    """Collects the mutations of one file's expressions by `emit(start, end, new, operator, weight, was, now)`."""

    def __init__(self, source, model, emit):
        self.src, self.model, self.emit = source, model, emit
        self.known = numbers(source)
        self.deques = b"deque" in source.data

    def run(self):
        for node in self.src.nodes:
            act = getattr(self, "on_" + type(node).__name__, None)
            if act:
                act(node)

    def replace(self, node, new, operator, weight):
        start, end = self.src.span(node)
        self.emit(start, end, new, operator, weight, self.src.get(node), new)

    def operator(self, left, right, table, operator):
        """Replace the operator between two operands, sharing one weight."""
        found = self.src.gap(left, right)
        if not found:
            return
        start, end, text = found
        aug = "=" if text.endswith("=") and text[:-1] in table else ""
        choices = [c + aug for c in table.get(text[:-1] if aug else text, [])]
        if aug:
            choices.append("=")
        for new in choices:
            self.emit(start, end, new, operator, WEIGHTS[operator] / len(choices), text, new)

    def on_Compare(self, node):
        sides = [node.left] + node.comparators
        for left, right in zip(sides, sides[1:]):
            found = self.src.gap(left, right)
            if not found:
                continue
            start, end, text = found
            if text in BOUNDARY:
                self.emit(start, end, BOUNDARY[text], "boundary", WEIGHTS["boundary"], text, BOUNDARY[text])
            for new in COMPARE.get(text, []):
                self.emit(start, end, new, "compare", WEIGHTS["compare"], text, new)
            # One of the two directions says the same as moving the boundary.
            spared = {"<": "+", "<=": "-", ">": "-", ">=": "+"}.get(text, "")
            self.append(right, skip=spared)

    def negate(self, node):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            found = self.src.gap(node.left, node.comparators[0])
            if found and found[2] in COMPLEMENT:
                new = COMPLEMENT[found[2]]
                self.emit(found[0], found[1], new, "negate", WEIGHTS["negate"], found[2], new)
        elif not (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
            text = self.src.get(node)
            new = "not " + text if isinstance(node, SIMPLE) else "not (" + text + ")"
            self.replace(node, new, "negate", WEIGHTS["negate"])

    def on_If(self, node):
        self.negate(node.test)

    on_While = on_IfExp = on_Assert = on_If

    def on_comprehension(self, node):
        for test in node.ifs:
            self.negate(test)

    def on_BoolOp(self, node):
        for left, right in zip(node.values, node.values[1:]):
            found = self.src.gap(left, right)
            if found:
                new = {"and": "or", "or": "and"}[found[2]]
                self.emit(found[0], found[1], new, "boolean", WEIGHTS["boolean"], found[2], new)
        for value in node.values:
            self.negate(value)

    def on_UnaryOp(self, node):
        start, end = self.src.span(node)
        value = getattr(node.operand, "value", None)
        if isinstance(node.op, ast.Not):
            stop = start + len(re.match(rb"not[ \t]*", self.src.data[start:end]).group())
            self.emit(start, stop, "", "negate", WEIGHTS["negate"],
                      self.src.get(node), self.src.data[stop:end].decode("utf-8"))
        elif isinstance(node.op, ast.USub) and isinstance(value, int):
            self.number(node, -value)
        elif isinstance(node.op, ast.USub):
            self.emit(start, start + 1, "", "arithmetic", WEIGHTS["arithmetic"] / 2,
                      self.src.get(node), self.src.get(node)[1:])

    def on_BinOp(self, node):
        texts = [isinstance(s, ast.Constant) and isinstance(s.value, str) or isinstance(s, ast.JoinedStr)
                 for s in (node.left, node.right)]
        if any(texts) and isinstance(node.op, (ast.Add, ast.Mod)):
            return
        self.operator(node.left, node.right, ARITHMETIC, "arithmetic")
        self.operator(node.left, node.right, BITWISE, "bitwise")
        if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod)):
            self.exchange(node.left, node.right, WEIGHTS["swap"])

    def on_AugAssign(self, node):
        self.operator(node.target, node.value, ARITHMETIC, "arithmetic")
        self.operator(node.target, node.value, BITWISE, "bitwise")
        self.append(node.value)

    def on_Constant(self, node):
        value = node.value
        if isinstance(value, bool):
            self.replace(node, str(not value), "constant", WEIGHTS["constant"])
        elif isinstance(value, int):
            if not (isinstance(node.up, ast.UnaryOp) and isinstance(node.up.op, ast.USub)):
                self.number(node, value)
        elif isinstance(value, float) and value == int(value) and abs(value) < 1e6:
            for new in (value + 1, value - 1):
                self.replace(node, repr(new), "constant", WEIGHTS["constant"])
        elif isinstance(value, str):
            self.key(node)

    def number(self, node, value):
        for new in (value + 1, value - 1):
            self.replace(node, str(new), "constant", WEIGHTS["constant"])

    def key(self, node):
        up = node.up
        if type(up).__name__ == "Index":
            up = up.up
        if not (isinstance(up, ast.Subscript) and index_of(up) is node):
            return
        others = [k for k in self.model.keys[self.src.path] if k != node.value]
        quote = self.src.get(node)[0]
        for other in others:
            if quote in "\"'" and quote not in other and "\\" not in other:
                self.replace(node, quote + other + quote, "key", WEIGHTS["key"] / len(others))

    def on_Name(self, node):
        if node.id in ("self", "cls", "super") or isinstance(node.ctx, ast.Del):
            return
        called = isinstance(node.up, ast.Call) and node.up.func is node
        if isinstance(node.ctx, ast.Store):
            # Elsewhere the first binding cannot go: its name would be unbound.
            first = node.scope.names.get(node.id, 0) >= node.stmt.lineno
            if isinstance(node.up, ast.AugAssign) or isinstance(node.up, ast.Assign) and not first:
                self.choose(node, self.locals_at(node), "target", WEIGHTS["target"])
            return
        if any(node.id in s.names for s in node.scope.chain() if s.kind != "module"):
            self.choose(node, self.locals_at(node), "name", WEIGHTS["name"])
        elif called:
            functions = self.model.functions[self.src.path]
            same = [f for f in functions if node.id in functions and functions[f] == functions[node.id]]
            self.choose(node, same, "name", WEIGHTS["name"])
        elif node.id in self.src.module.names:
            names = self.src.module.names
            inside = node.scope.function() is not None
            self.choose(node, [n for n in names if inside or names[n] < node.stmt.lineno], "name", WEIGHTS["name"])
        self.sibling(node, node.id)

    def locals_at(self, node):
        """Names of the enclosing functions and comprehensions that are bound before this statement."""
        found = set()
        for scope in node.scope.chain():
            if scope.kind == "module" and scope is not node.scope:
                break
            found.update(n for n, line in scope.names.items() if line < node.stmt.lineno)
        return found - {"self", "cls", "_"}

    def choose(self, node, names, operator, weight):
        others = sorted(set(names) - {getattr(node, "id", None)})
        for other in others:
            self.replace(node, other, operator, weight / len(others))

    def sibling(self, node, name):
        """Swap a well-known function or method for one that does nearly the same."""
        called = isinstance(node.up, ast.Call) and node.up.func is node
        if isinstance(node, ast.Name) and not called and not isinstance(node.up, (ast.Call, ast.keyword)):
            return
        others = [o for group in SIBLINGS if name in group for o in group
                  if o != name and (not o.endswith("left") or "bisect" in o or "insort" in o or self.deques)]
        end = self.src.span(node)[1]
        for other in others:
            self.emit(end - len(name), end, other, "sibling", WEIGHTS["sibling"] / len(others), name, other)

    def on_Attribute(self, node):
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        called = isinstance(node.up, ast.Call) and node.up.func is node
        if own:
            fields, methods = self.model.lineage(self._class_of(node))
            if node.attr in methods:
                others = [m for m in methods if called and methods[m] == methods[node.attr] and not m.startswith("__")]
            else:
                others = fields
        else:
            others = self.model.fields_with(node.attr)
        others = sorted(set(others) - {node.attr})
        end = self.src.span(node)[1]
        stored = isinstance(node.ctx, ast.Store)
        function = node.scope.function()
        if stored and function and getattr(function.node, "name", "") == "__init__":
            return
        weight = WEIGHTS["target" if stored else "attribute"]
        for other in others:
            self.emit(end - len(node.attr), end, other, "target" if stored else "attribute",
                      weight / len(others), "." + node.attr, "." + other)
        if not others and not stored:
            self.sibling(node, node.attr)

    @staticmethod
    def _class_of(node):
        while node is not None and not isinstance(node, ast.ClassDef):
            node = node.up
        return node.name if node is not None else ""

    def exchange(self, left, right, weight):
        """Swap two neighbouring expressions."""
        (a, b), (c, d) = self.src.span(left), self.src.span(right)
        first, second = self.src.get(left), self.src.get(right)
        middle = self.src.data[b:c].decode("utf-8")
        if first != second and "\n" not in first + second + middle and "(" not in middle and ")" not in middle:
            self.emit(a, d, second + middle + first, "swap", weight, first + middle + second, second + middle + first)

    def on_Call(self, node):
        commutes = isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "gcd")
        if not commutes and not any(isinstance(a, ast.Starred) for a in node.args):
            for left, right in zip(node.args, node.args[1:]):
                self.exchange(left, right, WEIGHTS["swap"])
        for arg in node.args:
            self.append(arg)
        if is_range(node) and len(node.args) == 1:
            text = self.src.get(node.args[0])
            self.replace(node.args[0], "1, " + text, "append", WEIGHTS["append"])

    def on_Tuple(self, node):
        if isinstance(node.ctx, ast.Load) and len(node.elts) == 2 and not isinstance(node.up, ast.Subscript):
            self.exchange(node.elts[0], node.elts[1], WEIGHTS["swap"] / 2)

    def on_Subscript(self, node):
        index = index_of(node)
        if not isinstance(index, (ast.Slice, ast.Tuple)):
            self.append(index)
            return
        if isinstance(index, ast.Tuple) or not isinstance(node.ctx, ast.Load):
            return
        inside = self.src.span(node.value)[1]
        opening = self.src.data.find(b"[", inside)
        if index.lower is None and not index.step:
            self.emit(opening + 1, opening + 1, "1", "append", WEIGHTS["append"], "[:", "[1:")
        if index.upper is None and not index.step:
            closing = self.src.span(node)[1] - 1
            self.emit(closing, closing, "-1", "append", WEIGHTS["append"], ":]", ":-1]")

    def on_Slice(self, node):
        for bound in (node.lower, node.upper):
            self.append(bound)

    def on_Assign(self, node):
        self.append(node.value)

    def on_Return(self, node):
        self.append(node.value)

    on_AnnAssign = on_Yield = on_Return

    def append(self, node, skip=""):
        """Add or take one where a whole number is used."""
        function = node.scope.function() if hasattr(node, "scope") else None
        if function is None or isinstance(node, ast.Constant) or not numeric(node, self.known.get(function, ())):
            return
        if isinstance(node, ast.UnaryOp):
            return
        if isinstance(node, ast.BinOp):
            # A constant at the end is mutated itself; bitwise operators bind less than + does.
            ends = isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.right, ast.Constant)
            if ends or isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)):
                return
        end = self.src.span(node)[1]
        # The node's text may be followed by the bracket that encloses it alone.
        text = self.src.get(node)
        for sign in "+-":
            if sign != skip:
                self.emit(end, end, " " + sign + " 1", "append", WEIGHTS["append"], text, text + " " + sign + " 1")
