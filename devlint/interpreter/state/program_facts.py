"""What is known of a program before any of its code is run, and holds for the analysis of each of its files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.batch_transfers import PartTransfer, transfers_of_parts
from devlint.interpreter.program.blocking_launches import BlockingLaunches
from devlint.interpreter.program.checked_functions import CheckedFunctions
from devlint.interpreter.program.compiled_modules import CompiledModules
from devlint.interpreter.program.constructor_data import ConstructorData
from devlint.interpreter.program.cuda_kernels import CudaKernels
from devlint.interpreter.program.definitions import FunctionInfo, ModuleInfo
from devlint.interpreter.program.documenting_decorators import DocumentingDecorators
from devlint.interpreter.program.failing_imports import FailingImports
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.kernel_wrappers import KernelWrappers
from devlint.interpreter.program.liveness import names_bound_in, names_changed_in, settled_names
from devlint.interpreter.program.loop_carried import loop_carried_names
from devlint.interpreter.program.outside_moves import OutsideMoves
from devlint.interpreter.program.placed_datasets import PlacedDatasets
from devlint.interpreter.program.plain_locals import plain_locals
from devlint.interpreter.program.private_definitions import is_test_file
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.refusing_classes import RefusingClasses
from devlint.interpreter.program.registering_files import RegisteringFiles
from devlint.interpreter.program.registry_fillers import RegistryFillers
from devlint.interpreter.program.relevance import Relevance
from devlint.interpreter.program.seeded_functions import SeededFunctions
from devlint.interpreter.program.shimmed_files import ShimmedFiles
from devlint.interpreter.program.tensor_files import TensorLibraries
from devlint.interpreter.program.tensor_reach import TensorReach
from devlint.interpreter.program.use_def import UseDef
from devlint.interpreter.state.torch_defaults import DefaultSetters
from devlint.semantics.table import Table, load_numpy_table, load_semantics

_HALF_WORDS: Final = ("autocast", "float16", ".half", "HalfTensor")
_HALF: Final = re.compile(r"^[^#\n]*?(?:autocast|float16|\.half\b|HalfTensor)", re.MULTILINE)
"""What code says that computes in half precision; comments do not count."""
_FULL: Final = re.compile(r"\bautocast\([^()]*\bfloat(?:32)?\)|^[ \t]*(?:from|import)\b.*\bautocast\b.*", re.MULTILINE)
"""A call that asks for full precision, or an import, which asks for none."""


class ProgramFacts:
    """The program, the semantics tables, and facts read off the program's syntax, each computed when it is first asked.

    Facts do not depend on what was analysed before, so the analyses of all files share them.
    """

    def __init__(self, program: Program, models: Sequence[Path] = ()) -> None:
        self.program = program
        self.table: Table = load_semantics(models)
        self.numpy: Table = load_numpy_table()
        self.use_def = UseDef()
        self.tensor_libraries = TensorLibraries(self.table.models.libraries)
        self.tensor_reach = TensorReach(program, self.tensor_libraries)
        self.registry_fillers = RegistryFillers(self.tensor_reach.reads)
        self.documenting_decorators = DocumentingDecorators(self.tensor_reach.reads)
        self.relevance = Relevance()
        self.imports = ImportGraph(program)
        described = self.table.models
        self.default_setters = DefaultSetters(
            program, self.imports, described.sets_default_device, described.sets_start_method
        )
        self.blocking_launches = BlockingLaunches(self.imports)
        self.outside_moves = OutsideMoves(program, self.imports)
        self.placed_datasets = PlacedDatasets(program, self.imports)
        self.constructor_data = ConstructorData(program, self.imports)
        self.cuda_kernels = CudaKernels(program, self.imports)
        self.compiled_modules = CompiledModules(program, self.cuda_kernels)
        self.kernel_wrappers = KernelWrappers(program, self.cuda_kernels, self.compiled_modules)
        self.checked_functions = CheckedFunctions(program, self.imports, self.cuda_kernels, self.kernel_wrappers)
        self.refusing_classes = RefusingClasses(program, self.imports)
        self.seeded_functions = SeededFunctions(program, self.imports)
        self.shimmed_files = ShimmedFiles(program)
        self.failing_imports = FailingImports(program, self.imports)
        self.registering_files = RegisteringFiles(program, self.imports)
        self._changed_names_by_loop: dict[cst.CSTNode, frozenset[str]] = {}
        self._bound_names_by_loop: dict[cst.CSTNode, frozenset[str]] = {}
        self._carried_names_by_loop: dict[cst.CSTNode, frozenset[str]] = {}
        self._settled_names_by_function: dict[cst.CSTNode, frozenset[str]] = {}
        self._plain_locals_by_function: dict[cst.CSTNode, frozenset[str]] = {}
        self._part_transfers_by_loop: dict[cst.For, tuple[PartTransfer, ...]] = {}

    def is_mixed_precision(self, module: ModuleInfo) -> bool:
        """Return whether some file names a type of half precision, or what chooses one for operations.

        Tests of other code than a file's own do not count.
        """
        return any(path == module.path or not is_test_file(path) for path in self._files_of_half_precision)

    @cached_property
    def _files_of_half_precision(self) -> tuple[Path, ...]:
        """The files of the program that name a type of half precision, or what chooses one for operations."""
        return self.imports.files_whose_text(_says_half)

    def gather(self) -> None:
        """Compute the facts that nearly every analysis asks for, which concern all files."""
        _ = self.default_setters.imported_files

    def names_changed(self, loop: cst.CSTNode) -> frozenset[str]:
        """Return the names that a loop's body binds, and those whose objects the body changes in place.

        The names are computed once for each loop.
        """
        found = self._changed_names_by_loop.get(loop)
        if found is None:
            found = self._changed_names_by_loop[loop] = names_changed_in(loop)
        return found

    def names_bound(self, loop: cst.CSTNode) -> frozenset[str]:
        """Return the names that a loop's body binds, computed once for each loop."""
        found = self._bound_names_by_loop.get(loop)
        if found is None:
            found = self._bound_names_by_loop[loop] = names_bound_in(loop)
        return found

    def loop_carried(self, loop: cst.For | cst.While, function: FunctionInfo) -> frozenset[str]:
        """Return the names that an iteration of a loop may read from earlier iterations.

        The names are computed once for each loop.
        """
        found = self._carried_names_by_loop.get(loop)
        if found is None:
            found = self._carried_names_by_loop[loop] = loop_carried_names(loop, function)
        return found

    def settled_names(self, function: FunctionInfo) -> frozenset[str]:
        """Return the names that hold one value during a call of a function, computed once for each function."""
        found = self._settled_names_by_function.get(function.node)
        if found is None:
            found = self._settled_names_by_function[function.node] = settled_names(function)
        return found

    def plain_locals(self, function: FunctionInfo) -> frozenset[str]:
        """Return the local names of a function of which every binding is seen, computed once for each function."""
        found = self._plain_locals_by_function.get(function.node)
        if found is None:
            found = self._plain_locals_by_function[function.node] = plain_locals(function)
        return found

    def transfers_of_parts(self, loop: cst.For) -> tuple[PartTransfer, ...]:
        """Return the calls in a loop's body that move parts of the loop's element, computed once for each loop."""
        found = self._part_transfers_by_loop.get(loop)
        if found is None:
            found = self._part_transfers_by_loop[loop] = transfers_of_parts(loop)
        return found


def _says_half(text: str) -> bool:
    """Return whether the text of a file says, outside of comments and imports, that it computes in half precision."""
    return any(word in text for word in _HALF_WORDS) and _HALF.search(_FULL.sub("", text)) is not None
