"""Bounds of one estimator beside its losses."""

from collections.abc import Sequence
from typing import Any, Self

from pacfourier.bounds.safe_side import safely_rounded
from pacfourier.pacbayes.assumptions import Ties
from pacfourier.plots.axes import drawing_axes

__all__ = ["CertificateDisplay", "drawn_yardsticks"]

# Lines of the losses that are drawn beside the bounds.
YARDSTICK = {"color": "#808080", "linewidth": 0.8}
EMPIRICAL = {"color": "black", "linewidth": 1.5}
HELD_OUT = {"color": "#D55E00", "linewidth": 1.5, "linestyle": "--"}
# Yardsticks that differ by less than this are drawn as one line.
NEAR = 1e-3


class CertificateDisplay:
    """Bar chart of several bounds, with the empirical loss, a held-out loss and yardsticks.

    Parameters
    ----------
    values : dict from str to float
        Values of the bounds, by name.
    empirical_loss : float
        Loss on the training sample.
    held_out_loss : float or None
        Loss on other samples, if there are any.
    yardsticks : dict from str to float or None
        Losses to compare with, by name.
    """

    def __init__(
        self,
        *,
        values: dict[str, float],
        empirical_loss: float,
        held_out_loss: float | None = None,
        yardsticks: dict[str, float] | None = None,
    ) -> None:
        self.values = values
        self.empirical_loss = empirical_loss
        self.held_out_loss = held_out_loss
        self.yardsticks = yardsticks

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        bounds: Sequence[str],
        epsilon: float = 0.05,
        ties: Ties = None,
        held_out_loss: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot several bounds of one fitted estimator.

        Each bound holds with probability 1 - epsilon on its own. The smallest of several does not:
        to report a bound, choose it before looking at the plot.

        Parameters
        ----------
        estimator : PBRFF, OKRFF or PBLandmarks
        bounds : sequence of str
            Names of bounds, as in the parameter ``bound`` of ``certificate``.
        epsilon : float, default=0.05
            Probability with which each bound may fail.
        ties : {None, "genuine"}, default=None
            What repeated rows are, as in ``certificate``.
        held_out_loss : float, default=None
            Loss on other samples, to show beside the bounds.
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : CertificateDisplay
        """
        certificates = {
            name: estimator.certificate(epsilon, bound=name, ties=ties) for name in bounds
        }
        first = next(iter(certificates.values()))
        display = cls(
            values={name: certificate.value for name, certificate in certificates.items()},
            empirical_loss=first.empirical_loss,
            held_out_loss=held_out_loss,
            yardsticks=drawn_yardsticks(first.yardsticks),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one bar per bound, ordered by value, and one light line per yardstick.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw. None means a new figure.

        Returns
        -------
        display : CertificateDisplay
        """
        self.ax_ = drawing_axes(ax)
        self.figure_ = self.ax_.figure
        names = sorted(self.values, key=lambda name: self.values[name], reverse=True)
        heights = [self.values[name] for name in names]
        labels = [name.replace("_", " ") for name in names]
        self.bars_ = self.ax_.barh(labels, heights, color="#B5D3EA")
        # A white background keeps the labels readable where a line crosses them.
        background = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        shown = [safely_rounded(height, "up", decimals=3) for height in heights]
        self.ax_.bar_label(self.bars_, shown, padding=4, bbox=background, zorder=3)
        losses = {name: (loss, YARDSTICK) for name, loss in (self.yardsticks or {}).items()}
        losses["empirical loss"] = self.empirical_loss, EMPIRICAL
        if self.held_out_loss is not None:
            losses["held-out loss"] = self.held_out_loss, HELD_OUT
        farthest = max([*heights, *(loss for loss, _ in losses.values())])
        self.ax_.set(xlabel="alignment loss", xlim=(0, 1.15 * farthest))
        self.ax_.spines[["top", "right"]].set_visible(False)
        # The smaller a loss, the higher its label, so that no label meets the line of another.
        from_the_right = sorted(losses.items(), key=lambda item: item[1][0], reverse=True)
        self.lines_ = [
            self._flag(f"{name} {loss:.3f}", loss, row, style)
            for row, (name, (loss, style)) in enumerate(from_the_right)
        ]
        return self

    def _flag(self, text: str, loss: float, row: int, style: dict[str, Any]) -> Any:
        """Draw a vertical line that ends in its label, in one of the rows above the bars."""
        from matplotlib.transforms import offset_copy

        place = self.ax_.get_xaxis_transform()
        # Without patchA and shrinking, the line reaches from the axis to the corner of the label.
        line = {"arrowstyle": "-", "relpos": (0, 0), "patchA": None, "shrinkA": 0, "shrinkB": 0}
        return self.ax_.annotate(
            text,
            xy=(loss, 0),
            xycoords=place,
            xytext=(loss, 1),
            textcoords=offset_copy(place, self.figure_, y=3 + 12 * row, units="points"),
            arrowprops=line | style,
            color=style["color"],
            fontsize="small",
            zorder=2,
        )


def drawn_yardsticks(yardsticks: Any) -> dict[str, float]:
    """Return the yardsticks of a certificate by name. Those that look equal share a name."""
    named: dict[str, float] = {}
    for name in ("perfect", "unrelated", "constant"):
        loss = getattr(yardsticks, name)
        same = [other for other in named if loss is not None and abs(named[other] - loss) < NEAR]
        if same:
            named[f"{same[0]}, {name}"] = named.pop(same[0])
        elif loss is not None:
            named[name] = loss
    return named
