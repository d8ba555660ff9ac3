"""What all certificates have in common: assumptions, and how they are shown."""

from abc import ABC, abstractmethod
from html import escape

from pacfourier.pacbayes.assumptions import Assumption

__all__ = ["Statement"]

COLOURS = {"holds": "#1a7f37", "declared": "#9a6700", "violated": "#cf222e"}


class Statement(ABC):
    """A statement that holds with a stated probability, under named assumptions."""

    assumptions: tuple[Assumption, ...]

    @property
    def violations(self) -> tuple[Assumption, ...]:
        """The assumptions that do not hold."""
        return tuple(item for item in self.assumptions if item.status == "violated")

    def _check_assumptions(self) -> None:
        """Raise ValueError, which says how to fix it, if an assumption is violated."""
        if self.violations:
            reasons = " ".join(f"{item.name}: {item.reason}" for item in self.violations)
            raise ValueError(f"No certificate. {reasons}")

    @abstractmethod
    def _headline(self) -> str:
        """Return the statement in one line."""

    @abstractmethod
    def _facts(self) -> list[tuple[str, str]]:
        """Return the names and values of what else to show."""

    def __repr__(self) -> str:
        lines = [self._headline()]
        lines += [f"  {name:<24}{value}" for name, value in self._facts()]
        lines += [f"  {item.status:<10}{item.name:<14}{item.reason}" for item in self.assumptions]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<tr><td>{escape(name)}</td><td colspan='2'>{escape(value)}</td></tr>"
            for name, value in self._facts()
        )
        rows = "".join(
            f"<tr><td style='color:{COLOURS[item.status]}'>{item.status}</td>"
            f"<td>{escape(item.name)}</td><td>{escape(item.reason)}</td></tr>"
            for item in self.assumptions
        )
        headline = escape(self._headline())
        style = "text-align:left; border-collapse:collapse"
        return f"<strong>{headline}</strong><table style='{style}'>{facts}{rows}</table>"
