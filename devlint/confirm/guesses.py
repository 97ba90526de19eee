"""First guesses of arguments: from literal calls of the project, annotations, defaults, uses and names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from devlint.confirm.arguments import (
    CALLING,
    DICT,
    LIST,
    MAKING,
    NAMESPACE,
    Arguments,
    Path,
    PlainText,
    TensorText,
    Value,
)
from devlint.confirm.literals import LiteralCall, Literals
from devlint.confirm.parameters import Parameter, Uses, parameters_of, uses_of
from devlint.confirm.source_files import Entry, Function, ProjectSources

WIDTH = 16
"""The size of what has features, and of a side of an image."""
SHAPES = {0: (), 1: (6,), 2: (6, WIDTH), 3: (2, 6, WIDTH), 4: (2, 4, WIDTH, WIDTH), 5: (2, 4, 8, WIDTH, WIDTH)}
"""The first shape to try for each number of dimensions."""
_SIZES = (
    (r"head|group", "2"),
    (r"kernel|patch", "3"),
    (r"stride|dilation|depth|layers?$|n_layer|blocks?$|num_stage|repeat", "1"),
    (r"pad", "1"),
    (r"in_ch|in_chan|input_ch|channels?$", "4"),
    (r"image_size|img_size|resolution", "32"),
    (r"vocab|num_emb|n_token|num_class|n_class|classes", "8"),
    (r"^(num|n|k)$|^(num|n|nb|max)_|iter|steps?$|epochs?$|count", "4"),
    (r"dim|size|hidden|width|feat|embed|d_model|units|channel|planes|nf$|length|len$|window|max_", str(WIDTH)),
)
"""What a number is by the name of its parameter."""
_NAMESPACES = re.compile(r"^(args?|opts?|options?|configs?|cfg|hparams|hps|params|conf|model_args|flags|settings)$")
_SETTINGS = re.compile(
    r"(^|_)(args?|opts?|options?|configs?|configurations?|cfg|hparams|hyper_?param(eter)?s|params|conf|flags|settings"
    r"|architecture)$"
)
"""Names of dicts that hold what a user sets: numbers and texts, not tensors."""
_IDS = re.compile(r"(^|_)(ids?|idx|ind|index|indices|indexes|tokens?|labels?|targets?|classes|time_?steps?|t)$")
_MASKS = re.compile(r"mask$|^mask")
_LENGTHS = re.compile(r"len(gth)?s$")
_MODULES = re.compile(r"model|net$|network|module|encoder|decoder|backbone|layer$|criterion|predict$")
_FUNCTIONS = re.compile(r"^(fn|func|function|act|activation|norm|norm_layer|act_layer|nonlinearity|loss_fn|.*_fn)$")
_BOXES = re.compile(r"box")
IDENTITY = PlainText("nn.Identity()", ("from torch import nn",))
"""What stands for a module or a function: it takes anything and returns it."""


class Guesses:
    """The first guesses of arguments for the entries of a project."""

    def __init__(self, sources: ProjectSources, literals: Literals) -> None:
        self._sources = sources
        self._literals = literals

    def arguments(self, entry: Entry, called: Function | None = None) -> Iterator[Arguments]:
        """Yield arguments for an entry, the best guess first: for its constructor if it is a method, and for the call.

        `called` is the method to call instead of the entry's own.
        """
        function = called or entry.function
        static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list)
        call = self._guessed(function, CALLING, bound=entry.owner is not None and not static)
        if entry.owner is None:
            for given in self._literal_calls(function.name, parameters_of(function, bound=False), CALLING):
                yield {**call, **given}
            yield call
            return
        maker = self._sources.method(entry.owner, "__init__", entry.file)
        if maker is None:
            yield {**self._fields(entry.owner), **call}
            return
        made = self._guessed(maker, MAKING, bound=True)
        parameters = parameters_of(maker, bound=True)
        yield {**made, **call}
        for given in [*self._literal_calls(entry.owner.name, parameters, MAKING)][:4]:
            yield {**made, **given, **call}

    def _fields(self, owner: ast.ClassDef) -> Arguments:
        """Return guesses for the fields of a dataclass, which has no constructor of its own."""
        found: dict[Path, Value] = {}
        if any("dataclass" in ast.unparse(one) for one in owner.decorator_list):
            for node in owner.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is None:
                    parameter = Parameter(node.target.id, ast.unparse(node.annotation))
                    found |= self.guess(parameter, Uses(), (MAKING, parameter.name))
        return found

    def _guessed(self, function: Function, call: str, *, bound: bool) -> dict[Path, Value]:
        """Return a guess for each parameter of a function that has no default."""
        found: dict[Path, Value] = {}
        for parameter in parameters_of(function, bound=bound):
            if parameter.required:
                found |= self.guess(parameter, uses_of(function, parameter.name), (call, parameter.name))
        return found

    def _literal_calls(self, name: str, parameters: Sequence[Parameter], call: str) -> Iterator[Arguments]:
        """Yield the arguments of the project's own calls that give literals only."""
        names = [one.name for one in parameters]
        for known in self._literals.calls.get(name, []):
            given = _by_name(known, names)
            if given is not None:
                yield {(call, key): PlainText(text) for key, text in given.items()}

    def guess(self, parameter: Parameter, uses: Uses, path: Path) -> dict[Path, Value]:
        """Return the guess for one parameter: its value, and what is below that in the table."""
        name, annotation = parameter.name.lower(), parameter.annotation
        choices = self._literals.choices(parameter.name)
        if choices and not uses.tensor and annotation.strip("'\"") in ("", "str", "Optional[str]", "str | None"):
            return {path: PlainText(choices[0])}
        by_annotation = self._by_annotation(annotation, name, uses, path)
        if by_annotation is not None:
            return by_annotation
        if name in ("device", "dev"):
            return {path: PlainText("device")}
        if name == "dtype":
            return {path: PlainText("torch.float32")}
        if _NAMESPACES.match(name) and not uses.tensor:
            return self._namespace(uses, path)
        if uses.keys and not uses.tensor:
            return self._keyed(uses, name, path)
        if uses.called or _MODULES.search(name) or _FUNCTIONS.match(name):
            return {path: IDENTITY}
        literal = self._literals.commonest(parameter.name)
        if uses.tensor and not uses.number:
            return {path: tensor_guess(name, uses)}
        if path[0] == MAKING or uses.number:
            return {path: PlainText(size_guess(name) or literal or str(WIDTH))}
        if literal is not None and not _IDS.search(name):
            return {path: PlainText(literal)}
        if size_guess(name) is not None and re.search(r"^(num|n|max)_|size$|dim$|^n$|^k$", name):
            return {path: PlainText(str(size_guess(name)))}
        return {path: tensor_guess(name, uses)}

    def _namespace(self, uses: Uses, path: Path) -> dict[Path, Value]:
        """Return a namespace with the attributes that a function reads of its parameter."""
        found: dict[Path, Value] = {path: NAMESPACE}
        for attribute in uses.attributes:
            below: Path = (*path, attribute)
            found[below] = self.attribute(attribute)
        return found

    def _keyed(self, uses: Uses, name: str, path: Path) -> dict[Path, Value]:
        """Return a dict with a value for each key that a function asks for: a setting, or else a tensor."""
        found: dict[Path, Value] = {path: DICT}
        for key in uses.keys:
            below: Path = (*path, key)
            found[below] = self.attribute(key) if _SETTINGS.search(name) else tensor_guess(key, Uses())
        return found

    def attribute(self, name: str) -> Value:
        """Return a guess for an attribute of a namespace, such as parsed command-line options."""
        literal = next(iter(self._literals.choices(name)), None) or self._literals.commonest(name)
        if name == "device":
            return PlainText("device")
        return PlainText(literal or size_guess(name.lower()) or str(WIDTH))

    def choices(self, arguments: Arguments) -> Iterator[Arguments]:
        """Yield the arguments with another of the texts that the project compares one of them with."""
        for path, value in arguments.items():
            known = self._literals.choices(str(path[-1]))
            if isinstance(value, PlainText) and value.text in known:
                yield from ({**arguments, path: PlainText(text)} for text in known if text != value.text)

    def _by_annotation(self, text: str, name: str, uses: Uses, path: Path) -> dict[Path, Value] | None:
        """Return the guess that an annotation gives; None if it gives none."""
        text = re.sub(r"^(typing\.)?Optional\[(.*)\]$", r"\2", text.strip("'\"")).split(" | ")[0]
        last = text.split(".")[-1]
        if not text or last in ("Any", "object"):
            return None
        if last.endswith("Tensor"):
            return {path: tensor_guess("ids" if last == "LongTensor" else name, uses)}
        if last in ("int", "float", "bool", "str"):
            return {path: PlainText(self._plain(last, name))}
        if last == "device":
            return {path: PlainText("device")}
        if last == "dtype":
            return {path: PlainText("torch.float32")}
        if last == "ndarray":
            return {path: PlainText("np.ones((6, 16), dtype=np.float32)", ("import numpy as np",))}
        if last in ("Module", "Callable") or last.startswith("Callable["):
            return {path: IDENTITY}
        if last == "Namespace":
            return self._namespace(uses, path)
        inside = re.fullmatch(r"(?:typing\.)?(List|Sequence|Iterable|list|Tuple|tuple)\[(.+)\]", text)
        if inside is not None:
            return self._items(inside[2], name, path)
        if re.match(r"(typing\.)?(Dict|dict|Mapping)\b", text):
            return self._keyed(uses, name, path)
        known = re.match(r"(?:typing\.)?Literal\[('[^']*'|\d+|True|False)", text)
        if known is not None:
            return {path: PlainText(known[1])}
        return None

    def _items(self, inside: str, name: str, path: Path) -> dict[Path, Value]:
        """Return a list with two items of the type that an annotation names."""
        kinds = [one.strip() for one in re.split(r",(?![^\[]*\])", inside) if one.strip() != "..."]
        kinds = kinds if len(kinds) > 1 else kinds * 2
        found: dict[Path, Value] = {path: LIST}
        for index, kind in enumerate(kinds):
            found |= self.guess(Parameter(name, kind), Uses(), (*path, index))
        return found

    def _plain(self, kind: str, name: str) -> str:
        """Return a guess for a parameter that is annotated as a plain value."""
        literal = self._literals.commonest(name)
        if kind == "int":
            return size_guess(name) or (literal if literal and literal.isdecimal() else None) or "4"
        if kind == "float":
            return literal if literal and re.fullmatch(r"[\d.e-]+", literal) else "0.5"
        if kind == "bool":
            return "False"
        return literal if literal and literal[0] in "'\"" else "''"


def size_guess(name: str) -> str | None:
    """Return what a number is by the name of its parameter; None if the name does not tell."""
    return next((size for pattern, size in _SIZES if re.search(pattern, name)), None)


def tensor_guess(name: str, uses: Uses) -> TensorText:
    """Return the first tensor to try for a parameter, by its name and its uses."""
    kind = "long" if _IDS.search(name) or _LENGTHS.search(name) else "bool" if _MASKS.search(name) else "float"
    rank = uses.rank or max(uses.at_least, 1 if _LENGTHS.search(name) else 2 if kind == "long" else 0)
    if _BOXES.search(name):
        return TensorText("float", (6, 4))
    rank = rank or (4 if re.search(r"im(g|age)", name) else 3)
    return TensorText(kind, SHAPES.get(rank, SHAPES[5]))


def _by_name(call: LiteralCall, names: Sequence[str]) -> dict[str, str] | None:
    """Return the arguments of a call by the names of parameters; None if they do not fit."""
    if len(call.positional) > len(names):
        return None
    given = dict(zip(names, call.positional, strict=False)) | dict(call.named)
    return given if all(key in names for key in given) else None
