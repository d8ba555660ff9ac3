"""Fourier features drawn from the continuous Gibbs posterior."""

import copy
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray
from pacfourier.bounds import BoundRecord
from pacfourier.core.alignment.gradients import (
    alignment_gradients,
    alignment_objective,
    alignment_tilts,
)
from pacfourier.core.alignment.sums import AlignmentSums, alignment_sums, target_losses
from pacfourier.core.alignment.targets import Target, TargetType, target_type_of
from pacfourier.core.phases import PRECISIONS
from pacfourier.core.sampling.particles import TemperedPosterior
from pacfourier.core.sampling.smc import Run, gibbs_run, pilot_schedule, systematic_indices
from pacfourier.data.samples import Block, labelled_rows
from pacfourier.estimators.base import (
    AnySample,
    SupervisedFourierMap,
    all_or_nothing,
    check_count,
    check_option,
    check_positive,
    drawn_seed,
    prior_source,
    prior_spectrum,
    read_sample,
    reporter,
    set_classes,
)
from pacfourier.estimators.learned import SMALL_WORK, reduced, shown_target
from pacfourier.pacbayes.assumptions import ladder_assumption, run_assumption
from pacfourier.pacbayes.certificate import Certificate, certificate_of
from pacfourier.pacbayes.evidence import alignment_evidence, deployed_weights, particle_log_prior
from pacfourier.spectra import Spectrum

# Streams of random numbers under a seed: what the pilot learns must not depend on the run's.
PILOT_STREAM, RUN_STREAM, KEEP_STREAM = 0, 1, 2
# A ladder needs fewer particles than a posterior.
PILOT_PARTICLES = 20
# Langevin moves per temperature.
N_MOVES = 5


