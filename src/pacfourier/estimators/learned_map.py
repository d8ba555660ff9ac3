"""What Fourier maps learned in one pass share: read blocks, reduce to sums, choose a posterior.

A fit has three steps. *Read* the data into validated blocks of rows. *Reduce* the blocks to sums
over the samples. *Choose* a posterior and the frequencies to keep, from the sums alone.
"""

import copy
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.bounds import BoundRecord
from pacfourier.core.alignment.summary import SampleSummary, sample_summary
from pacfourier.core.alignment.sums import (
    AlignmentSums,
    alignment_sums,
    balanced_losses,
    check_pairs,
    target_losses,
)
from pacfourier.core.alignment.targets import (
    Target,
    distinct_labels,
    encoded,
    target_of,
    target_type_of,
)
from pacfourier.core.precision import PRECISIONS, Precision
from pacfourier.core.prior.frequencies import DRAW_STREAM, FrequencyPool
from pacfourier.data.reservoir import Reservoir, reservoir_of
from pacfourier.data.samples import Block, learned_rows
from pacfourier.estimators.base import (
    AnySample,
    SupervisedFourierMap,
    all_or_nothing,
    check_count,
    check_option,
    check_same_classes,
    prior_pool,
    prior_source,
    read_sample,
    set_classes,
    warn_of_many_classes,
)
from pacfourier.estimators.complementary import complementary_frequencies
from pacfourier.pacbayes.assumptions import Duplicates
from pacfourier.pacbayes.certificate import Certificate, certificate_of
from pacfourier.pacbayes.evidence import (
    Evidence,
    alignment_evidence,
    certified_weights,
    default_bound,
)
from pacfourier.pacbayes.posteriors import (
    DRAWS_FROM_ROWS,
    Draw,
    Posterior,
    PosteriorRequest,
    PosteriorRule,
    check_draw,
    draw_frequencies,
)

# Up to this many multiplications precision="auto" is double, because it takes no time.
SMALL_WORK = 10**9
# Failure probability of the certificate that beta="bound" minimises.
_EPSILON = 0.05


class _Learned(NamedTuple):
    """The result of *reduce*.

    Attributes
    ----------
    target : Target
        How labels are coded.
    sums : AlignmentSums
        Sums over the samples, from which the losses are computed.
    summary : SampleSummary
        Statistics of the samples, from which certificates check their assumptions.
    rows : Reservoir or None
        A bounded part of the rows. Only the draw "complementary" needs them.
    """

    target: Target
    sums: AlignmentSums
    summary: SampleSummary
    rows: Reservoir | None = None

    def merge(self, other: Self) -> "_Learned":
        """Return the result for both data sets. Their labels must be coded in the same way."""
        sums, summary = self.sums.merge(other.sums), self.summary.merge(other.summary)
        rows = None
        if self.rows is not None and other.rows is not None:
            rows = self.rows.merge(other.rows)
        merged = _Learned(self.target.merge(other.target), sums, summary, rows)
        # Weights may be equal within each block and differ between blocks.
        return merged.weighted() if sums.is_weighted else merged

    def weighted(self) -> "_Learned":
        """Return the same result, marked as coming from samples with unequal weights."""
        return self._replace(summary=replace(self.summary, is_weighted=True))


class _Choice(NamedTuple):
    """The result of *choose*.

    Attributes
    ----------
    losses : array of shape (n_candidates,)
        The losses of the paper.
    selection_losses : array of shape (n_candidates,)
        The losses from which the posterior is computed.
    posterior : Posterior
        The weights of the candidates.
    kept : array of shape (n_frequencies,)
        Indices of the kept candidates.
    weights : array of shape (n_frequencies,)
        Weights of the kept candidates in the kernel of the map.
    """

    losses: FloatArray
    selection_losses: FloatArray
    posterior: Posterior
    kept: IntArray
    weights: FloatArray


