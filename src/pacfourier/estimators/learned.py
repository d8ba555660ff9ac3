"""Fourier maps learned from labels in one pass over the data.

A fit is three steps. *Read* the data into a sample of validated blocks. *Reduce* the blocks to
sums over samples. *Choose* a posterior and the frequencies to keep, from the sums alone.
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
from pacfourier.core.alignment.targets import Target, target_of, target_type_of
from pacfourier.core.phases import PRECISIONS, Precision
from pacfourier.core.prior.frequencies import DRAW_STREAM, FrequencyPool
from pacfourier.data.samples import Block, labelled_rows
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
from pacfourier.pacbayes.certificate import Certificate, certificate_of
from pacfourier.pacbayes.evidence import (
    Evidence,
    alignment_evidence,
    default_bound,
    deployed_weights,
)
from pacfourier.pacbayes.posteriors import (
    Draw,
    Posterior,
    PosteriorRequest,
    PosteriorRule,
    check_draw,
    draw_frequencies,
)

# Up to this many multiplications double precision takes no time, and precision="auto" uses it.
SMALL_WORK = 10**9
# The failure probability of the certificate that beta="bound" makes small.
EPSILON = 0.05


class Learned(NamedTuple):
    """The result of *reduce*: how labels are coded, the sums, and a summary of the samples."""

    target: Target
    sums: AlignmentSums
    summary: SampleSummary

    def merge(self, other: Self) -> "Learned":
        """Return the result for both data sets, whose labels must be coded alike."""
        sums, summary = self.sums.merge(other.sums), self.summary.merge(other.summary)
        merged = Learned(self.target.merge(other.target), sums, summary)
        # Weights may be equal within blocks and differ between them.
        return merged.weighted() if sums.is_weighted else merged

    def weighted(self) -> "Learned":
        """Return the same, marked as coming from samples of unequal weights."""
        return self._replace(summary=replace(self.summary, is_weighted=True))


class Choice(NamedTuple):
    """The result of *choose*.

    Attributes
    ----------
    losses, selection_losses : arrays of shape (n_candidates,)
        The paper's losses, and those that the posterior is computed from.
    posterior : Posterior
    kept : array of shape (n_frequencies,)
        Indices of the kept candidates.
    weights : array of shape (n_frequencies,)
        Their weights in the deployed kernel.
    """

    losses: FloatArray
    selection_losses: FloatArray
    posterior: Posterior
    kept: IntArray
    weights: FloatArray


class LearnedFourierMap(SupervisedFourierMap):
    """Candidates from the prior, losses from the labels, kept frequencies from a posterior.

    A subclass names its posterior in ``_rule``, a dataclass whose fields are parameters of the
    estimator (see ``PosteriorRule``), and writes its ``__init__``.
    """

    _rule: ClassVar[Callable[..., PosteriorRule]]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the posterior in one pass over the data, and draw the frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative importance of each sample. The losses depend on ratios only.

        Returns
        -------
        self : object
        """
        return self._learn((X, y, sample_weight), None, is_first=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add data: the result is that of ``fit`` on all data seen so far.

        If ``gamma`` is computed from data ("scale" or "median"), the first batch decides it.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)
        classes : array-like of shape (n_classes,), default=None
            Every class that may come; needed in the first call only. None means the classes of
            the first batch.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        is_first = not hasattr(self, "sums_")
        return self._learn((X, y, sample_weight), classes, is_first=is_first)

    def merge(self, other: Self) -> Self:
        """Return a new estimator: the same as if fitted on the data of both.

        Parameters
        ----------
        other : estimator
            Fitted with the same parameters and ``random_state``, on other data.

        Returns
        -------
        merged : object
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if type(other) is not type(self) or self.pool_ != other.pool_:
            raise ValueError(
                "merge needs two estimators over the same candidates: the same class, "
                "n_candidates, kernel, gamma and sampling, and the same integer as "
                f"random_state, got {self} and {other}."
            )
        mine, theirs = self._target, other._target
        if not (isinstance(mine, type(theirs)) or isinstance(theirs, type(mine))):
            raise ValueError("merge needs two estimators with the same kind of labels.")
        recoded = other.sums_.recoded(mine.recoder(theirs))
        learned = self._learned().merge(Learned(mine.merge(theirs), recoded, other._summary))
        return copy.copy(self)._keep(learned)

    def redraw(self, **parameters: Any) -> Self:
        """Return a new estimator with another posterior or draw, without a pass over the data.

        Parameters
        ----------
        **parameters
            New values of ``n_frequencies``, ``draw``, ``class_weight`` and the parameters of the
            posterior.

        Returns
        -------
        redrawn : object
        """
        check_is_fitted(self)
        allowed = ("n_frequencies", "draw", "class_weight", *self._rule_parameters())
        unknown = sorted(set(parameters) - set(allowed))
        if unknown:
            raise ValueError(f"redraw takes {allowed}, got {unknown}: the others need a new fit.")
        redrawn = copy.copy(self).set_params(**parameters)
        redrawn._check_parameters()
        return redrawn._keep(self._learned())

    def certificate(
        self, epsilon: float = 0.05, *, bound: str | BoundRecord = "auto", of: str = "deployed"
    ) -> Certificate:
        """Return an upper bound on the alignment loss, and the state of its assumptions.

        No data are needed. The bound holds for every posterior, so all parameters of the
        posterior may be tuned on the sample, except the beta of ``localised`` and the mu of
        ``f_divergence``. The prior may not be tuned. Choose the bound in advance: the smallest
        of several calls is not a certificate, while "auto" pays for its choice.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample, that the bound fails.
        bound : str or BoundRecord, default="auto"
            Name of a bound of ``pacfourier.bounds``, or a bound of your own. "auto" uses
            ``unexpected_bernstein``; for labels declared binary the better of it and
            ``first_order``, each at epsilon / 2; for label sets ``catoni_grid``.
        of : {"deployed", "posterior"}, default="deployed"
            Whether to certify the kernel of the kept frequencies, or of the whole posterior.

        Returns
        -------
        certificate : Certificate
            If an assumption is violated, its ``value`` raises an error that says how to fix it.
        """
        check_is_fitted(self)
        check_option("of", of, ("deployed", "posterior"))
        weights, constants = self.posterior_, self._constants
        if of == "deployed":
            # The kept frequencies are not a Gibbs posterior.
            constants = {k: v for k, v in constants.items() if k != "inverse_temperature"}
            weights = deployed_weights(self.kept_, self.frequency_weights_, len(weights))
        return certificate_of(
            weights,
            alignment_evidence(self.sums_, self._target, constants=constants),
            sums=self.sums_,
            target=self._target,
            summary=self._summary,
            prior_source=self._prior_source,
            epsilon=epsilon,
            bound=bound,
            of=of,
        )

    @classmethod
    def _rule_parameters(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls._rule))  # type: ignore[arg-type]

    def _posterior_rule(self) -> PosteriorRule:
        parameters = {name: getattr(self, name) for name in self._rule_parameters()}
        return type(self)._rule(**parameters)

    def _check_parameters(self) -> None:
        """Raise ValueError if a parameter is out of its range, before any work."""
        check_count("n_frequencies", self.n_frequencies)
        check_count("n_candidates", self.n_candidates)
        check_draw(self.draw, self.n_frequencies, self.n_candidates)
        check_option("class_weight", self.class_weight, ("balanced", None))
        check_option("precision", self.precision, ("auto", *PRECISIONS))
        target_type_of(self.target_type)
        self._posterior_rule().check()

    def _learn(self, data: Any, classes: Any, *, is_first: bool) -> Self:
        """Read, reduce, choose; if anything fails, the estimator stays as it was."""
        self._check_parameters()
        with all_or_nothing(self) as draft:
            sample = read_sample(draft, labelled_rows, data, reset=is_first)
            if is_first:
                draft._prior_source = prior_source(self)
                draft._target = self._first_target(sample, classes)
                draft.pool_ = prior_pool(sample, self, self.n_candidates)
            else:
                check_same_classes(self._target, classes)
            learned = reduced(sample, draft._target, draft.pool_, self.precision)
            if not is_first:
                learned = self._learned().merge(learned)
            check_size(learned.sums)
            draft._keep(learned)
        return self

    def _first_target(self, sample: AnySample, classes: Any) -> Target:
        if classes is not None:
            return target_of(np.unique(classes), self.target_type, classes)
        # The warning points at the call of fit.
        return shown_target(sample, self.target_type, stacklevel=5)[0]

    def _learned(self) -> Learned:
        return Learned(self._target, self.sums_, self._summary)

    def _keep(self, learned: Learned) -> Self:
        """Choose from what was learned, and store both as fitted attributes."""
        choice = choose(
            learned,
            self.pool_,
            self._posterior_rule(),
            n_frequencies=self.n_frequencies,
            draw=self.draw,
            is_balanced=self.class_weight is not None,
        )
        self._target, self.sums_, self._summary = learned
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


def reduced(sample: AnySample, target: Target, pool: Any, precision: str) -> Learned:
    """Reduce a sample to sums, block by block."""
    of_block = partial(learned_of, target=target, pool=pool, precision=precision)
    learned: Learned = sample.reduce(of_block, Learned.merge, thinned=Learned.weighted)
    return learned


def learned_of(block: Block, target: Target, pool: Any, precision: str) -> Learned:
    """Return the sums and the summary of a block, over a pool of frequencies."""
    observed = target.observe(block.y)
    chosen: Any = working_precision(block.X.shape[0], pool) if precision == "auto" else precision
    sums = alignment_sums(
        block.X, block.y, target, pool, sample_weight=block.weights, precision=chosen
    )
    summary = sample_summary(block.X, is_weighted=block.is_weighted)
    return Learned(observed, sums, summary)


def working_precision(n_samples: int, pool: FrequencyPool) -> Precision:
    """Return "double" if that takes no time, else "single"."""
    return "double" if n_samples * len(pool) * pool.n_features <= SMALL_WORK else "single"


def check_size(sums: AlignmentSums) -> None:
    """Raise ValueError if fewer than two samples count."""
    if sums.n_samples < 2:
        raise ValueError("X must have at least 2 samples of positive weight, got 1.")
    check_pairs(sums)


def choose(
    learned: Learned,
    pool: FrequencyPool,
    rule: PosteriorRule,
    *,
    n_frequencies: int,
    draw: Draw,
    is_balanced: bool,
) -> Choice:
    """Choose a posterior over the candidates, and the frequencies to keep, from the sums."""
    target, sums, _ = learned
    losses = target_losses(sums, target)
    are_plain = not is_balanced or target.balance(sums.totals) is None
    selection_losses = losses if are_plain else balanced_losses(sums, target)

    # Computed only if a rule asks for bounds, and once.
    evidence: Callable[[], Evidence] = cache(partial(alignment_evidence, sums, target))
    request = PosteriorRequest(
        selection_losses,
        n_frequencies,
        sums.effective_samples,
        are_plain,
        lambda weights: default_bound(evidence(), weights, EPSILON),
    )
    posterior = rule.posterior(request)
    kept, weights = draw_frequencies(
        posterior.weights, n_frequencies, draw, pool.stream(DRAW_STREAM)
    )
    return Choice(losses, selection_losses, posterior, kept, weights)
