"""The functions, classes and modules that the analysed program defines, as read off its syntax."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import libcst as cst

from devlint.domain.torch_names import OTHER_TENSOR_LIBRARIES, TENSOR_ANNOTATIONS
from devlint.interpreter.program.documented_types import documented_types
from devlint.interpreter.program.module_moves import ModuleMove, module_moves
from devlint.interpreter.program.node_kinds import BINDERS, SCOPES
from devlint.interpreter.program.self_attributes import (
    ItemStores,
    item_stores,
    self_attribute_events,
    self_attribute_stores,
)
from devlint.interpreter.program.usage_evidence import UsageEvidence, annotation_names
from devlint.syntax.index import FileIndex, Statement
from devlint.syntax.source import Source
from devlint.syntax.tree_walk import descend, dotted_name, names_in_target

EnclosingFrame: TypeAlias = Any
"""The frame of the code around a definition; opaque here, `Frame` to the interpreter."""

_DEFINED_OR_CALLED: Final = re.compile(
    r"d(?<!\wd)ef\s+(?P<defined>\w+)|\.apply\(\s*(?:self\.)?(?P<applied>\w+)\s*\)|\.(?P<called>\w+)\("
)
"""A pattern for the names that a text defines, calls as a method, or passes to `.apply`."""

_DEVICE_OF_VALUE: Final = re.compile(r"(?<![\w.])(?!(?:torch|th|self|args|cfg|config|opt)\.)\w+\.device\b(?!\s*\()")
"""The device of a value that has a name, as in `x.device`; no device that an object or a file of settings holds."""
_COLLATING: Final = re.compile(r"\bcollate_fn\s*=\s*(?:(?:functools\.)?partial\(\s*)?(?:\w+\.)*(\w+)")
"""A pattern for what a text passes as `collate_fn`: a name, or the function or class whose call makes it."""


_ASSIGNED: Final = re.compile(
    r"(?P<owner>\b[\w.\[\]()]*\w[\])]*)\.(?P<name>\w+)(?P<item>(?:\[[^\]\n]*\])*)[ \t]*=(?!=)(?P<value>[^\n]*)"
)
"""An assignment to an attribute, or to an item of it, on one line."""
_HINTS: Final = ("]", "device", ".to(", "cuda", ".cpu(", ".xpu(", "is_available(")
"""What a line holds that assigns a placed value, an item, or a flag that says whether there is an accelerator.