class LearnedFourierMap(SupervisedFourierMap):
    """Base class of maps that choose among candidate frequencies by labels.

    A subclass sets ``_rule`` to its posterior, a dataclass whose fields are parameters of the
    estimator (see ``PosteriorRule``), and defines ``__init__``.
    """

    _rule: ClassVar[Callable[..., PosteriorRule]]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the posterior in one pass over the data, and choose the frequencies to keep.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
            The samples.
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of each sample. Only ratios of weights matter. There is no
            certificate if the weights are unequal.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._learn((X, y, sample_weight), None, is_first=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of data.

        The result is the same as that of ``fit`` on all batches together, with one exception: if
        ``gamma`` is "scale" or "median", it is computed from the first batch only.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
            The samples.
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)
            The labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that can occur. Only needed in the first call, and only if the first batch
            does not contain them all.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weight of each sample, as in ``fit``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        is_first = not hasattr(self, "sums_")
        return self._learn((X, y, sample_weight), classes, is_first=is_first)

    def merge(self, other: Self) -> Self:
        """Return a new estimator, the same as if it were fitted on the data of both.

        Use it to fit parts of the data in separate processes.

        Parameters
        ----------
        other : estimator
            An estimator of the same class, fitted on other data with the same parameters and the
            same integer as ``random_state``.

        Returns
        -------
        merged : estimator
            A new estimator. Neither of the two is changed.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if type(other) is not type(self) or self.pool_ != other.pool_:
            raise ValueError(
                "merge needs two estimators over the same candidates: the same class, "
                "n_candidates, kernel and gamma, and the same integer as "
                f"random_state, got {self} and {other}."
            )
        mine, theirs = self._target, other._target
        if not (isinstance(mine, type(theirs)) or isinstance(theirs, type(mine))):
            raise ValueError(
                "merge needs two estimators with the same kind of labels, got "
                f"{type(mine).__name__} and {type(theirs).__name__}: fit both with the same "
                "target_type."
            )
        recoded = other.sums_.recoded(mine.recoder(theirs))
        others = _Learned(mine.merge(theirs), recoded, other._summary, other._rows)
        return copy.copy(self)._keep(self._learned().merge(others))

    def redraw(self, **parameters: Any) -> Self:
        """Return a new estimator with another posterior or draw, without a pass over the data.

        Parameters
        ----------
        **parameters
            New values of ``n_frequencies``, ``draw``, ``class_weight`` and the parameters of the
            posterior: ``beta``, or ``rho`` and ``mu``. ``draw="complementary"`` needs a fit with
            this draw.

        Returns
        -------
        redrawn : estimator
            A new estimator. This one is not changed.
        """
        check_is_fitted(self)
        allowed = ("n_frequencies", "draw", "class_weight", *self._rule_parameters())
        unknown = sorted(set(parameters) - set(allowed))
        if unknown:
            raise ValueError(
                f"redraw takes {allowed}, got {unknown}. To change other parameters, fit again."
            )
        redrawn, learned = copy.copy(self).set_params(**parameters), self._learned()
        redrawn._check_parameters()
        return redrawn._keep(learned)

    def certificate(
        self,
        epsilon: float = 0.05,
        *,
        bound: str | BoundRecord = "auto",
        of: str = "deployed",
        duplicates: Duplicates = None,
    ) -> Certificate:
        """Return an upper bound on the alignment loss, and the state of its assumptions.

        No data are needed. The bound holds for every posterior at once, so you may tune the
        parameters of the posterior on the sample, except beta for the bound ``localised`` and mu
        for the bound ``f_divergence``. You may not tune the prior. Choose the bound in advance: the
        smallest value of several calls is not a certificate. "auto" accounts for its choice.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample, that the bound fails.
        bound : str or BoundRecord, default="auto"
            Name of a bound in ``pacfourier.bounds``, or a bound of your own. "auto" uses
            ``unexpected_bernstein``. For labels declared binary it uses the better of this and
            ``first_order``, each at epsilon / 2, and for multilabel y it uses ``catoni_grid``.
            "anytime" holds at all numbers of samples at once, so you may add data and look again
            until you like the value.
        of : {"deployed", "posterior"}, default="deployed"
            Which kernel to certify: that of the kept frequencies, which ``transform`` uses, or that
            of the whole posterior, which ``kernel_matrix`` uses.
        duplicates : {None, "genuine"}, default=None
            What repeated rows are. Above 1 % of them the value is refused, unless you declare that
            they are "genuine": independent draws of a distribution that repeats values, not copies.

        Returns
        -------
        certificate : Certificate
            ``certificate.value`` is the bound. If an assumption is violated, ``value`` raises an
            error that says how to fix it.
        """
        check_is_fitted(self)
        constants = dict(self._constants)
        if of == "deployed":
            # The weights of the kept frequencies alone are not a Gibbs posterior.
            constants.pop("inverse_temperature", None)
        return certificate_of(
            certified_weights(of, self.posterior_, self.kept_, self.frequency_weights_),
            alignment_evidence(self.sums_, self._target, constants=constants),
            sums=self.sums_,
            target=self._target,
            summary=self._summary,
            prior_source=self._prior_source,
            epsilon=epsilon,
            bound=bound,
            of=of,
            duplicates=duplicates,
        )

    @classmethod
    def _rule_parameters(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls._rule))  # type: ignore[arg-type]

    def _posterior_rule(self) -> PosteriorRule:
        parameters = {name: getattr(self, name) for name in self._rule_parameters()}
        return type(self)._rule(**parameters)

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid, before the data are read."""
        check_count("n_frequencies", self.n_frequencies)
        check_count("n_candidates", self.n_candidates)
        check_draw(self.draw, self.n_frequencies, self.n_candidates)
        check_option("class_weight", self.class_weight, ("balanced", None))
        check_option("precision", self.precision, ("auto", *PRECISIONS))
        target_type_of(self.target_type)
        self._posterior_rule().check()

    def _learn(self, data: Any, classes: Any, *, is_first: bool) -> Self:
        """Read, reduce and choose. After an error the estimator is as it was before."""
        self._check_parameters()
        with all_or_nothing(self) as draft:
            sample = read_sample(draft, learned_rows, data, reset=is_first)
            if is_first:
                draft._prior_source = prior_source(self)
                draft._target = self._first_target(sample, classes)
                draft.pool_ = prior_pool(sample, self, self.n_candidates)
            else:
                check_same_classes(self._target, classes)
            seed = draft.pool_.seed if self.draw in DRAWS_FROM_ROWS else None
            learned = reduced(sample, draft._target, draft.pool_, self.precision, seed)
            if not is_first:
                learned = self._learned().merge(learned)
            _check_enough_samples(learned.sums)
            draft._keep(learned)
        return self

    def _first_target(self, sample: AnySample, classes: Any) -> Target:
        if classes is not None:
            return target_of(np.unique(classes), self.target_type, classes)
        # At this level, a warning shows the line of the user that calls fit.
        return shown_target(sample, self.target_type, stacklevel=5)[0]

    def _learned(self) -> _Learned:
        return _Learned(self._target, self.sums_, self._summary, self._rows)

    def _keep(self, learned: _Learned) -> Self:
        """Choose from what was learned, and store both as fitted attributes."""
        choice = _choose(
            learned,
            self.pool_,
            self._posterior_rule(),
            n_frequencies=self.n_frequencies,
            draw=self.draw,
            is_balanced=self.class_weight is not None,
        )
        self._target, self.sums_, self._summary, self._rows = learned
        set_classes(self, self._target)
        self.losses_, self.selection_losses_ = choice.losses, choice.selection_losses
        self.posterior_, self._constants = choice.posterior.weights, choice.posterior.constants
        if choice.posterior.inverse_temperature is not None:
            self.inverse_temperature_ = choice.posterior.inverse_temperature
        self.kept_, self.frequency_weights_ = choice.kept, choice.weights
        self.frequencies_ = self.pool_[self.kept_]
        return self


