"""The predictors that are compared, each with its way of scaling columns and choosing settings."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from benchmarks.predictors_data import IMAGES, SETS
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler
from sklearn.svm import SVC, SVR

from pacfourier import FourierClassifier, FourierRegressor

N_FREQUENCIES = 100
# Smaller sizes of ours and of the network, and the sets of docs/small-d.md that they are run on.
FEW_FREQUENCIES = (5, 10, 20, 50)
FEW_FREQUENCY_SETS = (
    "breast",
    "digits",
    "ads",
    "adult",
    "mnist17",
    "mnist49",
    "mnist56",
    "mnist10",
)
N_COMPONENTS = 200
RIDGES = np.logspace(-3, 4, 15)
MACHINE_C = (0.1, 1.0, 10.0, 100.0)
GAMMA_MULTIPLES = (0.1, 0.3, 1.0, 3.0)
# A machine is chosen on at most this many rows, and then fitted on at most that many.
MOST_TUNING_ROWS, MOST_MACHINE_ROWS = 5_000, 40_000
MOST_MACHINE_ROWS_OF_CLASSES = 20_000
# HistGradientBoosting needs dense columns, and memory for a histogram of each in every leaf.
MOST_DENSE_COLUMNS = 2_000
# Larger samples stop a network and a linear model early.
LARGE_SAMPLE = 10_000


class Kind(NamedTuple):
    """What a predictor has to know before it sees rows."""

    is_amount: bool
    is_sparse: bool
    n_samples: int
    n_columns: int
    n_classes: int
    gamma: float
    """One over the mean squared length of scaled and centred rows."""
    seed: int


def kind_of(X: Any, y: np.ndarray, *, is_amount: bool, seed: int) -> Kind:
    """Return the kind of a training part."""
    n_classes = 0 if is_amount else len(np.unique(y))
    is_sparse = sparse.issparse(X)
    gamma = relative_gamma(MaxAbsScaler().fit_transform(X)) if is_sparse else 1 / X.shape[1]
    return Kind(is_amount, is_sparse, *X.shape, n_classes, gamma, seed)


def relative_gamma(X: Any) -> float:
    """Return the bandwidth that scikit-learn calls "scale": 1 / (n_columns * variance)."""
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return float(1 / (X.shape[1] * (squares.mean() - X.mean() ** 2)))


def scaled(kind: Kind, *steps: Any) -> Any:
    """Return a pipeline that scales columns first."""
    return make_pipeline(MaxAbsScaler() if kind.is_sparse else StandardScaler(), *steps)


def linear_model(kind: Kind) -> Any:
    """Return a ridge regression with a chosen penalty, or a default logistic regression."""
    if kind.is_amount:
        return RidgeCV(RIDGES)
    return LogisticRegression(max_iter=200 if kind.n_samples > LARGE_SAMPLE else 1000)


def _ours(size: int, kind: Kind, **options: Any) -> Any:
    estimator = FourierRegressor if kind.is_amount else FourierClassifier
    return estimator(size, random_state=kind.seed, **options)


def _linear(kind: Kind) -> Any:
    return scaled(kind, linear_model(kind))


class FrequentColumns(TransformerMixin, BaseEstimator):
    """The columns of a sparse matrix with most entries in the fit, as a dense array."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the entries of each column."""
        del y
        counts = np.bincount(X.indices, minlength=X.shape[1])
        self.chosen_ = np.sort(np.argsort(-counts, kind="stable")[: self.n_columns])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the chosen columns."""
        return X[:, self.chosen_].toarray()


def _boosting(kind: Kind) -> Any:
    estimator = HistGradientBoostingRegressor if kind.is_amount else HistGradientBoostingClassifier
    dense = [FrequentColumns(MOST_DENSE_COLUMNS)] if kind.is_sparse else []
    return scaled(kind, *dense, estimator(random_state=kind.seed))


def light_gbm(kind: Kind) -> Any:
    """Return LightGBM with its defaults. It is imported here because only this rival needs it."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    estimator = LGBMRegressor if kind.is_amount else LGBMClassifier
    return estimator(random_state=kind.seed, n_jobs=2, verbosity=-1)


def _light_gbm(kind: Kind) -> Any:
    return scaled(kind, light_gbm(kind))