The pattern of an assignment is tried on lines with one of them only: it takes 5 milliseconds a file on all.
"""
THREADS: Final = frozenset({"threading", "Thread", "ThreadPoolExecutor", "_thread"})
"""Names that a file mentions which runs code in threads."""
_PLACED: Final = re.compile(r"\.(?:to|cuda|cpu|xpu)\(|\bdevice\b|cuda\b|\bis_available\(")
"""A value that is moved, or made on a device that the code names, or that says whether there is an accelerator."""

_IS_UNSET: Final = r"\b(?:not\s+{name}\b|{name}\s+is\s+None\b)"
"""A question whether a name still holds nothing, as a pattern with a field for the name."""


_READERS: Final = frozenset({"device", "locals", "vars", "eval", "exec"})
"""The name `device`, and functions that may read it by its text."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function that the program defines.

    `kind` is "positional", "keyword", "star" (`*args`) or "star-star" (`**kwargs`).
    """

    name: str
    kind: str
    default: cst.BaseExpression | None
    annotation: cst.BaseExpression | None
    node: cst.Name


@dataclass(eq=False)
class ModuleInfo:
    """One file of the program, as a module under its dotted name.

    `make_index` makes the index of its statements when it is first needed.
    """

    name: str
    source: Source
    is_package: bool
    path: Path
    make_index: Callable[[], FileIndex]
    _evidence: dict[cst.CSTNode, UsageEvidence] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def index(self) -> FileIndex:
        """Return the index of the file: its top-level statements and the names that they bind."""
        return self.make_index()

    @property
    def filename(self) -> str:
        """Return the name of the module's file, as the user gave it."""
        return self.source.filename

    @cached_property
    def evidence(self) -> UsageEvidence:
        """Return the evidence that the module's top-level code gives of the types of names, by their use.

        The code of functions and classes is left out.
        """
        trees = (unit.tree_or_none for unit in self.index.statements if unit.kind == "other")
        return UsageEvidence(*(tree for tree in trees if tree is not None))

    def evidence_in(self, node: cst.CSTNode) -> UsageEvidence:
        """Return the evidence that a function or class of the file gives, collected once for the analyses of all files.

        Each analysis has a `FunctionInfo` of its own for a function.
        """
        found = self._evidence.get(node)
        if found is None:
            found = self._evidence[node] = UsageEvidence(node)
        return found

    @cached_property
    def has_other_tensors(self) -> bool:
        """Return whether the file mentions another library whose tensors have methods of the same names as torch's."""
        return any(not OTHER_TENSOR_LIBRARIES.isdisjoint(unit.mentions) for unit in self.index.statements)

    @cached_property
    def starts_threads(self) -> bool:
        """Return whether the file mentions threads, so that its functions may run beside the main thread."""
        return any(not THREADS.isdisjoint(unit.mentions) for unit in self.index.statements)

    @cached_property
    def measures_by_events(self) -> bool:
        """Return whether the file measures time by events of the accelerator: `start.elapsed_time(end)`."""
        return any("elapsed_time" in unit.mentions and ".elapsed_time(" in unit.text for unit in self.index.statements)

    @cached_property
    def follows_devices(self) -> bool:
        """Return whether functions of the file ask for the devices of their arguments, as in `device=x.device`."""
        lines = (
            line.partition("#")[0]
            for unit in self.index.statements
            if unit.kind != "other" and "device" in unit.mentions
            for line in unit.text.splitlines()
            if ".device" in line
        )
        return any(map(_DEVICE_OF_VALUE.search, lines))

    @cached_property
    def rebound_globals(self) -> frozenset[str]:
        """Return the global names that functions of the file bind anew, by `global`."""
        return frozenset[str]().union(*(unit.globals for unit in self.index.statements))

    @cached_property
    def lazy_globals(self) -> frozenset[str]:
        """Return the global names that functions bind anew, each function that does only where they are still None."""
        rebinding = [(name, one.text) for one in self.index.statements for name in one.globals]
        return self.rebound_globals - {
            name for name, text in rebinding if re.search(_IS_UNSET.format(name=re.escape(name)), text) is None
        }

    @cached_property
    def collating_functions(self) -> frozenset[str]:
        """Return the names of the functions, methods and classes that the file gives to loaders as `collate_fn`."""
        if "collate_fn" not in self.source.text:
            return frozenset()
        return frozenset(name for unit in self.index.statements for name in _COLLATING.findall(unit.text))

    @cached_property
    def assigned_names(self) -> frozenset[str]:
        """Return the global names that statements of the file bind which are neither definitions nor imports."""
        return frozenset().union(*(unit.binds for unit in self.index.statements if unit.kind == "other"))

    @cached_property
    def outside_moves(self) -> frozenset[tuple[str, bool]]:
        """Return the attributes that the file sets from outside of a class, each with whether it only sets an item.

        An item may replace a tensor in a container whatever it is; in a tensor it only does so if it is placed anew.
        """
        lines = [line for unit in self.index.statements for line in unit.text.split("\n") if "=" in line]
        hinted = [line for line in lines if any(hint in line for hint in _HINTS)]
        assigned = [match for line in hinted for match in _ASSIGNED.finditer(line) if match["owner"] != "self"]
        placed = {(one["name"], False) for one in assigned if _PLACED.search(one["value"])}
        return frozenset(placed | {(one["name"], True) for one in assigned if one["item"]})

    @cached_property
    def construction_functions(self) -> frozenset[str]:
        """Return the names of the functions that the file calls only while it constructs objects.

        Passing a function to `.apply` counts as a call.
        """
        callers: dict[str, set[str]] = defaultdict(set)
        for unit in self.index.statements:
            function = ""
            for found in _DEFINED_OR_CALLED.finditer(unit.text):
                name = found[found.lastindex or 0]
                if found.lastgroup == "defined":
                    function = name
                elif name != function:
                    callers[name].add(function)
        makers = {"__init__"}
        while more := {name for name, calling in callers.items() if calling <= makers} - makers:
            makers |= more
        return frozenset(makers - {"__init__", "forward"})


