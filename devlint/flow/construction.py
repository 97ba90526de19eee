"""Making objects of the program's own classes."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.flow.arguments import Arguments
from devlint.flow.classes import find_method, is_module_class, library_base
from devlint.flow.definitions import ClassInfo
from devlint.flow.functions import call_function
from devlint.flow.library.registry import Invocation, invoke
from devlint.flow.nn import CONTAINERS, layer_cell
from devlint.flow.opaque import havoc
from devlint.flow.records import construct_record, data_fields
from devlint.flow.run import Run
from devlint.values.heap import Instance
from devlint.values.value import Callable_, Ref, Value


def construct(run: Run, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> Value:
    """`SomeClass(...)`: a new object, after its `__init__`."""
    fields = data_fields(run, info)
    if fields is not None:
        return construct_record(run, info, fields, arguments, node)
    run.engine.host_only.made(run, info)
    reference = run.allocate(node, Instance(Callable_(info), {}))
    initializer = find_method(run, info, "__init__")
    module = is_module_class(run, info)
    run.engine.constructing += module
    try:
        if initializer is not None:
            call_function(run, initializer, reference, arguments)
        elif module:
            initialize_base(run, reference, info, arguments, node)
        else:
            havoc(run, arguments)
    finally:
        run.engine.constructing -= module
    run.state.live = True
    return reference


def initialize_base(run: Run, reference: Ref, info: ClassInfo, arguments: Arguments, node: cst.CSTNode) -> None:
    """What the library class under a user's module does in its `__init__`."""
    base = library_base(run, info)
    row = run.engine.table.find(base) if base is not None else None
    thing = run.instance(reference)
    if row is not None and row.module is not None and thing is not None and base is not None:
        run.put(reference.address, replace(thing, cell=layer_cell(run, base, row, arguments, node)))
    elif base in CONTAINERS:
        invoke(run, Invocation("__init__", arguments, node, reference))
