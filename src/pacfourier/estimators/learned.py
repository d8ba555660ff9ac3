"""What the maps learned from labels share: one pass, then posteriors for free."""

import copy
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.core.alignment.summary import SampleSummary, sample_summary
from pacfourier.core.alignment.sums import AlignmentSums, alignment_sums, class_balanced_losses
from pacfourier.core.alignment.targets import LABELS, ClassTarget, Target, target_of
from pacfourier.core.phases import PRECISIONS
from pacfourier.core.prior.frequencies import DRAW_STREAM
from pacfourier.data.labels import (
    check_pairs,
    check_same_classes,
    dense_labels,
    positive_weights,
    show_classes,
    warn_of_many_classes,
)
from pacfourier.data.samples import Block, adopt, read_sample
from pacfourier.estimators.base import FourierMap
from pacfourier.estimators.parameters import check_count, check_option
from pacfourier.estimators.priors import prior_pool, prior_source
from pacfourier.pacbayes.certificate import certificate_of
from pacfourier.pacbayes.draws import check_draw, draw_frequencies
from pacfourier.pacbayes.evidence import alignment_evidence, deployed_weights

# Up to this many multiplications double precision takes a blink, and precision="auto" takes it.
SMALL_WORK = 10**9


class Learned(NamedTuple):
    """What is learned of data: how their labels are coded, their sums, their past."""

    target: Target
    sums: AlignmentSums
    summary: SampleSummary

    def merge(self, other):
        """Return what is learned of both; labels must be coded alike."""
        sums, summary = self.sums.merge(other.sums), self.summary.merge(other.summary)
        merged = Learned(self.target.merge(other.target), sums, summary)
        # Weights may be equal within blocks and differ between them.
        return merged.weighted() if sums.is_weighted else merged

    def weighted(self):
        """Return the same, of samples some of which count more than others."""
        return self._replace(summary=replace(self.summary, is_weighted=True))


