"""Fourier features sampled from the Gibbs posterior over all frequencies."""

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
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.core.alignment.sums import AlignmentSums, alignment_sums, target_losses
from pacfourier.core.alignment.targets import Target, TargetType, target_type_of
from pacfourier.core.precision import PRECISIONS
from pacfourier.core.sampling.particles import TemperedPosterior
from pacfourier.core.sampling.smc import gibbs_run, pilot_schedule, systematic_indices
from pacfourier.core.threads import single_threaded_blas
from pacfourier.data.holdout import Share, check_share, split_rows
from pacfourier.data.samples import Block, Sample, labelled_rows
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
from pacfourier.estimators.frozen_kernels import frozen_kernel
from pacfourier.estimators.learned_map import SMALL_WORK, reduced, shown_target
from pacfourier.pacbayes.assumptions import Duplicates, ladder_assumption, run_assumption
from pacfourier.pacbayes.certificate import Certificate, certificate_of
from pacfourier.pacbayes.evidence import alignment_evidence, certified_weights, particle_log_prior
from pacfourier.pacbayes.holdout import FreshRows, frozen_certificate
from pacfourier.spectra import Spectrum

# Streams of random numbers. The pilot has its own: it must not depend on the particles it serves.
PILOT_STREAM, RUN_STREAM, KEEP_STREAM, SPLIT_STREAM = 0, 1, 2, 3
# Temperatures and step sizes can be found with fewer particles than the posterior needs.
_PILOT_PARTICLES = 20
# Langevin moves per temperature.
_N_MOVES = 5


