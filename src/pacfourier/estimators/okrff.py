"""Fourier features learned from labels by the method of Sinha and Duchi."""

from typing import Any

from pacfourier.core.alignment.targets import TargetType
from pacfourier.estimators.learned_map import LearnedFourierMap
from pacfourier.pacbayes.balls import DivergenceBall
from pacfourier.spectra import Spectrum


class OKRFF(LearnedFourierMap):
    r"""Fourier features learned from labels by optimal alignment in a divergence ball.

    Use it to compare ``PBRFF`` with the method of Sinha and Duchi (2016). Candidates, losses,
    methods and certificates are those of ``PBRFF``. Only the posterior over the candidates differs.

    The posterior Q has the smallest mean loss among all weights that are close to the uniform prior
    P, that is, with :math:`D_\mu(Q \Vert P) \le \rho`. Their method has mu = 2. In that case the
    posterior is as spread out as equal weights on N / (1 + rho) of the N candidates, unless rho is
    so large that the ball contains the best weights of all.

    The defaults were chosen in benchmarks. To follow the comparison in Letarte, Morvant and Germain
    (2019), set ``draw="replacement"`` and ``class_weight=None``, and choose ``gamma``, and ``rho``
    between 1e-4 N and N, on validation data.

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
    rho : float or "ess", default="ess"
        Radius of the ball: how far the posterior may move from the prior. With "ess", for
        effective sample size, the ball reaches as far as equal weights on 2 * n_frequencies
        candidates. The code of Sinha and Duchi uses the squared distance rho / n_candidates.
    mu : float, default=2.0
        Order of the divergence, greater than one. Two is the chi-square divergence.
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
    PBRFF : The same candidates with the Gibbs posterior, in closed form.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OKRFF(5, rho=50.0, random_state=0).fit(X, y)
    >>> round(float(1 / (model.posterior_**2).sum()))  # 20000 / 51
    392
    """

    _rule = DivergenceBall

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        gamma: float | str = "multiscale",
        kernel: str | Spectrum = "rbf",
        rho: float | str = "ess",
        mu: float = 2.0,
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
        self.rho = rho
        self.mu = mu
        self.target_type = target_type
        self.n_candidates = n_candidates
        self.draw = draw
        self.class_weight = class_weight
        self.precision = precision
        self.random_state = random_state
