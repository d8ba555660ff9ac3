"""What the classifier and the regressor share: parameters, the fit, and rows held out."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray, IntArray, host
from pacfourier.bounds.arguments import unit_open
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.core.boosting.descent import Labelled
from pacfourier.core.boosting.objectives import Objective
from pacfourier.data.blocks import BlockedSample
from pacfourier.data.holdout import Kinship, check_share, kinship_of, split_rows
from pacfourier.data.samples import Block, is_plain, labelled_rows, limit_of, validated
from pacfourier.estimators.base import (
    all_or_nothing,
    check_count,
    check_option,
    check_positive,
    drawn_seed,
    is_lazy,
    lazily_predicted,
    read_sample,
    reporter,
)
from pacfourier.estimators.frames import (
    FrameEncoder,
    check_no_text,
    encoded_rows,
    fitted_encoder,
    frame_rows,
    needs_encoding,
    taken,
)
from pacfourier.estimators.linear_trials import linear_model, linear_trial
from pacfourier.estimators.prediction_certificates import (
    prediction_certificate,
    row_summary,
    summable,
)
from pacfourier.estimators.streaming import (
    USUAL_ALPHA,
    Stream,
    Survey,
    continued,
    new_stream,
    surveyed,
    trained_on_blocks,
)
from pacfourier.estimators.training import (
    LARGE_SAMPLE,
    Recipe,
    Task,
    Trained,
    best_trial,
    in_memory,
    possible_recipes,
    trained,
    trials_of,
    usual_recipe,
)
from pacfourier.model.folding import folded_model
from pacfourier.model.fourier_model import FourierModel
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.prediction_certificate import PredictionCertificate

# With fewer rows no recipe can be told from another, and the usual one is taken. With even fewer,
# validation rows tell nothing.
FEWEST_ROWS_OF_A_CHOICE, FEWEST_ROWS_OF_A_TRIAL = 60, 12

# A function of a task, a recipe and a report that returns a trained model.
_Train = Callable[..., Trained]


class _Split(NamedTuple):
    """The rows of a fit, which of them are learned from, and which certify.

    ``kinship`` is that of the rows that certify, and ``encoder`` makes numbers of all rows.
    """

    block: Block
    learned: IntArray
    held_out: IntArray
    kinship: Kinship
    encoder: FrameEncoder | None = None

    def rows(self, chosen: IntArray) -> tuple[Any, NDArray[Any], FloatArray | None]:
        """Return chosen rows as numbers, with their labels and weights."""
        X, y, weights = self.block[:3]
        # Parts are sorted, so a part of this size is all of the rows, which need no copy.
        rows = X if len(chosen) == X.shape[0] else taken(X, chosen)
        numbers = rows if self.encoder is None else self.encoder.encoded(rows)
        return numbers, np.asarray(y)[chosen], None if weights is None else weights[chosen]

    def summaries(self, names: Any) -> tuple[SampleSummary, SampleSummary | None]:
        """Return what the rows learned from are, and the rows held out if there are some.

        ``names`` are those of the columns, or None.
        """
        # Both parts at once, so that a column is read as numbers in both or in none.
        X, y = summable(self.block.X), np.asarray(self.block.y)
        if not len(self.held_out):
            return row_summary(X, y, names), None
        parts = (self.learned, self.held_out)
        learned, fresh = (row_summary(X[part], y[part], names) for part in parts)
        return learned, replace(fresh, is_weighted=self.block.is_weighted)


class FourierPredictor(BaseEstimator):
    """Base class of predictors: a linear model plus cosines whose frequencies are learned."""

    n_frequencies: Any
    alpha: Any
    piecewise: Any
    certify: Any
    epsilon: Any
    duplicates: Any
    random_state: Any
    verbose: Any
    certificate_: PredictionCertificate
    # The fitted attributes that predictions use.
    _used: tuple[str, ...]
    # The fitted model in the user's columns, or in the encoded ones of a data frame.
    model_: FourierModel
    piecewise_: bool
    alpha_: float
    # How data frames become numbers; None for arrays and numeric frames.
    _encoder: FrameEncoder | None = None
    # What the rows are that the model was learned from; None if a file did not say.
    _summary: SampleSummary | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        check_count("n_frequencies", self.n_frequencies)
        if self.alpha != "auto":
            check_positive("alpha", self.alpha)
        check_option("piecewise", self.piecewise, ("auto", True, False))
        check_option("duplicates", self.duplicates, (None, "genuine"))
        check_share(self.certify)
        unit_open("epsilon", self.epsilon)

    def _read(self, X: Any, y: Any, sample_weight: Any, kinship: Kinship, seed: int) -> _Split:
        """Validate the rows of a fit, and hold out some of them if a certificate is wanted."""
        check_no_text(X)
        is_encoded = needs_encoding(X)
        read = frame_rows if is_encoded else labelled_rows
        block = read(self, X, y, sample_weight, reset=True, fewest=2)
        if sample_weight is not None:
            # Rows of weight zero were left out.
            kinship = kinship.taken(np.flatnonzero(np.asarray(host(sample_weight)) > 0))
        learned, held_out = self._parts(np.asarray(block.y), kinship, seed)
        # Rows held out have no part in the encoding: else the certificate would be about a
        # predictor that has seen them.
        encoder = fitted_encoder(taken(block.X, learned), seed) if is_encoded else None
        self._encoder = encoder
        return _Split(block, learned, held_out, kinship.taken(held_out), encoder)

    def _parts(self, y: NDArray[Any], kinship: Kinship, seed: int) -> tuple[IntArray, IntArray]:
        """Return the rows to learn from, and the rows that certify."""
        if self.certify is False:
            return np.arange(len(y)), np.arange(0)
        labels = y if is_classifier(self) and y.ndim == 1 else None
        rng = np.random.default_rng([seed, 2])
        return split_rows(len(y), self.certify, rng, labels=labels, kinship=kinship)

    def _describe_labels(self, y: NDArray[Any], classes: Any = None) -> None:
        """Set the fitted attributes that say how labels are coded."""
        raise NotImplementedError

    def _coded_labels(self, y: NDArray[Any]) -> FloatArray:
        """Return labels as numbers, one column per output of the model."""
        raise NotImplementedError

    def _objective(self) -> Objective:
        """Return the loss to minimise."""
        raise NotImplementedError

    def _label_parts(self) -> dict[str, Any]:
        """Return what scores mean, as the parts of the fitted model that say so."""
        raise NotImplementedError

    def _row_weights(self, y: NDArray[Any], weights: FloatArray | None) -> FloatArray:
        """Return the weight of each row in the loss."""
        return np.ones(len(y)) if weights is None else weights

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, time: Any) -> Self:
        """Read the rows, learn from some or all of them, and certify with the others."""
        self._check_parameters()
        kinship = kinship_of(X, groups, time)
        if self.certify is False and (groups is not None or time is not None):
            raise ValueError(
                "groups and time must be None with certify=False, got one of them: only the "
                "certificate depends on them."
            )
        if is_lazy(X):
            return self._learn((X, y, sample_weight), None, is_first=True)
        with all_or_nothing(self) as draft:
            seed = drawn_seed(self.random_state)
            split = draft._read(X, y, sample_weight, kinship, seed)
            X, y, weights = split.rows(split.learned)
            draft._describe_labels(y)
            draft._learn_from(draft._labelled(X, y, draft._row_weights(y, weights)), seed)
            vars(draft).pop("_stream", None)
            names = getattr(draft, "feature_names_in_", None)
            draft._summary, fresh = split.summaries(names)
            draft._certify(split, fresh)
        return self

    def _learn(self, data: Any, classes: Any, *, is_first: bool) -> Self:
        """Learn from blocks of rows. If they fit into the sample, this is a fit in memory."""
        del is_first
        self._check_parameters()
        self._check_parts()
        with all_or_nothing(self) as draft:
            seed = drawn_seed(self.random_state)
            draft._encoder = None
            sample: Any = read_sample(draft, labelled_rows, data, reset=True)
            survey_block = partial(surveyed, seed=seed, has_classes=is_classifier(self))
            survey: Survey = sample.reduce(survey_block, Survey.merge)
            draft._describe_labels(survey.y, survey.classes if classes is None else classes)
            rows = draft._labelled(survey.X, survey.y, draft._row_weights(survey.y, survey.weights))
            train = partial(
                trained_on_blocks,
                blocks=partial(draft._labelled_blocks, sample, survey),
                n_samples=survey.n_samples,
            )
            is_whole = survey.n_samples == rows.n_samples
            draft._learn_from(rows, seed, trained if is_whole else train)
            vars(draft).pop("_stream", None)
            vars(draft).pop("certificate_", None)
            draft._summary = survey.summary
        return self

    def _labelled_blocks(self, sample: BlockedSample, survey: Survey) -> Iterator[Labelled]:
        """Yield blocks with coded labels, and weights in units of their mean in a survey."""
        weight = float(self._row_weights(survey.y, survey.weights).mean())
        for block in sample.blocks():
            y = np.asarray(block.y)
            yield self._labelled(block.X, y, self._row_weights(y, block.weights), weight)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        """Make one pass over more rows. The first call also describes columns and labels."""
        self._check_parameters()
        self._check_parts()
        is_first = not hasattr(self, "_trained")
        if is_first and self.piecewise is True:
            raise ValueError(
                'piecewise must be False or "auto" for partial_fit, got True: knots need all rows.'
            )
        if self._encoder is not None:
            raise ValueError(
                "partial_fit must go on from a fit on numbers, got one on a data frame with text, "
                "categories or gaps: encode the columns before both."
            )
        with all_or_nothing(self) as draft:
            fewest = 2 if is_first else 1
            block = labelled_rows(draft, X, y, sample_weight, reset=is_first, fewest=fewest)
            labels = np.asarray(block.y)
            if is_first:
                draft._describe_labels(labels, classes)
            else:
                draft._check_classes(classes)
            copies = draft._row_weights(labels, block.weights)
            stream = getattr(self, "_stream", None)
            weight = float(copies.mean()) if stream is None else stream.weight
            rows = draft._labelled(block.X, labels, copies, weight)
            draft._stream = (stream or draft._first_stream(rows, weight)).taught(rows)
            draft._store(draft._stream.trained, draft._recipe())
            vars(draft).pop("certificate_", None)
            found = row_summary(block.X, labels)
            draft._summary = found if self._summary is None else self._summary.merge(found)
        return self

    def _first_stream(self, rows: Labelled, weight: float) -> Stream:
        """Return a stream that starts from these rows, or goes on from an earlier ``fit``."""
        seed = drawn_seed(self.random_state)
        task = Task(rows, self._objective(), self.n_frequencies, seed)
        if hasattr(self, "_trained"):
            return continued(self._trained, task, self._recipe(), weight)
        return new_stream(task, self._recipe(), weight)

    def _recipe(self) -> Recipe:
        """Return the recipe of the fit, or that of a stream which has not begun."""
        if hasattr(self, "_trained"):
            return Recipe(self.piecewise_, self.alpha_)
        return Recipe(False, USUAL_ALPHA if self.alpha == "auto" else float(self.alpha))

    def _check_parts(self) -> None:
        """Raise ValueError if a parameter needs all rows at once."""
        if self.certify is not False:
            raise ValueError(
                f"certify must be False if rows come in parts, got {self.certify}: keep some rows "
                "for pacfourier.certify."
            )

    def _check_classes(self, classes: Any) -> None:
        """Raise ValueError if the classes are not those of the first call."""

    def _labelled(
        self, X: Any, y: NDArray[Any], copies: FloatArray, weight: float | None = None
    ) -> Labelled:
        """Return rows with coded labels, and weights in units of their mean or of a given one."""
        labels = self._coded_labels(y).astype(np.float32)
        weights = copies / (copies.mean() if weight is None else weight)
        return Labelled(in_memory(X), labels, weights.astype(np.float32))

    def _learn_from(self, rows: Labelled, seed: int, train: _Train = trained) -> None:
        """Choose a recipe on validation rows, train the model, and set the fitted attributes."""
        report = reporter(self)
        # Classes may have the weight zero, and tiny weights round to it. A fold of such rows alone
        # would have no mean.
        if not rows.weights.all():
            rows = rows.take(np.flatnonzero(rows.weights))
        task = Task(rows, self._objective(), self.n_frequencies, seed)
        if self.piecewise is True and hasattr(rows.X, "tocsr"):
            raise ValueError(
                'piecewise must be False or "auto" for sparse X, got True: codes are dense.'
            )
        recipes = possible_recipes(rows.X, self.piecewise, self.alpha)
        is_given = len(recipes) == 1
        if rows.n_samples < FEWEST_ROWS_OF_A_CHOICE:
            recipes = [usual_recipe(recipes)]
        if is_given or rows.n_samples < FEWEST_ROWS_OF_A_TRIAL:
            self._store(train(task, recipes[0], report), recipes[0])
            return
        # On large samples a descent finds slopes that are as good.
        lines = [linear_trial(task)] if rows.n_samples <= LARGE_SAMPLE else []
        best = best_trial(trials_of(task, recipes, report, [line.scores for line in lines]))
        found = train(task, best.recipe, report)
        straight = [linear_model(task, line.penalty) for line in lines]
        model = best.blend.model(found.model, *straight)
        self._store(Trained(model, found.columns), best.recipe)

    def _store(self, found: Trained, recipe: Recipe) -> None:
        self._trained = found
        names = getattr(self, "feature_names_in_", ()) if self._encoder is None else ()
        self.model_ = folded_model(*found, names=names, **self._label_parts())
        self.piecewise_, self.alpha_ = recipe
        self.frequencies_, self.cosines_, self.sines_, self.linear_, self.intercept_ = found.model

    def _certify(self, split: _Split, fresh: SampleSummary | None) -> None:
        """Set ``certificate_`` from the rows held out, or delete that of an earlier fit."""
        if hasattr(self, "certificate_"):
            del self.certificate_
        if fresh is None:
            return
        predictor: Any = copy.copy(self)
        if split.encoder is None:
            # Validated rows have no names, and scikit-learn would warn about that.
            vars(predictor).pop("feature_names_in_", None)
        self.certificate_ = prediction_certificate(
            predictor,
            taken(split.block.X, split.held_out),
            np.asarray(split.block.y)[split.held_out],
            FreshRows(
                fresh,
                self._summary,
                is_split=True,
                group=split.kinship.group,
                period=split.kinship.period,
            ),
            epsilon=self.epsilon,
            duplicates=self.duplicates,
        )

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        # Arrays are checked while they are in the cache. If something is wrong, they are read once
        # more below, for the message.
        if self._encoder is None and is_plain(X, self) and not self.model_.is_wide:
            scores = self.model_.unchecked_scores(X, limit_of(X, self))
            if not np.isnan(scores).any():
                return scores
        return self.model_.unchecked_scores(in_memory(self._numbers(X)))

    def _lazily(self, X: Any, method: str) -> Any:
        """Return a method of this predictor on a Dask collection, computed block by block."""
        check_is_fitted(self)
        return lazily_predicted(self, X, method, self._used)

    def _numbers(self, X: Any) -> Any:
        """Return validated rows as numbers. Data frames are encoded as in the fit."""
        if self._encoder is not None:
            return encoded_rows(self, self._encoder, X)
        check_no_text(X)
        return validated(X, self, reset=False)
