"""Growth of functions and classes: their bodies are grown for example arguments, as statements are."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from generated.grower import Filler, Grower, Unfit, indented
from generated.live_values import Namespace, Parameters, Snapshot, pool_of

PARAMETERS = (
    *(("x", "f"),) * 5,
    *(("y", "f"),) * 4,
    ("items", "L"),
    ("items", "L"),
    ("batch", "D"),
    ("layer_", "m"),
    ("index", "i"),
    ("use", "b="),
    ("use", "b="),
    ("where", "d="),
    ("where", "d"),
    ("mode", "w="),
    ("extra", "f="),
    ("extra", "f="),
    ("*rest", "f"),
    ("**named", "f"),
)
DEFAULTS = {
    "b": ("True", "False"),
    "d": ('"cuda"', '"cpu"', 'torch.device("cuda")'),
    "w": ('"cuda"', '"train"', '"half"'),
    "f": ("None", "None", "torch.ones(4, 4)", 'torch.ones(4, 4, device="cuda")'),
}
MODULE_PARTS = """
self.fc = nn.Linear(4, 4)
self.fc = nn.Linear(4, 4)
self.out = nn.Linear(4, 4, device=where)
self.norm = nn.LayerNorm(4)
self.emb = nn.Embedding(4, 4)
self.drop = nn.Dropout(0.0)
self.w = nn.Parameter(torch.ones(4, 4))
self.w = nn.Parameter(torch.ones(4, 4, device=where))
self.register_buffer("mean", torch.ones(4, 4))
self.register_buffer("table", torch.arange(4), persistent=False)
self.scale = torch.ones(4, 4)
self.scale = torch.ones(4, 4, device=where)
self.scale = torch.tensor(2.0)
self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
self.layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU()])
self.blocks = [nn.Linear(4, 4), nn.Linear(4, 4)]
self.blocks = [nn.Linear(4, 4).to(where) for _ in range(2)]
self.tables = {"a": torch.ones(4, 4), "b": torch.zeros(4, 4)}
self.seq = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
self.history = []
self.cached = None
self.index = torch.arange(4)
self.flag = flag
self.where = where
self.extra = torch.ones(4, 4) if flag else None
self.weights = nn.ParameterList([torch.ones(4, 4), torch.ones(4, 4)])
self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})
for j in range(2): self.register_buffer(f"b{j}", torch.ones(4, 4))
for j in range(2): setattr(self, f"s{j}", torch.ones(4, 4))
self.add_module("added", nn.Linear(4, 4))
self.w = nn.Parameter(torch.ones(4, 4)).to(where)
self.mask = torch.ones(4, 4).bool()
""".strip().splitlines()
PLAIN_PARTS = """
self.items = [torch.ones(4, 4), torch.ones(4, 4, device=where)]
self.items = [torch.ones(4, 4, device=where)]
self.table = {"a": torch.ones(4, 4), "b": torch.ones(4, 4, device=where)}
self.best = None
self.value = torch.ones(4, 4)
self.value = torch.ones(4, 4, device=where)
self.value = torch.eye(4).to(where)
self.net = nn.Linear(4, 4)
self.net = nn.Linear(4, 4).to(where)
self.index = torch.arange(4)
self.flag = flag
self.where = torch.device(where)
self.dtype = torch.float64 if flag else torch.float32
""".strip().splitlines()
CLASS_ATTRIBUTES = ("shared = torch.ones(4, 4)", "pool = [torch.ones(4, 4)]", 'home = "cuda"', "flag = True")
CONSTRUCTOR: Parameters = (("flag", "b="), ("where", "w="))


class DefinitionGrower(Grower):
    """A grower that also defines functions and classes."""

    def define_function(self, names: Namespace) -> list[str]:
        """Return a new function, defined in `names`; empty if none was found."""
        name = self.new_name(self.rng.choice(("f", "_f", "helper")))
        return self._define(name, names, names, None)

    def _define(self, name: str, names: Namespace, local: Namespace, owner: str | None) -> list[str]:
        """Return a function or method with a grown body. A function is defined in `names`.

        A method is of the class named `owner`, and not defined: its class is not complete yet.
        """
        parameters = self._parameters(local, only=("x", "f") if name in ("forward", "__call__") else None)
        shown, scratch, own_names, opening = self._bind(parameters, local)
        before = Snapshot(local, self.own)
        body = [*opening, *self.block(scratch, self.rng.randint(1, 4), own_names)]
        filler = Filler(self, scratch, own_names)
        try:
            if self.rng.random() < 0.25:
                guard = [f"if {filler.condition()}:", filler.fill("    return {f}")]
                place = self.rng.choice([number for number, line in enumerate(body) if not line.startswith((" ", "e"))])
                body[place:place] = guard
            body.append(filler.fill(self.rng.choice(self._endings(name, scratch))))
        except (Unfit, IndexError):
            return []
        finally:
            before.restore()
        shown = ["self", *shown] if owner else shown
        lines = [f"def {name}({', '.join(shown)}):", *indented(body)]
        if self.attempt(names if owner is None else dict(names), lines, None) is not None:
            return []
        if owner is not None:
            if name not in ("forward", "__call__"):
                self.own.methods.setdefault(owner, {})[name] = parameters
        else:
            self.own.functions[name] = parameters
        return lines

    def _parameters(self, local: Namespace, only: tuple[str, str] | None) -> Parameters:
        """Return random parameters of which the namespace has examples, in an order that Python allows."""
        pool = pool_of(local, self.own)
        chosen = dict([only] if only else self.rng.sample(PARAMETERS, self.rng.randint(1, 3)))
        known = [
            (name, kind) for name, kind in chosen.items() if kind in ("d", "d=", "b=", "w=") or kind[0] in pool.by_kind
        ]
        order = {"=": 2}
        return tuple(sorted(known, key=lambda one: (one[0].count("*") or order.get(one[1][-1], 0), one[0].count("*"))))

    def _bind(self, parameters: Parameters, local: Namespace) -> tuple[list[str], Namespace, set[str], list[str]]:
        """Return how parameters are written, a namespace in which they are bound, their names, and first statements."""
        pool = pool_of(local, self.own)
        shown, scratch, opening = [], dict(local), []
        own_names: set[str] = set()
        starred = any(name.startswith("*") for name, _ in parameters)
        for name, kind in parameters:
            plain, letter = name.strip("*"), kind[0]
            own_names.add(plain)
            scratch.pop(plain, None)  # what is bound last stands last
            example = pool.pick(self.rng, letter)
            if name.startswith("*"):
                values = [pool.pick(self.rng, "f") for _ in range(2)]
                tensors = [one[1] for one in values if one is not None]
                scratch[plain] = dict(zip("ab", tensors, strict=False)) if name[:2] == "**" else tuple(tensors)
                shown.append(name)
                continue
            if kind.endswith("="):
                default = self.rng.choice(DEFAULTS[letter])
                shown.append(f"{name}={default}")
                scratch[plain] = eval(default, dict(local))
                if default == "None" and self.rng.random() < 0.8:
                    filled = self._filled("{E}", scratch)
                    opening += [f"if {name} is None:", f"    {name} = {filled}"]
                    self.attempt(scratch, opening[-2:], own_names)
            else:
                shown.append(name)
                scratch[plain] = example[1] if example is not None else torch.device("cuda")
        if starred:
            shown = [one for one in shown if "=" not in one and "*" not in one] + [
                one for kind in ("=", "*") for one in shown if kind in one
            ]
        return shown, scratch, own_names, opening

    def _filled(self, template: str, names: Namespace) -> str:
        """Return a filled template, or a plain tensor if it does not fit."""
        try:
            return Filler(self, names, None).fill(template)
        except Unfit:
            return "torch.ones(4, 4)"

    def _endings(self, name: str, names: Namespace) -> list[str]:
        """Return the templates of a function's last statement."""
        endings = ["return {f}"] * 6 + ["return {E}"] * 3
        if name in ("forward", "__call__"):
            return endings
        endings += ["return {f}, {f}", "return [{f}, {f}]", 'return {{"a": {f}, "b": {E}}}', "yield {f}", "return {L}"]
        return [*endings, "return lambda z: z + {f}", "return {v}", "return None", "return {D}"]

    def define_class(self, names: Namespace) -> list[str]:
        """Return a new class, a module or a plain one, defined in `names`; empty if none was found."""
        modules = [name for name in self.own.classes if issubclass(names.get(name, int), nn.Module)]
        name = self.new_name(self.rng.choice(("Net", "Block", "Store", "_Net")))
        is_module = not name.startswith("Store")
        base = self.rng.choice(modules) if is_module and modules and self.rng.random() < 0.5 else "nn.Module"
        head = [f"class {name}({base}):" if is_module else f"class {name}:"]
        if self.rng.random() < 0.25:
            head += indented([self.rng.choice(CLASS_ATTRIBUTES)])
        parts = self.rng.sample(MODULE_PARTS if is_module else PLAIN_PARTS, self.rng.randint(2, 5))
        others = [one for one in modules if one != base]
        if is_module and others and self.rng.random() < 0.4:
            parts.append(f"self.inner = {self.rng.choice(others)}()")
        where = self.rng.choice(('"cuda"', '"cpu"', '"cpu"'))
        flag = self.rng.choice(("True", "False"))
        start = ["super().__init__()"] if is_module else []
        head += indented([f"def __init__(self, flag={flag}, where={where}):", *indented([*start, *parts])])
        if self.attempt(names, head, None) is not None:
            return []
        self.own.classes[name] = CONSTRUCTOR
        lines = head + self._methods(name, names, is_module=is_module, inherits=base != "nn.Module")
        return lines if self.attempt(names, lines, None) is None else []

    def _methods(self, name: str, names: Namespace, *, is_module: bool, inherits: bool) -> list[str]:
        """Return the methods of a class of which only the constructor is defined."""
        local = dict(names)
        try:
            local["self"] = self._example(names[name](), is_module=is_module)
        except Exception:
            return []
        if is_module:
            for key, value in names.items():  # a moved module gets moved inputs
                if isinstance(value, torch.Tensor) and value.dim() == 2 and self.rng.random() < 0.5:
                    local[key] = value.to(self._device_of(local["self"]))
        wanted = ["forward"] if is_module else [self.rng.choice(("__call__", "run", "add"))]
        wanted += self.rng.sample(("extra_loss", "update", "pick"), self.rng.randint(0, 1 if is_module else 2))
        lines: list[str] = []
        for method in wanted:
            text = self._define(method, names, local, name)
            if method == "forward" and inherits and text and self.rng.random() < 0.7:
                text[1:1] = ["    x = super().forward(x)"]
            lines += indented(text)
        if is_module and self.rng.random() < 0.2:
            lines += indented(["@property", "def device(self):", "    return next(self.parameters()).device"])
        if not is_module and self.rng.random() < 0.4:
            lines += indented(["def to(self, place):", *indented(self._move_of(local["self"])), "    return self"])
            self.own.methods.setdefault(name, {})["to"] = (("place", "d"),)
        return lines

    def _example(self, instance: Any, *, is_module: bool) -> Any:
        """Return an example of a class: a module is often moved."""
        return instance.to("cuda") if is_module and self.rng.random() < 0.6 else instance

    def _device_of(self, module: nn.Module) -> torch.device:
        """Return the device of a module's first parameter."""
        return next((one.device for one in module.parameters()), torch.device("cpu"))

    def _move_of(self, instance: Any) -> list[str]:
        """Return the body of a `to` method that moves some attributes of an object."""
        lines = []
        for name, value in vars(instance).items():
            if self.rng.random() < 0.7:
                match value:
                    case torch.Tensor() | nn.Module():
                        lines.append(f"self.{name} = self.{name}.to(place)")
                    case list():
                        lines.append(f"self.{name} = [one.to(place) for one in self.{name}]")
                    case dict():
                        lines += [f"for k in self.{name}:", f"    self.{name}[k] = self.{name}[k].to(place)"]
        return lines or ["pass"]
