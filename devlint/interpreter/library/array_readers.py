"""Libraries that read arrays: what they are handed goes through `__array__`, which an accelerator's tensor refuses."""

from __future__ import annotations

from typing import Final

from devlint.domain.objects import Instance
from devlint.domain.value import UNKNOWN, Tuple, Value
from devlint.interpreter.numpy.array_calls import report_tensors_read
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

PLOTS: Final = (
    "bar barh boxplot contour contourf errorbar fill_between hist hist2d imshow loglog matshow pcolormesh pie plot"
    " quiver scatter semilogx semilogy stackplot stem step violinplot".split()
)
"""What draws data."""

ESTIMATOR: Final = (
    "fit fit_predict fit_transform inverse_transform partial_fit predict predict_proba score transform".split()
)
"""What scikit-learn's objects do with data."""

FUNCTIONS: Final = ("sklearn.metrics.", "sklearn.preprocessing.", "scipy.", "skimage.")
"""Where functions of arrays lie."""

AXES: Final = "matplotlib.axes.Axes"
ESTIMATORS: Final = "sklearn.base.BaseEstimator"
"""The class under which all of scikit-learn's objects are known."""


@models_call(
    *(f"{owner}.{name}" for owner in ("matplotlib.pyplot", AXES) for name in PLOTS),
    *(f"seaborn.{name}" for name in ("heatmap", "histplot", "kdeplot", "lineplot", "scatterplot")),
    *(f"{ESTIMATORS}.{name}" for name in ESTIMATOR),
)
def reads(frame: Frame, call: LibraryCall) -> Value:
    """A function that reads what it is given as arrays."""
    report_tensors_read(frame, call)
    return UNKNOWN


@models_call("matplotlib.pyplot.subplots")
def subplots(frame: Frame, call: LibraryCall) -> Value:
    """A figure and its axes, where there is one of them."""
    single = not call.arguments.positional and not {"nrows", "ncols"} & call.arguments.keywords.keys()
    return Tuple((UNKNOWN, _axes(frame, call) if single else UNKNOWN))


@models_call("matplotlib.pyplot.gca", "matplotlib.pyplot.axes", "matplotlib.pyplot.subplot")
def axes(frame: Frame, call: LibraryCall) -> Value:
    """Axes to draw in."""
    return _axes(frame, call)


def _axes(frame: Frame, call: LibraryCall) -> Value:
    return frame.allocate(call.node, Instance(AXES, {}))


def reads_arrays(name: str) -> bool:
    """Whether a library's function, of which nothing more is known, reads arrays."""
    return name.startswith(FUNCTIONS) and name.rpartition(".")[2].islower()


def is_estimator(name: str) -> bool:
    """Whether a name is a class of scikit-learn."""
    return name.startswith("sklearn.") and name.rpartition(".")[2][:1].isupper()
