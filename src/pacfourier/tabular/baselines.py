"""Two models that everybody knows, fitted on the same rows, to compare with."""

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pacfourier.tabular.training_rows import LabelledRows

# With more numbers than this, the strength of the linear model is not searched for.
_MOST_SEARCHED = 2_000_000
# With fewer numbers than this, one thread is faster than several.
_FEWEST_SHARED = 200_000
# Trees see at most so many columns: with 100,000 they would take a quarter of an hour.
_MOST_BOOSTED = 2_000
# Two classes need a row in every fold of a search.
_N_FOLDS = 3
_STRENGTHS = np.logspace(-3, 3, 7)
_ALL = slice(None)


class _Baseline(NamedTuple):
    """A fitted model of scikit-learn, its name, its columns, and how long its fit took."""

    name: str
    model: Any
    columns: Any
    seconds: float

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the predictions for rows with all columns."""
        return np.asarray(self.model.predict(X[:, self.columns]))


def fitted_baselines(
    task: str, learned: LabelledRows, class_weight: Any, seed: int
) -> Iterator[_Baseline]:
    """Yield a linear model and boosted trees, fitted on the learned rows.

    If there are very many columns, the trees see those that depend most on the label.

    Parameters
    ----------
    task : {"classification", "regression"}
    learned : LabelledRows
    class_weight : dict, "balanced" or None
        As in ``FourierClassifier``. Only used for classes.
    seed : int
    """
    columns = _best_columns(learned.X, learned.y, task)
    trees = "boosted trees" if columns == _ALL else f"boosted trees ({_MOST_BOOSTED:,} columns)"
    if task == "regression":
        yield _fitted("ridge regression", _linear_regressor(learned.y), learned, _ALL)
        yield _fitted(trees, _boosted_regressor(seed), learned, columns)
        return
    from sklearn.utils.class_weight import compute_sample_weight

    linear = _linear_classifier(learned.X, learned.y, class_weight)
    yield _fitted("logistic regression", linear, learned, _ALL)
    # Boosted trees do not accept weights by the names of classes.
    weights = None if class_weight is None else compute_sample_weight(class_weight, learned.y)
    yield _fitted(trees, _boosted_classifier(seed), learned, columns, sample_weight=weights)


def _best_columns(X: NDArray[Any], y: NDArray[Any], task: str) -> Any:
    """Return the columns with the largest F statistics, or all if there are not too many.

    For amounts, the statistic grows with the correlation, which rounding cannot make negative.
    """
    from sklearn.feature_selection import f_classif, r_regression

    if X.shape[1] <= _MOST_BOOSTED:
        return _ALL
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
        scores = f_classif(X, y)[0] if task == "classification" else abs(r_regression(X, y))
    ranked = np.argsort(np.where(np.ptp(X, axis=0) > 0, scores, -1.0), kind="stable")
    return np.sort(ranked[-_MOST_BOOSTED:]).tolist()


def _fitted(
    name: str, model: Any, learned: LabelledRows, columns: Any, **options: Any
) -> _Baseline:
    """Fit a model, and measure how long that takes. ``options`` are further arguments of fit."""
    from sklearn.exceptions import ConvergenceWarning

    started = time.perf_counter()
    # On small tables, threads that wait for each other take longer than the work.
    n_threads = 1 if learned.X.size < _FEWEST_SHARED else None
    with warnings.catch_warnings(), threadpool_limits(n_threads):
        # A baseline that stops early, or a class with too few rows for every fold, is what users
        # would get.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        model.fit(learned.X[:, columns], learned.y, **options)
    return _Baseline(name, model, columns, time.perf_counter() - started)


def _linear_classifier(X: NDArray[Any], y: NDArray[Any], class_weight: Any) -> Any:
    """Return an unfitted logistic regression on scaled columns.

    Its strength is chosen by cross-validation, unless the table is large or the rows of some fold
    could be of one class.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    linear = LogisticRegression(max_iter=300, class_weight=class_weight)
    model = make_pipeline(StandardScaler(), linear)
    second = np.sort(np.unique(y, return_counts=True)[1])[-2]
    if X.size > _MOST_SEARCHED or second < _N_FOLDS:
        return model
    return GridSearchCV(model, {"logisticregression__C": _STRENGTHS}, cv=_N_FOLDS)


def _linear_regressor(y: NDArray[Any]) -> Any:
    """Return an unfitted ridge regression on scaled columns, whose strength is searched for.

    Amounts are centred: beside columns in single precision, they would be rounded to it.
    """
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    mean = y.mean()
    return TransformedTargetRegressor(
        make_pipeline(StandardScaler(), RidgeCV(_STRENGTHS)),
        func=lambda amounts: amounts - mean,
        inverse_func=lambda centred: centred.astype(np.float64) + mean,
        check_inverse=False,
    )


def _boosted_classifier(seed: int) -> Any:
    """Return unfitted boosted trees, at the defaults of scikit-learn."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def _boosted_regressor(seed: int) -> Any:
    """Return unfitted boosted trees, at the defaults of scikit-learn."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(random_state=seed)