@dataclass(eq=False)
class FunctionInfo:
    """A function or lambda that the program defines, as read off its syntax.

    `owner` is the class whose body defines it, `closure` the frame of the code around its definition where it captures
    names from there, and `context` the number of the chain of calls around that frame. `find` parses or returns its
    syntax node.
    """

    name: str
    module: ModuleInfo
    unit: Statement
    find: Callable[[], cst.FunctionDef | cst.Lambda]
    owner: ClassInfo | None = None
    closure: EnclosingFrame | None = None
    context: int | None = None

    @cached_property
    def node(self) -> cst.FunctionDef | cst.Lambda:
        """Return the function's syntax node, parsed on first use; raises SourceError when libcst cannot parse it."""
        return self.find()

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return the `Parameter` records of the function, in order.

        What its docstring says of a number, flag or text counts as the annotation of a parameter that has none, unless
        the code uses it as a tensor.
        """
        found = tuple(_parameters(self.node.params))
        if isinstance(self.node, cst.Lambda) or all(one.annotation is not None or _is_self(one) for one in found):
            return found
        kinds = documented_types(self.node)
        if kinds.keys().isdisjoint(one.name for one in found):
            return found
        return tuple(self._as_documented(one, kinds.get(one.name)) for one in found)

    def _as_documented(self, parameter: Parameter, kind: str | None) -> Parameter:
        """Return a parameter, annotated with the plain type that the docstring gives it unless its uses deny that."""
        if kind is None or parameter.annotation is not None or parameter.kind in ("star", "star-star"):
            return parameter
        if self.evidence.denies_plain_value(parameter.name):
            return parameter
        annotation: cst.BaseExpression = cst.Name(kind)
        if isinstance(parameter.default, cst.Name) and parameter.default.value == "None":
            annotation = cst.BinaryOperation(annotation, cst.BitOr(), cst.Name("None"))
        return replace(parameter, annotation=annotation)

    @cached_property
    def takes_tensors(self) -> bool:
        """Return whether a parameter of the function is annotated as a tensor."""
        return any(
            one.annotation is not None and dotted_name(one.annotation) in TENSOR_ANNOTATIONS for one in self.parameters
        )

    @cached_property
    def returns_its_argument(self) -> bool:
        """Return whether the function does nothing but return its first parameter, as `lambda x: x` does."""
        node = self.node
        returned: cst.BaseExpression | None = None
        if isinstance(node, cst.Lambda):
            returned = node.body
        elif isinstance(node.body, cst.IndentedBlock):
            match [one for one in node.body.body if not _is_docstring(one)]:
                case [cst.SimpleStatementLine(body=[cst.Return(value=value)])]:
                    returned = value
        first = self.parameters[0].name if self.parameters else None
        return isinstance(returned, cst.Name) and returned.value == first

    @cached_property
    def is_stub(self) -> bool:
        """Return whether a method of a protocol or an abstract class leaves its work to a subclass.

        Its body is `...` or a docstring alone, or `pass` where the method is declared abstract.
        """
        node = self.node
        if isinstance(node, cst.Lambda) or self.owner is None:
            return False
        block = node.body.body
        written = [one for one in block if not (isinstance(one, cst.BaseStatement) and _is_docstring(one))]
        match written:
            case []:
                return True
            case [cst.SimpleStatementLine(body=[one])] | [one]:
                return _is_ellipsis(one) or (isinstance(one, cst.Pass) and "abstractmethod" in self.decorator_names)
        return False

    def annotation_last_names(self, name: str) -> frozenset[str]:
        """Return the names in a parameter's annotation, of each dotted name only the last part (`Tensor`).

        The result is empty for a parameter without an annotation.
        """
        found = [said for one in self.parameters if one.name == name for said in annotation_names(one.annotation)]
        return frozenset(said.rpartition(".")[2] for said in found)

    @cached_property
    def decorators(self) -> tuple[cst.BaseExpression, ...]:
        """Return the expressions of the function's decorators, outermost first."""
        return () if isinstance(self.node, cst.Lambda) else tuple(one.decorator for one in self.node.decorators)

    @cached_property
    def decorator_names(self) -> frozenset[str]:
        """Return the last part of each decorator's name: `staticmethod`, `property`, `no_grad`, `setter`."""
        names = set()
        for decorator in self.decorators:
            target = decorator.func if isinstance(decorator, cst.Call) else decorator
            names.add((dotted_name(target) or "").rpartition(".")[2])
        return frozenset(names)

    @cached_property
    def ignores_device(self) -> bool:
        """Return whether the function has a parameter `device` that its code never reads, or binds before it reads it.

        Code that may read any name reads it too.
        """
        if isinstance(self.node, cst.Lambda) or not any(one.name == "device" for one in self.parameters):
            return False
        for line in self.node.body.body:
            value: cst.CSTNode = line
            match line:
                case cst.SimpleStatementLine(
                    body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value="device"))], value=value)]
                ):
                    return not _reads_device(value)
            if _reads_device(line):
                return False
        return True

    @cached_property
    def evidence(self) -> UsageEvidence:
        """Return the evidence that the function's own code gives of the types of names, by their use."""
        return self.module.evidence_in(self.node)

    @cached_property
    def is_generator(self) -> bool:
        """Return whether the function's body contains a `yield`."""
        # The text test is quick and spares most functions the walk.
        return "yield" in self.unit.text and any(
            type(node) is cst.Yield for node in descend(self.node.body, into_functions=False)
        )

    @cached_property
    def is_delegating(self) -> bool:
        """Return whether the function's body only returns what another call returns: `return super().forward(x)`."""
        match self.node.body:
            case cst.Call():
                return True
            case cst.IndentedBlock(body=[*about, cst.SimpleStatementLine(body=[cst.Return(value=cst.Call())])]):
                return all(_is_docstring(one) for one in about)
        return False

    @cached_property
    def self_calls(self) -> int:
        """Return the number of calls in the function's body of something that is called like the function."""
        own = self.name.rpartition(".")[2]
        calls = (node for node in descend(self.node.body) if type(node) is cst.Call)
        return sum((dotted_name(call.func) or "").rpartition(".")[2] == own for call in calls)

    @cached_property
    def is_context_manager(self) -> bool:
        """Return whether the function is a generator decorated with `contextmanager` or `asynccontextmanager`."""
        return bool(self.decorator_names & {"contextmanager", "asynccontextmanager"})

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Return the names that the function's body binds; a parameter is included only if the body binds it again."""
        inside = descend(self.node.body, into_functions=False)
        return frozenset(name for node in inside for name in names_bound_by(node))

    @cached_property
    def locals(self) -> frozenset[str]:
        """Return the function's local names: its parameters and the names that it binds.

        Names declared global or nonlocal are left out.
        """
        names = {one.name for one in self.parameters}
        foreign: set[str] = set()
        for node in descend(self.node.body, into_functions=False):
            names.update(names_bound_by(node))
            if type(node) is cst.Global or type(node) is cst.Nonlocal:
                foreign.update(item.name.value for item in node.names)
        return frozenset(names - foreign)

    @cached_property
    def captured_names(self) -> frozenset[str]:
        """Return the names that functions and classes nested in the body mention, without those of their own.

        Nested code may read these names whenever it runs.
        """
        found: set[str] = set()
        for node in descend(self.node.body, into_functions=False):
            if type(node) in SCOPES:
                names = {one.value for one in descend(node) if type(one) is cst.Name}
                found |= names - local_names(node) if isinstance(node, cst.FunctionDef | cst.Lambda) else names
        return frozenset(found)

    @cached_property
    def mentioned_names(self) -> frozenset[str]:
        """Return the names that the function's body mentions."""
        return frozenset(one.value for one in descend(self.node.body) if type(one) is cst.Name)

    @cached_property
    def bound_attributes(self) -> frozenset[str]:
        """Return the attributes of `self` that the method binds, such as `x` in `self.x = value`."""
        return frozenset(name for name, binds in self._uses_of_self if binds)

    @cached_property
    def read_attributes(self) -> frozenset[str]:
        """Return the attributes of `self` that the method reads; those that it calls are methods."""
        return frozenset(name for name, binds in self._uses_of_self if not binds)

    @cached_property
    def attributes_bound_before_read(self) -> frozenset[str]:
        """Return the attributes of `self` that the method binds, on some path, before it reads them."""
        first = dict(reversed(self._uses_of_self))
        return frozenset(name for name, binds in first.items() if binds)

    @cached_property
    def stores_of_self(self) -> Mapping[str, tuple[cst.BaseExpression | None, ...]]:
        """Return the expressions that the method assigns to attributes of `self`; None for a store of another kind."""
        return self_attribute_stores(self.node.body)

    @cached_property
    def item_stores(self) -> ItemStores:
        """Return the attributes of `self` whose items the method replaces, as in `self.memory[key] = value`."""
        return item_stores(self.node.body)

    @cached_property
    def module_moves(self) -> frozenset[ModuleMove]:
        """Return the transfers and casts, in place, of modules that `self` holds, as in `self.model.cuda()`."""
        return module_moves(self.node.body)

    @cached_property
    def _uses_of_self(self) -> list[tuple[str, bool]]:
        """Return the reads and bindings of attributes of `self` in the method's body, in execution order.

        Each is the attribute's name, with True for a binding and False for a read.
        """
        return list(self_attribute_events(self.node.body))