class LearnedFourierMap(FourierMap, ABC):
    """Candidates from the prior, losses from the labels, kept frequencies from a posterior.

    A subclass says how losses become a posterior, in ``_posterior``, and which of its
    parameters that takes, in ``_posterior_parameters``.
    """

    _posterior_parameters = ("n_frequencies", "draw", "class_weight")

    @abstractmethod
    def _posterior(self):
        """Return the posterior over the candidates, from ``selection_losses_``."""

    def _check_parameters(self):
        """Raise ValueError on a parameter out of its range, before any work."""
        check_count("n_frequencies", self.n_frequencies)
        check_count("n_candidates", self.n_candidates)
        check_draw(self.draw, self.n_frequencies, self.n_candidates)
        check_option("target_type", self.target_type, LABELS)
        check_option("precision", self.precision, ("auto", *PRECISIONS))

    def fit(self, X, y, sample_weight=None):
        """Learn the posterior in one pass over the data, and draw the frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative importance of each sample; only ratios matter to the losses.

        Returns
        -------
        self : object
        """
        return self._learn((X, y, sample_weight), None, reset=True)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add data: the result is that of ``fit`` on all data seen so far.

        A bandwidth that is computed from data ("scale", "median") is that of the first batch.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)
        classes : array-like of shape (n_classes,), default=None
            Every class that may come; read at the first call. None means those of the first
            batch.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        data, is_first = (X, y, sample_weight), not hasattr(self, "sums_")
        return self._learn(data, classes, reset=is_first)

    def merge(self, other):
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
                "n_candidates, spectrum, gamma, sampling and random_state, an integer, "
                f"got {self} and {other}."
            )
        if type(self.target_) is not type(other.target_):
            raise ValueError("merge needs two estimators with the same kind of labels.")
        target = self.target_.merge(other.target_)
        recoded = other.sums_.recoded(self.target_.recoder(other.target_))
        learned = self._learned().merge(Learned(target, recoded, other.summary_))
        return copy.copy(self)._accept(learned)

    def redraw(self, **parameters):
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
        unknown = sorted(set(parameters) - set(self._posterior_parameters))
        if unknown:
            raise ValueError(
                f"redraw takes {self._posterior_parameters}, got {unknown}: "
                "the others need a new fit."
            )
        redrawn = copy.copy(self).set_params(**parameters)
        redrawn._check_parameters()
        return redrawn._choose_frequencies()

    def certificate(self, epsilon=0.05, *, bound="auto", of="deployed"):
        """Return an upper bound on the alignment loss, and whether its assumptions hold.

        No data are needed. The bound holds for all posteriors at once, so every parameter of the
        posterior may be tuned on the sample, except beta for ``localised`` and mu for
        ``f_divergence``. The prior may not be tuned on the sample. Name the bound in advance: the
        smallest of several calls is not a certificate, while "auto" pays for its choice.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample, that the bound fails.
        bound : str or BoundRecord, default="auto"
            Name of a bound of ``pacfourier.bounds``, or a bound of your own. "auto" takes
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
        posterior, constants = self.posterior_, self._bound_constants()
        if of == "deployed":
            posterior = deployed_weights(self.kept_, self.frequency_weights_, len(posterior))
            # The kept frequencies are not a Gibbs posterior.
            constants.pop("inverse_temperature", None)
        return certificate_of(
            posterior,
            alignment_evidence(self.sums_, self.target_, constants=constants),
            sums=self.sums_,
            target=self.target_,
            summary=self.summary_,
            prior_source=self.prior_source_,
            epsilon=epsilon,
            bound=bound,
            of=of,
        )

    @abstractmethod
    def _bound_constants(self):
        """Return a new dictionary of the constants that bounds on this kind of posterior need."""

    def _width(self):
        """Return the effective number of candidates that "ess" asks of the posterior."""
        return min(2 * self.n_frequencies, max(len(self.pool_) / 2, 1))

    def _learn(self, data, classes, *, reset):
        self._check_parameters()
        trial = copy.copy(self)
        sample = read_sample(trial, data, reset=reset)
        if reset:
            trial.prior_source_ = prior_source(self)
            if classes is None:
                shown = sample.witnesses(self.target_type)
                target = target_of(shown.labels, self.target_type)
                warn_of_many_classes(target, shown.n_samples, self.target_type)
            else:
                target = target_of(np.unique(classes), self.target_type, classes)
            pool = prior_pool(sample, self, self.n_candidates)
        else:
            check_same_classes(self.target_, classes)
            target, pool = self.target_, self.pool_
        learned = sample.reduce(
            partial(learned_of, target=target, pool=pool, precision=self.precision),
            Learned.merge,
            thinned=Learned.weighted,
        )
        if not reset:
            learned = self._learned().merge(learned)
        elif learned.sums.n_samples < 2:
            raise ValueError("X must have 2 samples of positive weight at least, got 1.")
        check_pairs(learned.sums)
        trial.pool_ = pool
        return adopt(self, trial._accept(learned))

    def _block(self, X, y, sample_weight=None, *, reset, fewest):
        """Validate rows, and leave out those without weight."""
        X, y = self._validate(
            X, y, reset=reset, multi_output=True, ensure_min_samples=max(fewest, 1)
        )
        rows, y, weights = positive_weights(X, dense_labels(y), sample_weight, fewest)
        is_weighted = rows.shape[0] < X.shape[0] or (weights is not None and np.ptp(weights) > 0)
        return Block(rows, y, weights, is_weighted)

    def _learned(self):
        return Learned(self.target_, self.sums_, self.summary_)

    def _accept(self, learned):
        self.target_, self.sums_, self.summary_ = learned
        return self._choose_frequencies()

    def _choose_frequencies(self):
        """Compute losses and posterior from the sums, and keep some frequencies."""
        self.losses_ = self.sums_.losses(self.target_.agreement(self.sums_.totals))
        self.selection_losses_ = self.losses_
        show_classes(self, self.target_)
        if self.class_weight and isinstance(self.target_, ClassTarget):
            self.selection_losses_ = class_balanced_losses(self.sums_)
        self.posterior_ = self._posterior()
        self.kept_, self.frequency_weights_ = draw_frequencies(
            self.posterior_, self.n_frequencies, self.draw, self.pool_.stream(DRAW_STREAM)
        )
        self.frequencies_ = self.pool_[self.kept_]
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def learned_of(block, target, pool, precision):
    """Return what a block of samples teaches of a pool of frequencies."""
    observed = target.observe(block.y)
    if precision == "auto":
        precision = working_precision(block.X.shape[0], pool)
    sums = alignment_sums(
        block.X, block.y, target, pool, sample_weight=block.weights, precision=precision
    )
    summary = sample_summary(block.X, is_weighted=block.is_weighted)
    return Learned(observed, sums, summary)


def working_precision(n_samples, pool):
    """Return "double" where that costs nothing, else "single"."""
    return "double" if n_samples * len(pool) * pool.n_features <= SMALL_WORK else "single"
