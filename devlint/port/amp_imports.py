"""Imports from `torch.cuda.amp`: the import and all uses of the names that it binds are ported together, or none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.amp_calls import amp_edits
from devlint.port.cuda_uses import LeftForHuman, Port
from devlint.port.port_context import PortContext
from devlint.port.use_sites import UseSite
from devlint.semantics.accelerators import replacements_of
from devlint.syntax.tree_walk import descend, dotted_name

_OLD, _NEW = "torch.cuda.amp", "torch.amp"
_OLD_MODULES = frozenset({_OLD, f"{_OLD}.autocast_mode", f"{_OLD}.grad_scaler"})
"""The modules that have the names of `torch.cuda.amp`."""


class AmpImports:
    """The imports of a file from `torch.cuda.amp`, and the uses of the names that they bind."""

    def __init__(self, context: PortContext, sites: Sequence[UseSite]) -> None:
        self._context = context
        self.sites = [one for one in sites if isinstance(one.node, cst.Name) and one.name.startswith(f"{_OLD}.")]

    def has(self, site: UseSite) -> bool:
        """Return whether a use is one of a name that an import from `torch.cuda.amp` binds."""
        return any(one.node is site.node for one in self.sites)

    def port(self, site: UseSite) -> Port:
        """Return the port of one use, given that the imports are changed. Raises Left where it is left."""
        found = replacements_of(site.name, self._context.options.min_torch)
        if not found:
            raise LeftForHuman(f"nothing replaces `{site.name}` in the oldest torch to support")
        above = site.region.parent(site.node)
        call = above if isinstance(above, cst.Call) and above.func is site.node else None
        return amp_edits(self._context, site.region, site.node, call, found[0], renamed=False)

    @property
    def edits(self) -> Iterator[Edit]:
        """The edits of the imports. Raises LeftForHuman if one of them depends on what can be imported."""
        for region, node in self._imports:
            if any(map(_may_decide, region.ancestors(node))):
                raise LeftForHuman("what is imported depends on what there is")
            names = [] if isinstance(node.names, cst.ImportStar) else [dotted_name(one.name) for one in node.names]
            if any(not replacements_of(f"{_OLD}.{one}", self._context.options.min_torch) for one in names):
                raise LeftForHuman("the import has names that torch.amp does not have")
            if region.enclosing_function(node) is None and self._may_be_imported_from:
                raise LeftForHuman("other files may import the name from here")
            assert node.module is not None
            yield replace_node(region, node.module, _NEW)

    @property
    def _imports(self) -> Iterator[tuple[NodeRegion, cst.ImportFrom]]:
        """The import statements of the file that bind names of `torch.cuda.amp`."""
        for statement in self._context.fixes.index.statements:
            if _OLD in statement.text:
                region = self._context.fixes.statement_region(statement)
                for node in (statement.tree, *descend(statement.tree)):
                    if isinstance(node, cst.ImportFrom) and not node.relative and _module_of(node) in _OLD_MODULES:
                        yield region, node

    @property
    def _may_be_imported_from(self) -> bool:
        """Whether other files import what the file imports at its top: it is that of a package, or lists its names."""
        index = self._context.fixes.index
        return "__all__" in index.bound or index.source.filename.endswith("__init__.py")


def _may_decide(above: cst.CSTNode) -> bool:
    """Return whether code around an import may ask what can be imported, or for what device it is."""
    match above:
        case cst.Try():
            return True
        case cst.If(
            test=cst.Comparison(left=cst.Name(), comparisons=[cst.ComparisonTarget(comparator=cst.Name(value="None"))])
        ):
            return False
        case cst.If():
            return True
    return False


def _module_of(node: cst.ImportFrom) -> str | None:
    """Return the name of the module from which a statement imports."""
    return dotted_name(node.module) if node.module is not None else None