def shown_target(sample: AnySample, target_type: Any, *, stacklevel: int) -> tuple[Target, int]:
    """Return the target of the labels of a sample, and the number of samples."""
    shown = sample.witnesses(target_type_of(target_type))
    target = target_of(shown.labels, target_type)
    warn_of_many_classes(target, shown.n_samples, target_type, stacklevel=stacklevel + 1)
    return target, shown.n_samples


def reduced(
    sample: AnySample, target: Target, pool: Any, precision: str, row_seed: int | None = None
) -> _Learned:
    """Reduce a sample to sums, block by block. With a seed, keep a bounded part of the rows."""
    of_block = partial(learned_of, target=target, pool=pool, precision=precision, row_seed=row_seed)
    learned: _Learned = sample.reduce(of_block, _Learned.merge, thinned=_Learned.weighted)
    return learned


def learned_of(
    block: Block, target: Target, pool: Any, precision: str, row_seed: int | None = None
) -> _Learned:
    """Return the sums and the summary of one block, for a pool of frequencies."""
    observed = target.observe(distinct_labels(block.y))
    chosen: Any = working_precision(block.X.shape[0], pool) if precision == "auto" else precision
    sums = alignment_sums(
        block.X, block.y, target, pool, sample_weight=block.weights, precision=chosen
    )
    codes = encoded(block.y, target)
    summary = sample_summary(block.X, codes, is_weighted=block.is_weighted)
    rows = None if row_seed is None else reservoir_of(block, row_seed)
    return _Learned(observed, sums, summary, rows)


def working_precision(n_samples: int, pool: FrequencyPool) -> Precision:
    """Return "double" for small problems, where it takes no time, else "single"."""
    return "double" if n_samples * len(pool) * pool.n_features <= SMALL_WORK else "single"


def _check_enough_samples(sums: AlignmentSums) -> None:
    """Raise ValueError if fewer than two samples have a positive weight."""
    if sums.n_samples < 2:
        raise ValueError("X must have at least 2 samples of positive weight, got 1.")
    check_pairs(sums)


def _choose(
    learned: _Learned,
    pool: FrequencyPool,
    rule: PosteriorRule,
    *,
    n_frequencies: int,
    draw: Draw,
    is_balanced: bool,
) -> _Choice:
    """Choose a posterior over the candidates and the frequencies to keep, from the sums."""
    target, sums = learned.target, learned.sums
    losses = target_losses(sums, target)
    are_plain = not is_balanced or target.balance(sums.totals) is None
    selection_losses = losses if are_plain else balanced_losses(sums, target)

    # Evidence takes time and few rules ask for bounds, so it is computed on demand, and once.
    evidence: Callable[[], Evidence] = cache(partial(alignment_evidence, sums, target))
    request = PosteriorRequest(
        selection_losses,
        n_frequencies,
        sums.effective_samples,
        are_plain,
        lambda weights: default_bound(evidence(), weights, _EPSILON),
    )
    posterior = rule.posterior(request)
    together = partial(
        complementary_frequencies,
        learned.rows,
        pool,
        posterior.weights,
        selection_losses,
        n_frequencies,
        target=target,
        sums=sums,
        is_balanced=is_balanced,
    )
    rng = pool.stream(DRAW_STREAM)
    kept, weights = draw_frequencies(posterior.weights, n_frequencies, draw, rng, together)
    return _Choice(losses, selection_losses, posterior, kept, weights)
