"""What a model does with the columns of its table: which matter, and how predictions follow them.

Both are measured on rows that the model was not learned from, by changing one column at a time and
predicting again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from pacfourier.tabular.model import HeldOut, TableModel

# More rows would make the averages little more precise.
MOST_ROWS, MOST_ROWS_OF_AVERAGES = 2000, 500
# Few rows are shuffled several times.
_MOST_REPEATS = 5
# Tables with more columns are searched in groups of columns, of which the best are divided.
MOST_COLUMNS, N_GROUPS, N_DIVIDED = 64, 32, 8
# The most cells to predict in one search, and the fewest rows that can tell columns apart.
MOST_CELLS, FEWEST_ROWS = 200_000_000, 50
# How many values of a column are tried.
MOST_VALUES, MOST_CATEGORIES = 24, 10
_MISSING = "missing"

_Group = tuple[str, ...]


@dataclass(frozen=True)
class _Importance:
    """How much the error rises if the values of a column are shuffled between the rows.

    Attributes
    ----------
    column : str
    rise : float
        For classes, the rise of the mean probability that is given to wrong classes. For amounts,
        the rise of the mean absolute error.
    """

    column: str
    rise: float


@dataclass(frozen=True, eq=False)
class Effect:
    """The average prediction if a column has the same value in all rows.

    Attributes
    ----------
    column : str
    kind : {"number", "category", "date"}
    values : array of shape (n_values,)
        The values of the column: numbers, texts or dates.
    averages : array of shape (n_values, n_outputs)
        The mean probability of each class, or the mean prediction of an amount.
    """

    column: str
    kind: str
    values: NDArray[Any]
    averages: FloatArray


def importances(model: "TableModel", held_out: "HeldOut", seed: int = 0) -> list[_Importance]:
    """Return the columns that matter most, the most important first.

    Parameters
    ----------
    model : TableModel
    held_out : HeldOut
        Rows that the model was not learned from, with their labels.
    seed : int, default=0
        Seed of the shuffles. The result depends on nothing else that is random.

    Returns
    -------
    found : list of Importance
        All columns of a narrow table, and some of a wide one. Empty if the table is so wide that
        the search would take too long.
    """
    names = tuple(column.name for column in model.columns.used)
    n_rows = len(held_out.frame)
    most = _most_shuffled_rows(len(names))
    if most < min(FEWEST_ROWS, n_rows) or not len(names):
        return []
    rows = _spread(n_rows, min(n_rows, most))
    n_repeats = int(np.clip(most // len(rows), 1, _MOST_REPEATS))
    X = model.encoding.encoded(held_out.frame.iloc[rows])
    places = _encoded_places(model)
    losses = _losses_of(model, np.asarray(held_out.truth)[rows])
    base = float(losses(X).mean())

    def rise(group: _Group, n_repeats: int = 1) -> float:
        columns = np.concatenate([places[name] for name in group])
        orders = (_rng_of(seed, repeat).permutation(len(rows)) for repeat in range(n_repeats))
        found = [losses(_shuffled(X, columns, order)).mean() for order in orders]
        return float(np.mean(found)) - base

    rises = {name: rise((name,), n_repeats) for name in _best_columns(names, rise)}
    order = sorted(rises, key=lambda name: -rises[name])
    return [_Importance(name, rises[name]) for name in order]


def _most_shuffled_rows(n_columns: int) -> int:
    """Return how many rows may be shuffled, so that the search predicts a bounded number of cells.

    A search by groups shuffles about 32 groups in each round, and a round divides groups by four.
    """
    n_rounds = np.ceil(np.log(n_columns) / np.log(4)) if n_columns > MOST_COLUMNS else 0
    n_shuffles = MOST_COLUMNS + N_GROUPS * int(n_rounds)
    return int(min(MOST_ROWS, MOST_CELLS // (n_shuffles * max(n_columns, 1))))


def _best_columns(names: _Group, rise: Callable[[_Group], float]) -> _Group:
    """Return columns that matter: all of a few, and of many those that a search by groups finds.

    The columns are divided into groups, and all columns of a group are shuffled together. The
    groups that matter most are divided further, until each holds a single column.
    """
    if len(names) <= MOST_COLUMNS:
        return names
    groups = _divided(names, N_GROUPS)
    while any(len(group) > 1 for group in groups):
        kept = sorted(groups, key=lambda group: -rise(group))[:N_DIVIDED]
        groups = [part for group in kept for part in _divided(group, N_GROUPS // N_DIVIDED)]
    return tuple(name for group in groups for name in group)


def _divided(names: _Group, n_parts: int) -> list[_Group]:
    """Return names in at most ``n_parts`` parts of nearly equal size, none of them empty."""
    bounds = np.linspace(0, len(names), min(n_parts, len(names)) + 1).round().astype(int)
    return [names[start:end] for start, end in pairwise(bounds)]


def _rng_of(seed: int, repeat: int) -> np.random.Generator:
    """Return the random numbers of one shuffle."""
    return np.random.default_rng([seed, repeat])


def _encoded_places(model: "TableModel") -> dict[str, IntArray]:
    """Return the encoded columns that come from each column of the table."""
    sources = np.array(model.encoding.sources, dtype=object)
    order = np.argsort(sources, kind="stable")
    names, starts = np.unique(sources[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, starts[1:]), strict=True))


def _shuffled(X: FloatArray, columns: IntArray, order: IntArray) -> FloatArray:
    """Return rows in which some columns have the values of other rows, which stay together."""
    changed = X.copy()
    changed[:, columns] = X[np.ix_(order, columns)]
    return changed


def _outputs(model: "TableModel", X: FloatArray) -> FloatArray:
    """Return the probability of each class, or the predicted amount, for encoded rows."""
    predictor: Any = model.predictor
    is_amount = model.target.task == "regression"
    found = predictor.predict(X) if is_amount else predictor.predict_proba(X)
    return np.asarray(found).reshape(len(X), -1)


def _losses_of(model: "TableModel", truth: NDArray[Any]) -> Callable[[FloatArray], FloatArray]:
    """Return the function that gives the loss of each encoded row."""
    if model.target.task == "regression":
        return lambda X: np.abs(_outputs(model, X)[:, 0] - truth)
    # The model gives no probability to a class that it does not know.
    is_class = truth[:, None] == np.array(model.target.classes, dtype=object)
    return lambda X: 1.0 - (is_class * _outputs(model, X)).sum(axis=1)


def effects(model: "TableModel", frame: pd.DataFrame, columns: Sequence[str]) -> list[Effect]:
    """Return the average predictions along some columns. Texts are skipped.

    Parameters
    ----------
    model : TableModel
    frame : data frame
        Typed rows. At most 500 of them are used, and fewer if there are very many columns.
    columns : sequence of str
        Names of columns.

    Returns
    -------
    found : list of Effect
        In the order of the columns.
    """
    kinds = {column.name: column.kind for column in model.columns.used}
    affordable = MOST_CELLS // (MOST_VALUES * max(len(columns), 1) * frame.shape[1])
    rows = _spread(len(frame), min(MOST_ROWS_OF_AVERAGES, len(frame), max(affordable, 1)))
    X, places = model.encoding.encoded(frame.iloc[rows]), _encoded_places(model)
    found = []
    for name in columns:
        values = _tried_values(frame[name], kinds[name])
        if len(values) > 1:
            tried = _encoded_values(model, frame, name, values)[:, places[name]]
            averages = np.array([_average(model, X, places[name], each) for each in tried])
            shown = values.fillna(_MISSING) if kinds[name] == "category" else values
            found.append(Effect(name, kinds[name], shown.to_numpy(), averages))
    return found


def _encoded_values(
    model: "TableModel", frame: pd.DataFrame, name: str, values: pd.Series
) -> FloatArray:
    """Return one encoded row per value of a column. The other columns are those of one row."""
    column = values.astype(frame[name].dtype).set_axis(range(len(values)))
    rows = frame.iloc[np.zeros(len(values), dtype=int)].reset_index(drop=True)
    return model.encoding.encoded(rows.assign(**{name: column}))


def _average(
    model: "TableModel", X: FloatArray, columns: IntArray, values: FloatArray
) -> FloatArray:
    r"""Return the mean prediction of each output if some columns have the same values in all rows.

    .. math:: \bar f(v) = \frac{1}{n} \sum_i f(x_i \text{ with the columns set to } v)
    """
    changed = X.copy()
    changed[:, columns] = values
    return np.asarray(_outputs(model, changed).mean(axis=0))


def _tried_values(column: pd.Series, kind: str) -> pd.Series:
    """Return values of a column to try: the most frequent categories, or quantiles in order.

    Gaps count as a category. There are no values to try for texts.
    """
    if kind == "category":
        counts = column.value_counts(dropna=False)
        return pd.Series(counts.index[:MOST_CATEGORIES])
    if kind == "text":
        return column.iloc[:0]
    known = column.dropna().sort_values(ignore_index=True)
    if not len(known):
        return known
    # The outermost hundredths are left out: they are rare and may be far away.
    ranks = np.linspace(0.01, 0.99, MOST_VALUES) * (len(known) - 1)
    distinct = known.drop_duplicates()
    few = len(distinct) <= MOST_VALUES
    return distinct if few else known.iloc[ranks.round().astype(int)].drop_duplicates()


def _spread(n: int, size: int) -> IntArray:
    """Return ``size`` of the numbers below n, evenly spaced."""
    return np.linspace(0, n - 1, size).round().astype(np.int64)