class GibbsRFF(SupervisedFourierMap):
    r"""Fourier features drawn from the Gibbs posterior over all frequencies.

    Use it for a tighter certificate than that of ``PBRFF`` on thousands of samples with many
    features. ``PBRFF`` can only choose among the candidates that the prior happened to draw; here
    the frequencies move, and reach much lower losses in many dimensions. The fit is slower: it
    makes many passes over the data.

    The frequencies are a sample of

    .. math:: q(\omega) \propto p(\omega)\, e^{-\beta \sqrt n \hat L(\omega)}

    (Letarte, Morvant and Germain, 2019, Equation 12), where p is the prior and :math:`\hat L` the
    alignment loss. They are found by sequential Monte Carlo. Particles, which are frequencies drawn
    from the prior, pass through a sequence of temperatures. At each temperature they are weighted,
    resampled if few of them carry most of the weight, and moved along the gradient of the loss. The
    moves leave the posterior of that temperature unchanged.

    A pilot run with other random numbers sets the temperatures and the step sizes. The certificate
    therefore holds for the frequencies that are kept, even if the run is too short to reach the
    posterior.

    That certificate pays for the distance from the prior, which is tens of nats. With ``certify``
    the fit holds rows out instead, learns from the others, and certifies the kept kernel on the
    held-out rows, at no such price. The trade-off: fewer rows are learned from, so the loss itself
    may be a little larger, and only the held-out rows count in the bound. It pays off if beta is
    large, where the price would be high. On MNIST 1 against 7 (9,102 rows), a third held out and
    ``beta=60`` certify 0.106, where all rows and the default certify 0.145.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number of frequencies to keep. The map has two columns per frequency.
    gamma : float or {"multiscale", "scale", "median"}, default="multiscale"
        Bandwidth of the kernel, as in the RBF kernel exp(-gamma ||x - x'||^2). A larger value
        makes the kernel narrower. Ignored if ``kernel`` is a ``Spectrum``.

        - "multiscale": the prior mixes ten bandwidths from 1e-7 to 1e2, and particles move
          between them.
        - "scale": 1 / (n_features * variance of X).
        - "median": 1 / (2 m^2), where m is the median distance between samples.

        A certificate needs "multiscale", a number that was chosen without this sample, or
        ``certify``.
    kernel : {"rbf"} or Spectrum, default="rbf"
        Kernel whose Fourier transform is the prior. A ``Spectrum`` must be an ``RBF`` or a mixture
        of RBFs from ``pacfourier.spectra``; it contains its own bandwidth.
    beta : float, default=20.0
        How far the posterior moves from the prior. A larger value gives more weight to the
        frequencies of smallest loss. The certificate holds for any value, but not for the best of
        several fits.
    target_type : str, default="auto"
        What y holds: "binary", "multiclass", "multilabel" or "continuous". "auto"
        infers it from y: integers and strings are classes, numbers with a fractional part are
        continuous, and a matrix of zeros and ones is multilabel.
        Declare "binary" if y can only have two values: the certificate may become smaller.
    n_particles : int, default=100
        Number of frequencies that are sampled together. ``n_frequencies`` of them are kept, drawn
        by their weights. If ``n_frequencies`` is equal or larger, that many are sampled and all are
        kept, with their weights. Too few particles may miss the best bandwidth.
    n_steps : int, default=100
        Number of temperatures between the prior and the posterior. More steps follow the posterior
        more closely, which lowers the divergence in the certificate, and take longer.
    class_weight : {"balanced", None}, default="balanced"
        "balanced" gives all classes the same weight in the loss that is sampled, and centres the
        agreement of two labels at zero. None uses the loss of the paper. The option only matters
        if y holds classes, and not for two classes of equal size. ``losses_`` and the certificate
        use the loss of the paper in both cases.
    certify : float, True or False, default=False
        Share of the rows to hold out for the certificate. True holds out a fifth, but at most
        10,000 rows. They are drawn at random before the fit, and nothing is learned from them.
        ``gamma`` may then be "scale" or "median". False learns from all rows, and the certificate
        is about these. X must be in memory.
    precision : {"auto", "single", "double"}, default="auto"
        Floating-point precision of the products of samples and frequencies while particles move.
        "auto" is double for small problems and single otherwise. The certificate is always
        computed in double precision.
    random_state : int, RandomState or None, default=None
        Seed of the particles and their moves. Pass an integer for reproducible results; they do
        not depend on the number of threads. For Dask collections they may depend on the chunks,
        because a rounding error can decide whether a move is accepted.
    verbose : bool, default=False
        Whether to write a line to standard error at each temperature.

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        The kept frequencies.
    frequency_weights_ : array of shape (n_frequencies,)
        Weights of the kept frequencies in the kernel of the map. They sum to one.
    kept_ : array of shape (n_frequencies,)
        Indices of the kept frequencies in ``pool_``.
    losses_ : array of shape (n_particles,)
        Alignment loss of each particle, as the paper defines it.
    posterior_ : array of shape (n_particles,)
        Weight of each particle. The weights sum to one.
    inverse_temperature_ : float
        The factor beta sqrt(n) of the loss in the posterior.
    log_evidence_ : float
        Estimate of the logarithm of the evidence, which is the prior mean of exp(-t L) for the
        inverse temperature t. The estimate of the evidence itself is unbiased.
    schedule_ : Schedule
        What the pilot run found, as two arrays of shape (n_steps,). ``schedule_.powers`` are the
        fractions of ``inverse_temperature_`` at which particles move, increasing to 1.
        ``schedule_.steps`` are the sizes of the moves.
    classes_ : array of shape (n_classes,)
        The classes. Only defined if y holds classes.
    pool_ : array of shape (n_particles, n_features)
        All particles.
    sums_ : AlignmentSums
        Sums over the samples, from which the losses are computed. ``sums_.n_samples`` is the
        number of samples that were learned from.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    PBRFF : The posterior over candidates that do not move, in one pass over the data.

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
        certify: float | bool = False,
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
        self.certify = certify
        self.precision = precision
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like, sparse matrix, tensor or Dask collection of shape (n_samples, n_features)
            The samples. The blocks of a Dask collection stay in the memory of the workers, because
            each move takes two passes over them.
        y : array-like or Dask collection of shape (n_samples,) or (n_samples, n_outputs)
            The labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        with all_or_nothing(self) as draft:
            sample = read_sample(draft, labelled_rows, (X, y), reset=True, persist=True)
            draft._target, n_samples = shown_target(sample, self.target_type, stacklevel=3)
            seed = drawn_seed(self.random_state)
            aside = None
            if self.certify is not False:
                rng = np.random.default_rng([seed, SPLIT_STREAM])
                sample, aside = _split_sample(sample, self.certify, rng)
                n_samples = sample.n_samples
            set_classes(draft, draft._target)
            draft._prior_source = prior_source(draft)
            draft._climb(draft._tempered_posterior(sample, n_samples, seed), seed)
            learned = reduced(sample, draft._target, draft.pool_, "double")
            draft.sums_, draft._summary = learned.sums, learned.summary
            draft.losses_ = target_losses(learned.sums, draft._target)
            draft._keep_offset = np.random.default_rng([seed, KEEP_STREAM]).random()
            draft._keep()
            draft._frozen = None
            if aside is not None:
                found = sample_summary(aside.X, draft._target.encode(aside.y))
                rows = FreshRows(found, draft._summary, is_split=True)
                draft._frozen = frozen_kernel(draft, aside, draft._target, rows)
        return self

    def _climb(self, posterior: TemperedPosterior, seed: int) -> None:
        """Draw particles from the posterior, and keep what certificates need of the run."""
        size, n_features = self._n_climbing(), self.n_features_in_
        pilot, rng = (np.random.default_rng([seed, each]) for each in (PILOT_STREAM, RUN_STREAM))
        # Every evaluation limits BLAS to one thread. Here this is done once, which takes less time.
        with single_threaded_blas():
            self.schedule_ = pilot_schedule(
                posterior, _PILOT_PARTICLES, n_features, self.n_steps, _N_MOVES, pilot
            )
            run = gibbs_run(
                posterior, self.schedule_, size, n_features, _N_MOVES, rng, report=reporter(self)
            )
        self.inverse_temperature_ = posterior.inverse_temperature
        self.log_evidence_ = run.log_evidence
        self.pool_, self.posterior_ = posterior.frequencies(run.particles), np.exp(run.log_weights)
        self._log_prior = particle_log_prior(
            run.log_weights, run.particles.potentials, run.log_evidence
        )

    def redraw(self, *, n_frequencies: int) -> Self:
        """Return a new estimator that keeps another number of the same particles.

        Parameters
        ----------
        n_frequencies : int
            Number of frequencies to keep, at most the number of particles.

        Returns
        -------
        redrawn : GibbsRFF
            A new estimator. This one is not changed.
        """
        check_is_fitted(self)
        if self._frozen is not None:
            raise ValueError(
                "redraw would change the kernel that was certified on the held-out rows: fit "
                "again with another n_frequencies, or with certify=False."
            )
        redrawn = copy.copy(self).set_params(n_frequencies=n_frequencies)
        check_count("n_frequencies", n_frequencies)
        if n_frequencies > len(self.pool_):
            raise ValueError(
                f"n_frequencies must be at most the {len(self.pool_)} particles of this fit, "
                f"got {n_frequencies}. Fit again with more n_particles."
            )
        redrawn._keep()
        return redrawn

    def certificate(
        self,
        epsilon: float = 0.05,
        *,
        bound: str | BoundRecord = "auto",
        of: str = "deployed",
        duplicates: Duplicates = None,
    ) -> Certificate:
        """Return an upper bound on the alignment loss of the map's kernel.

        No data are needed. The bound holds for the particles themselves, whether or not the run has
        reached the posterior. Fit only once: if you fit with several seeds or values of beta and
        keep the best, its certificate is not valid.

        With ``certify`` the kept kernel is certified on the held-out rows, at a divergence of zero,
        as ``certify`` does it on fresh rows.

        Parameters
        ----------
        epsilon : float, default=0.05
            Probability, over the sample and the run, that the bound fails.
        bound : str or BoundRecord, default="auto"
            Name of a bound in ``pacfourier.bounds`` that is proved by an exponential moment, or
            such a bound of your own. "auto" uses the better of ``kl`` and ``unexpected_bernstein``
            (``catoni_grid`` for multilabel y), each at epsilon / 2. For labels declared binary it
            also tries ``first_order``, each at epsilon / 3. With ``certify``, the bounds are those
            of ``certify`` on fresh rows.
        of : {"deployed", "posterior"}, default="deployed"
            Which kernel to certify: that of the kept frequencies, which ``transform`` uses, or that
            of all particles, which ``kernel_matrix`` uses. With ``certify`` only "deployed".
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
        if self._frozen is not None:
            check_option("of", of, ("deployed",))
            return frozen_certificate(
                self._frozen, epsilon=epsilon, bound=bound, duplicates=duplicates
            )
        return certificate_of(
            certified_weights(of, self.posterior_, self.kept_, self.frequency_weights_),
            alignment_evidence(self.sums_, self._target, log_prior=self._log_prior),
            sums=self.sums_,
            target=self._target,
            summary=self._summary,
            prior_source=self._prior_source,
            epsilon=epsilon,
            bound=bound,
            of=of,
            duplicates=duplicates,
            more_assumptions=(ladder_assumption(), run_assumption()),
        )

    def _check_parameters(self) -> None:
        check_count("n_frequencies", self.n_frequencies)
        check_count("n_particles", self.n_particles)
        check_positive("beta", self.beta)
        check_count("n_steps", self.n_steps)
        check_option("class_weight", self.class_weight, ("balanced", None))
        check_share(self.certify)
        target_type_of(self.target_type)
        check_option("precision", self.precision, ("auto", *PRECISIONS))

    def _n_climbing(self) -> int:
        return max(self.n_particles, self.n_frequencies)

    def _keep(self) -> None:
        """Keep all particles with their weights, or choose some and give them equal weights."""
        self.frequency_weights_ = np.full(self.n_frequencies, 1 / self.n_frequencies)
        if self.n_frequencies == len(self.pool_):
            self.kept_, self.frequency_weights_ = np.arange(len(self.pool_)), self.posterior_
        else:
            offset = self._keep_offset
            self.kept_ = systematic_indices(self.posterior_, offset, self.n_frequencies)
        self.frequencies_ = self.pool_[self.kept_]

    def _tempered_posterior(
        self, sample: AnySample, n_samples: int, seed: int
    ) -> TemperedPosterior:
        spectrum = prior_spectrum(sample, self, np.random.default_rng(seed))
        precision = self.precision
        if precision == "auto":
            work = n_samples * sample.n_features * self._n_climbing()
            precision = "double" if self.n_steps * work <= SMALL_WORK else "single"
        loss = _sample_objective(
            sample, self._target, balance=self.class_weight is not None, precision=precision
        )
        scales, weights = spectrum.gaussian_components()
        return TemperedPosterior(loss, self.beta * np.sqrt(n_samples), scales, weights)