def _reads_device(node: cst.CSTNode) -> bool:
    """Return whether code reads the name `device`, or may read any name; attributes and keywords are no names."""
    parts = (node, *descend(node))
    names = [one for one in parts if type(one) is cst.Name and one.value in _READERS]
    if not names:
        return False
    others = {id(one.attr) for one in parts if type(one) is cst.Attribute}
    others |= {id(one.keyword) for one in parts if type(one) is cst.Arg}
    return any(id(one) not in others for one in names)


@dataclass(eq=False)
class ClassInfo:
    """A class that the program defines, as read off its syntax.

    `methods` maps names to the functions that the class body defines. The other attributes of the class (`attributes`)
    are known only after its body is run.
    """

    name: str
    module: ModuleInfo
    unit: Statement
    find: Callable[[], cst.ClassDef]
    closure: EnclosingFrame | None = None
    attributes: dict[str, object] = field(default_factory=dict)
    is_run: bool = False

    @cached_property
    def node(self) -> cst.ClassDef:
        """Return the syntax node of the class; raises SourceError when libcst cannot parse it."""
        return self.find()

    @cached_property
    def evidence(self) -> UsageEvidence:
        """Return the evidence that the methods together give of the types of attributes (`self.x`), by their use."""
        return self.module.evidence_in(self.node)

    @cached_property
    def methods(self) -> Mapping[str, FunctionInfo]:
        """Return the functions that the class body defines, by all their names; the last definition of a name wins.

        Functions under `if` are included. Where a condition chooses between several functions of one name, only running
        the class body decides, and the name is left out.
        """
        found: dict[str, FunctionInfo] = {}
        chosen: set[str] = set()
        for name, info, conditional in self._functions:
            if conditional and name in found:
                chosen.add(name)
            if not self._is_setter(info):
                found[name] = info
        found.update({alias: found[name] for alias, name in self._aliases() if name in found})
        return {name: info for name, info in found.items() if name not in chosen}

    @cached_property
    def setters(self) -> Mapping[str, FunctionInfo]:
        """Return the setter functions of the class's properties, by the name of the property."""
        return {name: info for name, info, _ in self._functions if "setter" in info.decorator_names}

    def _is_setter(self, info: FunctionInfo) -> bool:
        """Return whether a function is the setter or deleter of a property."""
        return bool(info.decorator_names & {"setter", "deleter"})

    def _aliases(self) -> Iterator[tuple[str, str]]:
        """Yield each second name that the class body gives to a function, with the first name: `__call__ = forward`."""
        for line in self.node.body.body:
            for one in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(one, cst.Assign) and isinstance(one.value, cst.Name):
                    yield from (
                        (name, one.value.value) for target in one.targets for name in names_in_target(target.target)
                    )

    @cached_property
    def _functions(self) -> Sequence[tuple[str, FunctionInfo, bool]]:
        """Return the name and definition of each function in the class body.

        The third item is true where an `if` or `try` surrounds the function, so that a condition decides whether it is
        defined.
        """
        functions: list[tuple[str, FunctionInfo, bool]] = []
        pending: list[tuple[cst.CSTNode, bool]] = [(one, False) for one in self.node.body.body]
        while pending:
            node, conditional = pending.pop(0)
            if isinstance(node, cst.FunctionDef):
                name = f"{self.name}.{node.name.value}"
                method = FunctionInfo(name, self.module, self.unit, partial(_parsed, node), self, self.closure)
                functions.append((node.name.value, method, conditional))
            elif isinstance(node, cst.If):
                inside = [*node.body.body, *([node.orelse] if node.orelse else [])]
                pending[:0] = [(one, True) for one in inside]
            elif isinstance(node, (cst.Else, cst.Try)):
                pending[:0] = [(one, True) for one in node.body.body]
        return functions