def _network(size: int, kind: Kind) -> Any:
    options = {
        "hidden_layer_sizes": (size,),
        "early_stopping": kind.n_samples > LARGE_SAMPLE,
        "random_state": kind.seed,
    }
    if not kind.is_amount:
        return scaled(kind, MLPClassifier(**options))
    network = TransformedTargetRegressor(MLPRegressor(**options), transformer=StandardScaler())
    return scaled(kind, network)


def _mapped(make_map: Callable[..., Any], kind: Kind) -> Any:
    # Nystroem takes its components from the rows.
    size = min(N_COMPONENTS, kind.n_samples)
    rows = make_map(gamma=kind.gamma, n_components=size, random_state=kind.seed)
    return scaled(kind, rows, linear_model(kind))


class TunedMachine(BaseEstimator):
    """An RBF machine whose C and gamma are chosen on a fifth of the rows, then fitted on all."""

    def __init__(self, kind: Kind, is_scaled: bool = True) -> None:
        self.kind = kind
        self.is_scaled = is_scaled

    def _machine(self, **options: Any) -> Any:
        if not self.kind.is_amount:
            return SVC(cache_size=1000, **options)
        return TransformedTargetRegressor(SVR(**options), transformer=StandardScaler())

    def fit(self, X: Any, y: np.ndarray) -> Self:
        """Choose C and gamma on at most 5,000 rows, and fit the machine."""
        rng = np.random.default_rng(self.kind.seed)
        few = rng.permutation(X.shape[0])
        self.scaler_ = scaled(self.kind) if self.is_scaled else FunctionTransformer()
        X = self.scaler_.fit_transform(X)
        tuning = few[:MOST_TUNING_ROWS]
        parts = train_test_split(
            X[tuning],
            y[tuning],
            test_size=0.2,
            random_state=self.kind.seed,
            stratify=None if self.kind.is_amount else y[tuning],
        )
        self.choice_ = C, gamma = self._choice(*parts)
        is_many = self.kind.n_classes > 2
        final = few[: MOST_MACHINE_ROWS_OF_CLASSES if is_many else MOST_MACHINE_ROWS]
        self.n_rows_ = len(final)
        self.machine_ = self._machine(C=C, gamma=gamma).fit(X[final], y[final])
        return self

    def _choice(self, X: Any, X_aside: Any, y: np.ndarray, y_aside: np.ndarray) -> Any:
        """Return the best C and gamma on validation rows. One kernel matrix serves every C."""
        found = []
        for gamma in relative_gamma(X) * np.array(GAMMA_MULTIPLES):
            kernel, kernel_aside = (rbf_kernel(rows, X, gamma=gamma) for rows in (X, X_aside))
            for C in MACHINE_C:
                machine = self._machine(C=C, kernel="precomputed").fit(kernel, y)
                found.append((machine.score(kernel_aside, y_aside), C, float(gamma)))
        return max(found)[1:]

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of the fitted machine."""
        return self.machine_.predict(self.scaler_.transform(X))


MODELS: dict[str, Callable[[Kind], Any]] = {
    "ours": partial(_ours, N_FREQUENCIES),
    "LightGBM": _light_gbm,
    "linear": _linear,
    "MLP": partial(_network, N_FREQUENCIES),
    "HistGB": _boosting,
    "Nystroem": partial(_mapped, Nystroem),
    "RBFSampler": partial(_mapped, RBFSampler),
    "SVM": TunedMachine,
    "SVM, raw pixels": partial(TunedMachine, is_scaled=False),
    "ours, D = 500": partial(_ours, 500),
    "ours, certified": partial(_ours, N_FREQUENCIES, certify=0.5, duplicates="genuine"),
    **{f"ours, D = {size}": partial(_ours, size) for size in FEW_FREQUENCIES},
    **{f"MLP, D = {size}": partial(_network, size) for size in FEW_FREQUENCIES},
}
# Models that are not run on every set.
ONLY_ON: dict[str, tuple[str, ...]] = {
    "SVM, raw pixels": IMAGES,
    "ours, D = 500": ("mnist10",),
    "ours, certified": ("adult", "mnist17"),
    **{f"ours, D = {size}": FEW_FREQUENCY_SETS for size in FEW_FREQUENCIES},
    **{f"MLP, D = {size}": FEW_FREQUENCY_SETS for size in FEW_FREQUENCIES},
}
RIVALS = ("LightGBM", "linear", "MLP", "HistGB", "Nystroem", "RBFSampler", "SVM")


def is_run_on(model: str, name: str) -> bool:
    """Return whether a model is run on a set."""
    return name in ONLY_ON.get(model, SETS)