def _split_sample(sample: Any, share: Share, rng: np.random.Generator) -> tuple[Sample, Block]:
    """Set a share of the rows aside, at random and without looking at them."""
    block = sample.whole
    if block is None:
        raise ValueError(
            "certify must be False for Dask collections, because the rows are not in memory: "
            "keep rows apart yourself and pass them to pacfourier.certify."
        )
    # The loss is a mean over pairs, so two rows are needed.
    parts = split_rows(sample.n_samples, share, rng, fewest=2)
    learned, aside = (Block(block.X[rows], block.y[rows]) for rows in parts)
    return Sample(learned), aside


def _sample_objective(
    sample: AnySample, target: Target, **options: Any
) -> Callable[[FloatArray], tuple[FloatArray, FloatArray]]:
    """Return a function that computes losses and their gradients from frequencies."""
    if sample.whole is not None:
        return alignment_objective(sample.whole.X, sample.whole.y, target, **options)
    return partial(_blocked_objective, sample, target, **options)


def _blocked_objective(
    sample: AnySample, target: Target, frequencies: FloatArray, *, balance: bool, precision: str
) -> tuple[FloatArray, FloatArray]:
    """Return losses and gradients in two passes over the blocks of a sample.

    For a sample in memory, ``alignment_objective`` does the same.
    """
    options: dict[str, Any] = {"target": target, "frequencies": frequencies, "precision": precision}
    sums = sample.reduce(partial(_sums, **options), AlignmentSums.merge)
    losses, tilts = alignment_tilts(sums, target, balance=balance)
    return losses, sample.reduce(partial(_gradients, tilts=tilts, **options), operator.add)


def _sums(block: Block, **options: Any) -> AlignmentSums:
    return alignment_sums(block.X, block.y, **options)


def _gradients(block: Block, **options: Any) -> FloatArray:
    return alignment_gradients(block.X, block.y, **options)