def _parameters(node: cst.Parameters) -> Iterator[Parameter]:
    """Yield the `Parameter` records of a function, from the syntax node of its parameter list, in order."""
    for one in (*node.posonly_params, *node.params):
        yield _parameter(one, "positional")
    if isinstance(node.star_arg, cst.Param):
        yield _parameter(node.star_arg, "star")
    for one in node.kwonly_params:
        yield _parameter(one, "keyword")
    if node.star_kwarg is not None:
        yield _parameter(node.star_kwarg, "star-star")


def _parameter(node: cst.Param, kind: str) -> Parameter:
    """Return the `Parameter` record for the syntax node of a parameter."""
    annotation = node.annotation.annotation if node.annotation is not None else None
    return Parameter(node.name.value, kind, node.default, annotation, node.name)


def _is_self(parameter: Parameter) -> bool:
    """Return whether a parameter has the name of what a method is called on."""
    return parameter.name in ("self", "cls")


def names_bound_by(node: cst.CSTNode) -> Iterator[str]:
    """Yield the names that one syntax node itself binds; bindings by the nodes inside it are left out."""
    if type(node) not in BINDERS:
        return
    match node:
        case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            yield from names_in_target(target)
        case cst.NamedExpr(target=target) | cst.For(target=target) | cst.CompFor(target=target):
            yield from names_in_target(target)
        case cst.AsName(name=name):
            yield from names_in_target(name)
        case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
            yield name.value
        case cst.ImportAlias(name=name, asname=None):
            yield (dotted_name(name) or "").partition(".")[0]
        case cst.MatchAs(name=cst.Name(value=value)) | cst.MatchStar(name=cst.Name(value=value)):
            yield value


def local_names(function: cst.Lambda | cst.FunctionDef) -> frozenset[str]:
    """Return the names local to a function: its parameters and the names it binds, without globals and nonlocals."""
    params = function.params
    names = {one.name.value for one in (*params.params, *params.kwonly_params, *params.posonly_params)}
    inside = list(descend(function.body, into_functions=False))
    foreign = {item.name.value for one in inside if isinstance(one, (cst.Global, cst.Nonlocal)) for item in one.names}
    return frozenset(names.union({name for one in inside for name in names_bound_by(one)} - foreign))


def _is_docstring(statement: cst.BaseStatement) -> bool:
    """Return whether a statement is only a string literal, as a docstring is."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
    return False


def _is_ellipsis(statement: cst.CSTNode) -> bool:
    """Return whether a statement is only `...`."""
    return isinstance(statement, cst.Expr) and isinstance(statement.value, cst.Ellipsis)


def _parsed(node: cst.FunctionDef) -> cst.FunctionDef:
    """Return the given syntax node; serves as the `find` function of a `FunctionInfo` whose node is parsed already."""
    return node
