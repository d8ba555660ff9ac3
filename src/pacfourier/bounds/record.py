"""One record per bound: when it holds, and what it is called with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from pacfourier.bounds.result import Bound

Quantities: TypeAlias = Mapping[str, Any]
"""Everything that is known about one posterior, by name. None means unknown."""


class Auto(NamedTuple):
    """When ``bound="auto"`` or ``bound="anytime"`` tries a bound.

    Parameters
    ----------
    rank : int
        Bounds with smaller ranks are tried first. The first of two equal values is kept.
    known, unknown : tuple of str
        Quantities that must be known, and quantities that must not be. A quantity is unknown if it
        is absent, None or False.
    """

    rank: int
    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BoundRecord:
    r"""Describe a bound, so that ``certificate(bound=...)`` can compute it.

    The bounds of the package have a record beside their formula, and are found by name. Pass a
    record of your own to ``certificate`` to use a bound that the package does not have.

    A certificate knows these quantities of a posterior Q:

    - ``loss``, ``divergence``, ``n_samples``: the empirical loss under Q, KL(Q || P) and n;
    - ``pairs``: whether the loss is a mean over pairs of samples; False for landmarks;
    - ``n_hypotheses``: a number fixed in advance that places grids of constants;
    - ``second_moment``: the mean of (loss - 1/2)^2; None unless labels are classes;
    - ``binary``: whether the labels were declared binary;
    - ``sampled``: whether a sampler moved the candidate frequencies;
    - ``posterior``, ``log_prior``: one entry per candidate frequency;
    - ``amplitudes``, ``second_harmonics``: arguments of ``first_order``; None unless binary;
    - ``mu``, ``power_divergence``: arguments of ``f_divergence``; the second is None if sampled;
    - ``inverse_temperature``: known only for a Gibbs posterior whose beta is a number;
    - ``rounding``: how far single precision may have moved each loss.

    Certificates of landmarks know only the first four lines.

    Parameters
    ----------
    name : str
        Shown in the certificate.
    function : callable
        Called with ``epsilon`` and the needs, all by keyword. Returns a ``Bound``.
    needs : tuple of str
        Names of the quantities that the function takes. A bound that takes ``pairs`` also covers
        means over independent points, so landmarks can use it.
    requires : tuple of str, default=()
        Names of facts that must be true although the function does not take them.
    exponential : bool, default=False
        Whether the bound follows from an exponential moment, :math:`\mathbb{E}_S \mathbb{E}_P e^{B}
        \le 1`. Only such bounds hold if a sampler moved the candidates, as in ``GibbsRFF``.
    advice : str, default=""
        Completes the sentence "bound='name' needs ..." if a need is missing. Say what to do.
    constant : str or None, default=None
        A parameter of the estimator that must be fixed before the sample is seen. The certificate
        lists it among its assumptions.
    auto : Auto or None, default=None
        When ``bound="auto"`` tries this bound. None means never.
    anytime : bool, default=False
        Whether the bound holds at all numbers of samples at once. It is then tried by
        ``bound="anytime"`` instead of ``bound="auto"``.

    Examples
    --------
    A bound that adds the same slack to every loss, to show the form:

    >>> def loss_plus(*, loss, n_samples, epsilon, pairs):
    ...     return Bound(value=loss + 1 / n_samples, empirical_term=loss, divergence_term=0.0,
    ...                  parameters={}, theorem="an example", reference="none")
    >>> record = BoundRecord(
    ...     name="loss_plus", function=loss_plus, needs=("loss", "n_samples", "pairs"))
    >>> record.name
    'loss_plus'
    """

    name: str
    function: Callable[..., Bound]
    needs: tuple[str, ...]
    requires: tuple[str, ...] = ()
    exponential: bool = False
    advice: str = ""
    constant: str | None = None
    auto: Auto | None = None
    anytime: bool = False
