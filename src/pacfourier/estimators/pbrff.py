"""Fourier features from the PAC-Bayesian pseudo-posterior."""

from typing import Any

from pacfourier.core.alignment.targets import TargetType
from pacfourier.core.prior.frequencies import Sampling
from pacfourier.estimators.learned import LearnedFourierMap
from pacfourier.pacbayes.posteriors import Gibbs
from pacfourier.spectra import Spectrum


class PBRFF(LearnedFourierMap):
    r"""Fourier features learned from labels by a PAC-Bayesian pseudo-posterior.

    Candidate frequencies come from the prior, the Fourier transform of a kernel. One pass over
    the data gives each its alignment loss: how badly its cosine agrees with the labels, over all
    pairs of samples. The pseudo-posterior :math:`Q_m \propto e^{-\beta \sqrt n \hat L_m}`
    (Letarte, Morvant and Germain, 2019, Equation 19) says which to keep. The result is a small
    map for a linear model, in place of a kernel machine.

    The defaults are chosen by measurement; the paper's own are ``beta=1.0,
    draw="replacement", class_weight=None`` and a ``gamma`` from validation.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number D of kept frequencies; the map has 2 D columns.
    gamma : float or {"multiscale", "scale", "median"}, default="multiscale"
        Bandwidth: the RBF kernel is exp(-gamma ||x - x'||^2). "multiscale" puts ten bandwidths
        from 1e-7 to 1e2 into one prior and lets the labels choose; "scale" is 1 / (n_features *
        variance of X); "median" is 1 / (2 m^2) for m the median distance.
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        The kernel, by the name of its Fourier transform. An object of ``pacfourier.spectra``
        carries its own bandwidth.
    beta : float or {"ess", "bound"}, default="ess"
        Inverse temperature: how far the posterior moves from the prior. "ess" takes the one at
        which the posterior is as wide as 2 D equal weights, whatever the data; "bound" the one
        (of 60 widths) whose posterior has the smallest certificate at epsilon = 0.05, which
        costs the certificate nothing.
    target_type : {"auto", "binary", "multiclass", "multilabel", "continuous"}, default="auto"
        What y holds. "auto" reads it off y: integers and strings are classes, numbers with a
        fractional part are continuous, a matrix of zeros and ones holds label sets.
    n_candidates : int, default=20000
        Number N of frequencies drawn from the prior. They are never stored.
    draw : {"weighted", "distinct", "replacement"}, default="weighted"
        Which frequencies to keep: the D heaviest, with their weights; D drawn without
        replacement; or D drawn independently, as in the paper.
    class_weight : {"balanced", None}, default="balanced"
        Whether all classes weigh the same when frequencies are chosen, and agreements have
        mean zero: see ``selection_losses_``. Two classes of equal size are not affected.
    sampling : {"iid", "orthogonal", "sobol", "structured"}, default="iid"
        How the candidates are drawn together. "structured" is several times faster on wide dense
        data, from some hundred features on, at about the same error (``docs/structured.md``).
    precision : {"auto", "single", "double"}, default="auto"
        Precision of the phases. "auto" is single, or double where that costs nothing. A frequency
        whose phases are too large for single precision is taken in double all the same.
    random_state : int, RandomState or None, default=None
        With an integer, two estimators have the same candidates and can be merged, unless
        their bandwidth is computed from data.

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        The kept frequencies.
    frequency_weights_ : array of shape (n_frequencies,)
        Their weights in the deployed kernel, summing to one.
    kept_ : array of shape (n_frequencies,)
        Their indices among the candidates.
    losses_ : array of shape (n_candidates,)
        The alignment loss of every candidate, as the paper defines it.
    inverse_temperature_ : float
        The t of the posterior, beta sqrt(n).
    selection_losses_ : array of shape (n_candidates,)
        What the posterior is computed from: the class-balanced losses, or ``losses_``.
    posterior_ : array of shape (n_candidates,)
        The pseudo-posterior Q.
    classes_ : array of shape (n_classes,)
        The classes, where y holds classes.
    pool_ : FrequencyPool
        The candidates: the prior and its seed, read like a matrix.
    sums_ : AlignmentSums
        What was learned of the data; additive.
    target_ : Target
        How labels are coded.
    summary_ : SampleSummary
        What the sample shows of its past, for the certificate.
    n_features_in_ : int

    See Also
    --------
    OKRFF : The same candidates with the posterior of Sinha and Duchi.
    RFF : The prior alone, without labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(PBRFF(10, random_state=0), LogisticRegression(C=100))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _rule = Gibbs

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        gamma: float | str = "multiscale",
        kernel: str | Spectrum = "rbf",
        beta: float | str = "ess",
        target_type: str | TargetType = "auto",
        n_candidates: int = 20000,
        draw: str = "weighted",
        class_weight: str | None = "balanced",
        sampling: Sampling = "iid",
        precision: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.kernel = kernel
        self.beta = beta
        self.target_type = target_type
        self.n_candidates = n_candidates
        self.draw = draw
        self.class_weight = class_weight
        self.sampling = sampling
        self.precision = precision
        self.random_state = random_state
