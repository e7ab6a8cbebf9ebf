"""What the files of a program say about each other: classes, fields, keys, functions, numbers."""
import ast

from mutate_source import FUNCTIONS

NUMBER_CALLS = {"len", "int", "abs", "ord", "round", "sum", "find", "rfind", "index", "count", "toordinal"}
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Model:
    """Facts over all editable files that alternatives are drawn from."""

    def __init__(self, sources):
        self.classes = {}    # class name -> (fields, methods {name: arity}, base names)
        self.functions = {}  # path -> {module level function: positional arity}
        self.keys = {}       # path -> string subscripts, sorted
        for src in sources:
            keys = set()
            for node in src.nodes:
                if isinstance(node, ast.ClassDef):
                    self._class(node)
                elif isinstance(node, ast.Subscript):
                    key = index_of(node)
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        keys.add(key.value)
                elif isinstance(node, ast.Assign):
                    self._namedtuple(node)
            self.keys[src.path] = sorted(keys)
            self.functions[src.path] = {f.name: arity(f) for f in src.tree.body if isinstance(f, FUNCTIONS)}

    def _class(self, node):
        fields, methods = set(), {}
        for stmt in node.body:
            if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name):
                fields.add(stmt.target.id)
            elif isinstance(stmt, ast.Assign):
                fields.update(t.id for t in stmt.targets if isinstance(t, ast.Name) and t.id != "__slots__")
            elif isinstance(stmt, FUNCTIONS):
                if any(isinstance(d, ast.Name) and d.id == "property" for d in stmt.decorator_list):
                    fields.add(stmt.name)
                else:
                    methods[stmt.name] = arity(stmt)
        for sub in ast.walk(node):
            if (isinstance(sub, ast.Attribute) and isinstance(sub.ctx, ast.Store)
                    and isinstance(sub.value, ast.Name) and sub.value.id == "self"):
                fields.add(sub.attr)
        bases = [b.id for b in node.bases if isinstance(b, ast.Name)]
        self.classes[node.name] = (fields, methods, bases)

    def _namedtuple(self, node):
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, (ast.Name, ast.Attribute)) and len(call.args) == 2):
            return
        name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
        if name != "namedtuple":
            return
        spec = call.args[1]
        if isinstance(spec, ast.Constant) and isinstance(spec.value, str):
            fields = spec.value.replace(",", " ").split()
        else:
            fields = [e.value for e in getattr(spec, "elts", []) if isinstance(e, ast.Constant)]
        self.classes[getattr(node.targets[0], "id", "")] = (set(fields), {}, [])

    def lineage(self, name):
        """(fields, methods) of a class with those of its bases that the files define."""
        fields, methods, seen, todo = set(), {}, set(), [name]
        while todo:
            one = todo.pop()
            if one in seen or one not in self.classes:
                continue
            seen.add(one)
            own = self.classes[one]
            fields |= own[0]
            methods.update(own[1])
            todo += own[2]
        return fields, methods

    def fields_with(self, attr):
        """Fields of all classes that have this field."""
        found = set()
        for name in self.classes:
            fields = self.lineage(name)[0]
            if attr in fields:
                found |= fields
        return found


def arity(function):
    args = function.args
    return len(getattr(args, "posonlyargs", [])) + len(args.args)


def index_of(subscript):
    """The index expression; Python 3.8 wraps it in a node of its own."""
    index = subscript.slice
    return index.value if type(index).__name__ == "Index" else index


def numbers(source):
    """Per function scope, the names that its code treats as whole numbers."""
    known = {}
    for _ in range(2):
        for node in source.nodes:
            scope = getattr(node, "scope", None)
            function = scope.function() if scope else None
            if function is not None:
                _infer(node, known.setdefault(function, set()))
    return known


def _infer(node, known):
    def mark(expr):
        if isinstance(expr, ast.Name):
            known.add(expr.id)
    if isinstance(node, ast.Compare) and any(isinstance(op, ORDER) for op in node.ops):
        sides = [node.left] + node.comparators
        if any(numeric(s, known) for s in sides):
            for side in sides:
                mark(side)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.FloorDiv)):
        mark(node.left)
        mark(node.right)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        if numeric(node.left, known) or numeric(node.right, known):
            mark(node.left)
            mark(node.right)
    elif isinstance(node, ast.AugAssign) and numeric(node.value, known):
        mark(node.target)
    elif isinstance(node, ast.Assign) and numeric(node.value, known):
        for target in node.targets:
            mark(target)
    elif isinstance(node, ast.Slice):
        for bound in (node.lower, node.upper):
            mark(bound)
    elif isinstance(node, (ast.For, ast.comprehension)):
        _infer_loop(node, mark)
    elif is_range(node):
        for arg in node.args:
            mark(arg)
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("min", "max"):
        if any(numeric(a, known) for a in node.args):
            for arg in node.args:
                for side in (arg, getattr(arg, "left", None), getattr(arg, "right", None)):
                    mark(side)


def _infer_loop(node, mark):
    name = getattr(getattr(node.iter, "func", None), "id", "")
    if name == "range":
        mark(node.target)
    elif name == "enumerate" and isinstance(node.target, ast.Tuple):
        mark(node.target.elts[0])


def is_range(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def numeric(node, known):
    """Whether an expression is, as far as can be seen, a whole number."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and not isinstance(node.value, bool)
    if isinstance(node, ast.Name):
        return node.id in known
    if isinstance(node, ast.BinOp):
        return numeric(node.left, known) or (numeric(node.right, known) and not isinstance(node.op, ast.Mult))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and numeric(node.operand, known)
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", getattr(node.func, "attr", "")) in NUMBER_CALLS
    return False
