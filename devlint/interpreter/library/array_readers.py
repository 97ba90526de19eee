"""Models of libraries that read arrays: matplotlib, seaborn, scikit-learn, scipy and scikit-image.

They read their arguments through `__array__`, which a tensor on an accelerator refuses.
"""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Instance
from devlint.domain.value import UNKNOWN, Tuple, Value
from devlint.interpreter.numpy.array_calls import report_tensors_read
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

PLOT_FUNCTIONS: Final = (
    "bar barh boxplot contour contourf errorbar fill_between hist hist2d imshow loglog matshow pcolormesh pie plot"
    " quiver scatter semilogx semilogy stackplot stem step violinplot".split()
)
"""The functions of `pyplot` and methods of Axes that draw data."""

ESTIMATOR_METHODS: Final = (
    "fit fit_predict fit_transform inverse_transform partial_fit predict predict_proba score transform".split()
)
"""The methods of scikit-learn's estimators that read data."""

ARRAY_MODULES: Final = ("sklearn.metrics.", "sklearn.preprocessing.", "scipy.", "skimage.")
"""Prefixes of the modules whose functions read arrays."""

AXES_CLASS: Final = "matplotlib.axes.Axes"
"""The class of the objects that `plt.subplots()` and `plt.gca()` return."""

ESTIMATOR_CLASS: Final = "sklearn.base.BaseEstimator"
"""The class that every scikit-learn object is given here, whatever its own class is."""


@models_call(
    *(f"{owner}.{name}" for owner in ("matplotlib.pyplot", AXES_CLASS) for name in PLOT_FUNCTIONS),
    *(f"seaborn.{name}" for name in ("heatmap", "histplot", "kdeplot", "lineplot", "scatterplot")),
    *(f"{ESTIMATOR_CLASS}.{name}" for name in ESTIMATOR_METHODS),
)
def array_reader(frame: Frame, call: LibraryCall) -> Value:
    """Model a function that converts its arguments to arrays: report tensor arguments as read on the host."""
    report_tensors_read(frame, call)
    return UNKNOWN


@models_call("matplotlib.pyplot.subplots")
def subplots(frame: Frame, call: LibraryCall) -> Value:
    """Model `plt.subplots()`: an unknown figure with one Axes object; unknown axes where the call asks for a grid."""
    single = not call.arguments.positional and not {"nrows", "ncols"} & call.arguments.keywords.keys()
    return Tuple((UNKNOWN, _new_axes(frame, call) if single else UNKNOWN))


@models_call("matplotlib.pyplot.gca", "matplotlib.pyplot.axes", "matplotlib.pyplot.subplot")
def axes(frame: Frame, call: LibraryCall) -> Value:
    """Model `plt.gca()`, `plt.axes()` and `plt.subplot()`: an Axes object."""
    return _new_axes(frame, call)


def _new_axes(frame: Frame, call: LibraryCall) -> Value:
    """Allocate an object of matplotlib's class Axes."""
    return frame.allocate(call.node, Instance(AXES_CLASS, {}))


def reads_arrays(name: str) -> bool:
    """Return whether a library function of a given dotted name converts its arguments to arrays, judged by the name.

    Asked for functions that have neither a hand-written model nor a row of the semantics table.
    """
    return name.startswith(ARRAY_MODULES) and name.rpartition(".")[2].islower()


def is_estimator(name: str) -> bool:
    """Return whether a dotted name names a class of scikit-learn."""
    return name.startswith("sklearn.") and name.rpartition(".")[2][:1].isupper()