class GibbsRFF(SupervisedFourierMap):
    r"""Fourier features drawn from the Gibbs posterior over all frequencies.

    ``PBRFF`` weighs candidates that the prior happened to draw. Here the frequencies move: they
    are a sample of :math:`q(\omega) \propto p(\omega)\, e^{-\beta \sqrt n \hat L(\omega)}` over the
    whole space (Letarte, Morvant and Germain, 2019, Equation 12), found by sequential Monte
    Carlo. Draws from the prior climb a ladder of temperatures; at each they are weighed,
    drawn anew and moved along the gradient of the alignment loss, by moves that leave the
    posterior of that temperature in place. Ladder and step sizes come from a pilot run with
    other random numbers, so that the certificate holds for the very frequencies that are kept,
    however well or badly the moves mix.

    It is slower than ``PBRFF`` (each move is two products with the data) and reaches much lower
    losses in many dimensions.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number D of kept frequencies; the map has 2 D columns.
    gamma : float or {"multiscale", "scale", "median"}, default="multiscale"
        Bandwidth: the RBF kernel is exp(-gamma ||x - x'||^2). "multiscale" puts ten bandwidths
        from 1e-7 to 1e2 into one prior, and particles move between them; "scale" is 1 /
        (n_features * variance of X); "median" is 1 / (2 m^2) for m the median distance.
    kernel : {"rbf"} or Spectrum, default="rbf"
        The kernel, by the name of its Fourier transform: Gaussian, or an object of
        ``pacfourier.spectra`` that is RBF or a mixture of RBFs.
    beta : float, default=20.0
        Inverse temperature: how far the posterior moves from the prior. The certificate holds
        for any value, but not for the best of several fits.
    target_type : {"auto", "binary", "multiclass", "multilabel", "continuous"}, default="auto"
        What y holds. "auto" reads it off y: integers and strings are classes, numbers with a
        fractional part are continuous, a matrix of zeros and ones holds label sets.
    n_particles : int, default=100
        Number of frequencies that climb together. D of them are kept, drawn by their weights; at
        least D climb, and then all are kept, with their weights. Few particles may miss the
        best bandwidth.
    n_steps : int, default=100
        Number of temperatures from the prior to the posterior. More steps follow the posterior
        more closely, and lower the divergence that the certificate pays.
    class_weight : {"balanced", None}, default="balanced"
        Whether all classes weigh the same in the loss that is sampled, and agreements have mean
        zero. ``losses_`` and the certificate are the paper's either way.
    precision : {"auto", "single", "double"}, default="auto"
        Precision of the phases while particles move. "auto" is single, or double where that costs
        nothing. The certificate is computed in double precision.
    random_state : int, RandomState or None, default=None
        With an integer the frequencies are the same for any number of threads. Other chunks of
        Dask collections move them by rounding, which moves that are accepted or not amplify.
    verbose : bool, default=False
        Whether to write a line to standard error at each temperature.

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        The kept frequencies.
    frequency_weights_ : array of shape (n_frequencies,)
        Their weights in the deployed kernel, summing to one.
    kept_ : array of shape (n_frequencies,)
        Their indices among the particles.
    pool_ : array of shape (n_particles, n_features)
        All particles.
    posterior_ : array of shape (n_particles,)
        The weights of the particles, summing to one.
    losses_ : array of shape (n_particles,)
        Their alignment losses, as the paper defines them.
    inverse_temperature_ : float
        The tau of the posterior, beta sqrt(n).
    log_evidence_ : float
        Estimate of ln Z, Z the prior mean of exp(-tau L); the estimate of Z is unbiased.
    keep_offset_ : float
        The random number by which particles are kept.
    log_prior_ : array of shape (n_particles,)
        Logarithms of what each particle stands for in the prior; for the certificate.
    schedule_ : Schedule
        The ladder and the step sizes that the pilot found.
    classes_ : array of shape (n_classes,)
        The classes, where y holds classes.
    sums_ : AlignmentSums
        What was learned of the data.
    target_ : Target
        How labels are coded.
    summary_ : SampleSummary
        What the sample shows of its past, for the certificate.
    n_features_in_ : int

    See Also
    --------
    PBRFF : The posterior over candidates that do not move.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(GibbsRFF(10, random_state=0), LogisticRegression(C=100))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        gamma: float | str = "multiscale",
        kernel: str | Spectrum = "rbf",
        beta: float = 20.0,
        target_type: str | TargetType = "auto",
        n_particles: int = 100,
        n_steps: int = 100,
        class_weight: str | None = "balanced",
        precision: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.kernel = kernel
        self.beta = beta
        self.target_type = target_type
        self.n_particles = n_particles
        self.n_steps = n_steps
        self.class_weight = class_weight
        self.precision = precision
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
            The blocks of a collection are kept in the memory of the workers: each move is two
            passes over them.
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)

        Returns
        -------
        self : object
        """
        self._check_parameters()
        with all_or_nothing(self) as draft:
            sample = read_sample(draft, labelled_rows, (X, y), reset=True, persist=True)
            draft._target, n_samples = shown_target(sample, self.target_type, stacklevel=3)
            draft._climb(sample, n_samples)
            learned = reduced(sample, draft._target, draft.pool_, "double")
            _, draft.sums_, draft._summary = learned
            draft.losses_ = target_losses(learned.sums, draft._target)
        return self

    def _climb(self, sample: AnySample, n_samples: int) -> None:
        """Sample the posterior, and keep some of its particles."""
        set_classes(self, self._target)
        seed = drawn_seed(self.random_state)
        self._prior_source = prior_source(self)
        posterior = self._tempered_posterior(sample, n_samples, seed)
        run = self._run(posterior, sample.n_features, seed)
        self.inverse_temperature_ = posterior.inverse_temperature
        self.log_evidence_ = run.log_evidence
        self._log_prior = particle_log_prior(
            run.log_weights, run.particles.potentials, run.log_evidence
        )
        self.pool_ = posterior.frequencies(run.particles)
        self.posterior_ = np.exp(run.log_weights)
        self._keep_offset = np.random.default_rng([seed, KEEP_STREAM]).random()
        self._keep(self._keep_offset)

    def redraw(self, *, n_frequencies: int) -> Self:
        """Return a new estimator that keeps another number of the same particles.

        Parameters
        ----------
        n_frequencies : int
            At most the number of particles.

        Returns
        -------
        redrawn : GibbsRFF
        """
        check_is_fitted(self)
        redrawn = copy.copy(self).set_params(n_frequencies=n_frequencies)
        check_count("n_frequencies", n_frequencies)
        if n_frequencies > len(self.posterior_):
            raise ValueError(
                f"n_frequencies must be at most the {len(self.posterior_)} particles of this fit, "
                f"got {n_frequencies}."
            )
        redrawn._keep(self._keep_offset)
        return redrawn

    def certificate(
        self, epsilon: float = 0.05, *, bound: str | BoundRecord = "auto", of: str = "deployed"
    ) -> Certificate:
        """Return an upper bound on the alignment loss of the map's kernel.

        No data are needed. It holds for the particles themselves, with probability over sample
        and run, whether or not the run has reached the posterior. Fit once: the best of several
        fits, by seed or beta, is not a certificate.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample and the run, that the bound fails.
        bound : str or BoundRecord, default="auto"
            Name of a bound of ``pacfourier.bounds`` that rests on an exponential moment, or such
            a bound of your own. "auto" takes the better of ``kl`` and ``unexpected_bernstein``
            (``catoni_grid`` for label sets), each at epsilon / 2; for labels declared binary also
            ``first_order``, each at epsilon / 3.
        of : {"deployed", "posterior"}, default="deployed"
            Whether to certify the kernel of the kept frequencies, or of all particles.

        Returns
        -------
        certificate : Certificate
            If an assumption is violated, its ``value`` raises an error that says how to fix it.
        """
        check_is_fitted(self)
        check_option("of", of, ("deployed", "posterior"))
        weights = self.posterior_
        if of == "deployed":
            weights = deployed_weights(self.kept_, self.frequency_weights_, len(weights))
        return certificate_of(
            weights,
            alignment_evidence(self.sums_, self._target, log_prior=self._log_prior),
            sums=self.sums_,
            target=self._target,
            summary=self._summary,
            prior_source=self._prior_source,
            epsilon=epsilon,
            bound=bound,
            of=of,
            more_assumptions=(ladder_assumption(), run_assumption()),
        )

    def _check_parameters(self) -> None:
        check_count("n_frequencies", self.n_frequencies)
        check_count("n_particles", self.n_particles)
        check_positive("beta", self.beta)
        check_count("n_steps", self.n_steps)
        check_option("class_weight", self.class_weight, ("balanced", None))
        target_type_of(self.target_type)
        check_option("precision", self.precision, ("auto", *PRECISIONS))

    def _n_climbing(self) -> int:
        return max(self.n_particles, self.n_frequencies)

    def _keep(self, offset: float) -> None:
        """Keep all particles with their weights, or a draw of equal weights."""
        n_particles = len(self.posterior_)
        if self.n_frequencies == n_particles:
            self.kept_, self.frequency_weights_ = np.arange(n_particles), self.posterior_
        else:
            self.kept_ = systematic_indices(self.posterior_, offset, self.n_frequencies)
            self.frequency_weights_ = np.full(self.n_frequencies, 1 / self.n_frequencies)
        self.frequencies_ = self.pool_[self.kept_]

    def _tempered_posterior(
        self, sample: AnySample, n_samples: int, seed: int
    ) -> TemperedPosterior:
        spectrum = prior_spectrum(sample, self, np.random.default_rng(seed))
        precision = self.precision
        if precision == "auto":
            work = n_samples * sample.n_features * self._n_climbing()
            precision = "double" if self.n_steps * work <= SMALL_WORK else "single"
        loss = sample_objective(
            sample, self._target, balance=self.class_weight is not None, precision=precision
        )
        scales, weights = spectrum.gaussian_components()
        return TemperedPosterior(loss, self.beta * np.sqrt(n_samples), scales, weights)

    def _run(self, posterior: TemperedPosterior, n_features: int, seed: int) -> Run:
        self.schedule_ = pilot_schedule(
            posterior,
            PILOT_PARTICLES,
            n_features,
            self.n_steps,
            N_MOVES,
            np.random.default_rng([seed, PILOT_STREAM]),
        )
        return gibbs_run(
            posterior,
            self.schedule_,
            self._n_climbing(),
            n_features,
            N_MOVES,
            np.random.default_rng([seed, RUN_STREAM]),
            report=reporter(self),
        )


def sample_objective(
    sample: AnySample, target: Target, **options: Any
) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the alignment loss of a sample and its gradient, as a function of frequencies."""
    if sample.whole is not None:
        return alignment_objective(sample.whole.X, sample.whole.y, target, **options)
    return partial(blocked_objective, sample, target, **options)


def blocked_objective(
    sample: AnySample, target: Target, frequencies: FloatArray, *, balance: bool, precision: str
) -> tuple[FloatArray, FloatArray]:
    """Return losses and gradients as ``alignment_objective`` does, by two passes over blocks."""
    options: dict[str, Any] = {"target": target, "frequencies": frequencies, "precision": precision}
    sums = sample.reduce(partial(_sums, **options), AlignmentSums.merge)
    losses, tilts = alignment_tilts(sums, target, balance=balance)
    return losses, sample.reduce(partial(_gradients, tilts=tilts, **options), operator.add)


def _sums(block: Block, **options: Any) -> AlignmentSums:
    return alignment_sums(block.X, block.y, **options)


def _gradients(block: Block, **options: Any) -> FloatArray:
    return alignment_gradients(block.X, block.y, **options)
