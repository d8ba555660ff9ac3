"""A certificate: a bound on the alignment loss, and whether its assumptions hold."""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Literal

from pacfourier.bounds import Bound
from pacfourier.bounds._result import rounded_up

__all__ = ["Assumption", "Certificate"]

Status = Literal["holds", "declared", "violated"]


@dataclass(frozen=True)
class Assumption:
    """One condition of the theorem, and what is known of it.

    Attributes
    ----------
    name : str
    status : {"holds", "declared", "violated"}
        "declared" rests on the user's word.
    reason : str
        Why; for a violation, also the legal repair.
    """

    name: str
    status: Status
    reason: str


@dataclass(frozen=True, repr=False)
class Certificate:
    """An upper bound on the alignment loss of a kernel, under named assumptions.

    It bounds the alignment loss, not the error of a predictor.

    Attributes
    ----------
    empirical_loss : float
        Alignment loss on the sample.
    divergence : float
        KL divergence of what is certified from the prior, in nats.
    n_samples : int
    epsilon : float
        Probability, over the sample, that the bound fails.
    bound : str
        Name of the bound, the best of ``candidates``.
    candidates : tuple of str
        The bounds that were tried; each was given an equal share of epsilon.
    of : str
        What is certified: "deployed", the kernel of the kept frequencies; "posterior", that of
        the whole posterior; "average", the mean over the landmarks; "landmark 3", one of them.
    ceiling : float
        What the loss cannot exceed anyway: 1/2 for declared binary labels, else 1.
    rounding : float
        What was allowed for arithmetic in single precision, in every empirical average.
    details : Bound
        The bound with its parameters, theorem and reference.
    assumptions : tuple of Assumption
    """

    empirical_loss: float
    divergence: float
    n_samples: int
    epsilon: float
    bound: str
    candidates: tuple[str, ...]
    of: str
    ceiling: float
    rounding: float
    details: Bound
    assumptions: tuple[Assumption, ...]

    @property
    def violations(self) -> tuple[Assumption, ...]:
        """The assumptions that do not hold."""
        return tuple(item for item in self.assumptions if item.status == "violated")

    @property
    def value(self) -> float:
        """The bound; a ValueError, with the repair, where an assumption is violated."""
        if self.violations:
            reasons = " ".join(f"{item.name}: {item.reason}" for item in self.violations)
            raise ValueError(f"No certificate. {reasons}")
        return min(self.details.value, self.ceiling)

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, strings and lists, fit for JSON; a refused value is None."""
        details = {
            "theorem": self.details.theorem,
            "reference": self.details.reference,
            "parameters": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.details.parameters.items()
            },
        }
        return {
            "value": None if self.violations else self.value,
            "of": self.of,
            "empirical_loss": self.empirical_loss,
            "divergence": self.divergence,
            "n_samples": self.n_samples,
            "epsilon": self.epsilon,
            "bound": self.bound,
            "candidates": list(self.candidates),
            "ceiling": self.ceiling,
            "rounding": self.rounding,
            **details,
            "assumptions": [asdict(item) for item in self.assumptions],
        }

    def _headline(self) -> str:
        kernels = {
            "deployed": "deployed kernel",
            "posterior": "kernel of the posterior",
            "average": "landmarks, on average,",
        }
        what = kernels.get(self.of, self.of)
        if self.violations:
            return f"No certificate for the {what.rstrip(',')}"
        return f"Alignment loss of the {what} <= {rounded_up(self.value)}"

    def _facts(self) -> list[tuple[str, str]]:
        tried = f"best of {len(self.candidates)}, " if len(self.candidates) > 1 else ""
        return [
            ("holds with probability", f"{1 - self.epsilon:g} over samples of {self.n_samples:,}"),
            ("empirical loss", f"{self.empirical_loss:.4f}"),
            ("divergence", f"{self.divergence:.2f} nats"),
            ("bound", f"{self.bound} ({tried}{self.details.theorem}; {self.details.reference})"),
        ]

    def __repr__(self) -> str:
        lines = [self._headline()]
        lines += [f"  {name:<24}{value}" for name, value in self._facts()]
        lines += [f"  {item.status:<10}{item.name:<14}{item.reason}" for item in self.assumptions]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        colours = {"holds": "#1a7f37", "declared": "#9a6700", "violated": "#cf222e"}
        facts = "".join(
            f"<tr><td>{escape(name)}</td><td colspan='2'>{escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        rows = "".join(
            f"<tr><td style='color:{colours[item.status]}'>{item.status}</td>"
            f"<td>{escape(item.name)}</td><td>{escape(item.reason)}</td></tr>"
            for item in self.assumptions
        )
        headline = escape(self._headline())
        style = "text-align:left; border-collapse:collapse"
        return f"<strong>{headline}</strong><table style='{style}'>{facts}{rows}</table>"
