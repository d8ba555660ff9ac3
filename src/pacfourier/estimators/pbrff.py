"""Fourier features learned from labels by a PAC-Bayesian pseudo-posterior."""

from typing import Any

from pacfourier.core.alignment.targets import TargetType
from pacfourier.estimators.learned_map import LearnedFourierMap
from pacfourier.pacbayes.posteriors import Gibbs
from pacfourier.spectra import Spectrum


class PBRFF(LearnedFourierMap):
    r"""Fourier features learned from labels by a PAC-Bayesian pseudo-posterior.

    Use it to replace a kernel machine by a linear model on a few columns. One pass over the data is
    enough, so the data may also come in batches or from Dask, and ``certificate`` bounds the
    alignment loss of the learned kernel on new data. If you only want the smallest error, try
    ``BoostedRFF``.

    The candidates are frequencies drawn from the prior, which is the Fourier transform of a kernel.
    The alignment loss :math:`\hat L_m` of candidate m says how badly its cosine agrees with the
    labels, over all pairs of the n samples. The pseudo-posterior

    .. math:: Q_m \propto e^{-\beta \sqrt n \hat L_m}

    (Letarte, Morvant and Germain, 2019, Equation 19) gives a large weight to a small loss. The
    frequencies to keep are chosen by these weights.

    The defaults were chosen in benchmarks. To follow the paper, set ``beta=1.0``,
    ``draw="replacement"`` and ``class_weight=None``, and choose ``gamma`` on validation data.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number of frequencies to keep. The map has two columns per frequency.
    gamma : float or {"multiscale", "scale", "median"}, default="multiscale"
        Bandwidth of the kernel, as in the RBF kernel exp(-gamma ||x - x'||^2). A larger value
        makes the kernel narrower. Ignored if ``kernel`` is a ``Spectrum``.

        - "multiscale": the prior mixes ten bandwidths from 1e-7 to 1e2, and the labels choose
          among them.
        - "scale": 1 / (n_features * variance of X).
        - "median": 1 / (2 m^2), where m is the median distance between samples.

        A certificate needs "multiscale" or a number that was chosen without this sample.
    kernel : {"rbf", "laplacian", "matern", "rational_quadratic"} or Spectrum, default="rbf"
        Kernel whose Fourier transform is the prior. A ``Spectrum`` is an object from
        ``pacfourier.spectra``; it contains its own bandwidth.
    beta : float or {"ess", "bound"}, default="ess"
        How far the posterior moves from the prior. A larger value gives more weight to the
        candidates of smallest loss.

        - "ess", for effective sample size: the posterior is as spread out as equal weights on
          2 * n_frequencies candidates.
        - "bound": the best of 60 values, by the certificate at epsilon = 0.05. The certificate
          remains valid.
    target_type : str, default="auto"
        What y holds: "binary", "multiclass", "multilabel" or "continuous". "auto"
        infers it from y: integers and strings are classes, numbers with a fractional part are
        continuous, and a matrix of zeros and ones is multilabel.
        Declare "binary" if y can only have two values: the certificate may become smaller.
    n_candidates : int, default=20000
        Number of candidate frequencies drawn from the prior. They are generated when they are
        needed and never stored.
    draw : {"weighted", "distinct", "replacement", "complementary"}, default="weighted"
        How to choose the frequencies to keep.

        - "weighted": the candidates with the largest posterior weights, weighted in proportion.
        - "distinct": drawn from the posterior without replacement, with equal weights.
        - "replacement": drawn from the posterior with replacement, with equal weights, as in
          the paper. A frequency can then appear several times.
        - "complementary": chosen together among the candidates of largest weight, so that each
          explains what the others leave of the labels, with equal weights. A linear model then
          makes fewer errors, above all with many classes, and the certificate is larger. The
          model keeps at most 5,000 rows of the data for ``redraw``, ``merge`` and
          ``partial_fit``.
    class_weight : {"balanced", None}, default="balanced"
        "balanced" gives all classes the same weight in the losses from which the posterior is
        computed, and centres the agreement of two labels at zero (see ``selection_losses_``).
        None uses the losses of the paper. The option only matters if y holds classes, and not
        for two classes of equal size.
    precision : {"auto", "single", "double"}, default="auto"
        Floating-point precision of the products of samples and frequencies. "auto" is double
        for small problems and single otherwise. Products that are too large for single
        precision are always computed in double precision.
    random_state : int, RandomState or None, default=None
        Seed of the candidates. Pass an integer for reproducible results. Two estimators with
        the same integer have the same candidates and can be merged, unless their ``gamma`` is
        computed from data.

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        The kept frequencies.
    frequency_weights_ : array of shape (n_frequencies,)
        Weights of the kept frequencies in the kernel of the map. They sum to one.
    kept_ : array of shape (n_frequencies,)
        Indices of the kept frequencies among the candidates.
    losses_ : array of shape (n_candidates,)
        Alignment loss of each candidate, as the paper defines it.
    selection_losses_ : array of shape (n_candidates,)
        Losses from which the posterior is computed. With ``class_weight="balanced"``, all
        classes have the same weight, and the agreement of two labels is 1 in the same class
        and -1 / (n_classes - 1) otherwise. Else they equal ``losses_``.
    posterior_ : array of shape (n_candidates,)
        Posterior weight of each candidate. The weights sum to one.
    inverse_temperature_ : float
        The factor beta sqrt(n) of the losses in the posterior.
    classes_ : array of shape (n_classes,)
        The classes. Only defined if y holds classes.
    pool_ : FrequencyPool
        The candidates. ``pool_[:10]`` returns the first ten as an array, and ``pool_.spectrum``
        is the prior.
    sums_ : AlignmentSums
        Sums over the samples, from which the losses are computed. ``sums_.n_samples`` is the
        number of samples seen.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    BoostedRFF : Frequencies that move, for the smallest error, without a certificate.
    GibbsRFF : Frequencies that move, with a certificate.
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
        self.precision = precision
        self.random_state = random_state
