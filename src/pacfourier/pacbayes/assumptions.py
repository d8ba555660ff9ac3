"""The assumptions of a certificate, with one small function for each, and how they are shown.

A violated assumption says what was seen in the sample and how to fix it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape
from numbers import Real
from typing import Any, Literal, TypeAlias

from pacfourier.bounds import RECORDS, BoundRecord
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.core.alignment.targets import Target

_Status = Literal["holds", "declared", "violated"]
Duplicates: TypeAlias = Literal["genuine"] | None
"""What the caller says about repeated rows."""

# Rounded measurements may coincide; above this, the caller says what repeated rows are.
_LARGEST_REPEATED_SHARE = 0.01
_COLOURS = {"holds": "#1a7f37", "declared": "#9a6700", "violated": "#cf222e"}


@dataclass(frozen=True)
class Assumption:
    """One condition of the theorem, and whether it holds.

    Attributes
    ----------
    name : str
    status : {"holds", "declared", "violated"}
        "declared" means that it cannot be checked: you vouch for it.
    reason : str
        Why. For a violation, also how to fix it.
    """

    name: str
    status: _Status
    reason: str


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
            f"<tr><td style='color:{_COLOURS[item.status]}'>{item.status}</td>"
            f"<td>{escape(item.name)}</td><td>{escape(item.reason)}</td></tr>"
            for item in self.assumptions
        )
        headline = escape(self._headline())
        style = "text-align:left; border-collapse:collapse"
        return f"<strong>{headline}</strong><table style='{style}'>{facts}{rows}</table>"


def new_rows(group: str | None, period: str | None = None) -> str:
    """Return what statements about a predictor are about. Every text takes it from here.

    ``group`` is the column that names the groups of rows; None if rows are independent draws.
    ``period`` says when the rows were taken; None if it is not known.
    """
    if group is not None:
        return f"random rows of random new groups ({group!r})"
    return "new rows" if period is None else f"new rows {period}"


def group_assumption(group: str) -> Assumption:
    """Return what is assumed about the groups of rows, and what a statement is then about."""
    reason = (
        f"every statement is about {new_rows(group)}: each group counts once, however many rows it "
        "has. No row of these groups was learned from."
    )
    return Assumption("groups", "declared", reason)


def period_assumption(period: str) -> Assumption:
    """Return over which time a statement holds."""
    reason = (
        f"every statement is about {new_rows(None, period)}, the period of these rows. Later "
        "periods are not promised: call certify with rows of theirs."
    )
    return Assumption("time", "declared", reason)


def sample_assumption(
    summary: SampleSummary,
    duplicates: Duplicates = None,
    *,
    group: str | None = None,
    is_anytime: bool = False,
) -> Assumption:
    """Return whether the rows, or the groups that they stand for, can be independent draws.

    A distribution that repeats values and a table with copied rows cannot be told apart from the
    rows alone, so above 1 % of repeated rows the caller says which it is. Copies that one column or
    the last digits of numbers hide are a warning: some honest tables look the same.
    ``is_anytime`` says that the bound holds at any number of rows.
    """
    if duplicates not in (None, "genuine"):
        raise ValueError(f"duplicates must be None or 'genuine', got {duplicates!r}.")
    if summary.is_weighted:
        reason = "the samples have different weights: fit without sample_weight."
        return Assumption("sample", "violated", reason)
    share = summary.repeated_share
    repeated = f"{100 * share:.1f} % of the rows repeat others"
    if share > _LARGEST_REPEATED_SHARE and duplicates is None:
        return Assumption("sample", "violated", f"{repeated}. {_two_readings(summary)}")
    seen = repeated if share > _LARGEST_REPEATED_SHARE else summary.hidden
    found = f"declared, although {seen}" if seen else repeated
    size = "" if is_anytime else ", and their number was fixed in advance"
    drawn = "rows" if group is None else f"groups ({group!r})"
    reason = f"{drawn} are independent draws from one distribution ({found}){size}."
    return Assumption("sample", "declared", reason)


def stream_assumption() -> Assumption:
    """Return what a bound that holds at any number of rows assumes about their order."""
    reason = "rows are used in the order in which they come, and none is left out; stop any time."
    return Assumption("stream", "declared", reason)


def _two_readings(summary: SampleSummary) -> str:
    """Return what repeated rows can be, what speaks for either, and what to do."""
    cases = f"{summary.n_disputed:,} of {summary.n_repeated:,}"
    return (
        "If the rows are independent draws from a distribution that repeats values (categories, "
        "answers, rounded numbers), declare it: duplicates='genuine' (--duplicates genuine on the "
        "command line). If rows were copied (bootstrap, oversampling, tables that share rows), "
        "certify on the original data, as they were before rows were copied. Removing repeated "
        "rows does not help, because it changes the distribution. Of the rows that occur more "
        f"than once, {cases} occur with different labels; a copy has the label of its original."
    )


def prior_assumption(source: Any) -> Assumption:
    """Return whether the prior was fixed before the sample was seen.

    ``source`` is the ``gamma`` of the estimator, or the spectrum that replaced it.
    """
    if isinstance(source, str) and source in ("scale", "median"):
        reason = (
            f"gamma={source!r} was computed from the sample: use gamma='multiscale', or a number "
            "chosen on a separate split."
        )
        return Assumption("prior", "violated", reason)
    named = f"gamma={source:g}" if isinstance(source, Real) else "the kernel before learning"
    reason = (
        f"{named}, the seed and the number of candidates were not chosen by looking at this sample "
        "or at certificates."
    )
    return Assumption("prior", "declared", reason)


def input_assumption(summary: SampleSummary) -> Assumption:
    """Return whether X was transformed without looking at this sample."""
    trace = scaling_trace(summary)
    if trace is None:
        return Assumption("inputs", "declared", "no transform of X was fitted on this sample.")
    fix = "fit the scaler on a separate split, or use a fixed transform."
    return Assumption("inputs", "violated", f"{trace}: {fix}")


def scaling_trace(summary: SampleSummary) -> str | None:
    """Return what a scaler that was fitted on this sample left behind, or None."""
    if summary.is_standardised:
        return "columns have mean 0 and variance 1 on this sample"
    return None


def loss_assumption(target: Target) -> Assumption:
    """Return whether the loss was fixed before the sample was seen."""
    if target.is_fixed_in_advance:
        reason = "it lies in [0, 1]; y was not cut into classes by looking at this sample."
        return Assumption("loss", "declared", reason)
    reason = "the numbers in y were centred and scaled on the sample itself: cut them into classes."
    return Assumption("loss", "violated", reason)


def label_assumption(*, is_binary: bool) -> Assumption:
    """Return what is assumed about the number of classes."""
    if is_binary:
        return Assumption("labels", "declared", "y can only have two values.")
    reason = "any number of classes; if there can only be two, target_type='binary' may be tighter."
    return Assumption("labels", "holds", reason)


def constant_assumption(record: BoundRecord) -> Assumption:
    """Return whether the constants of the bound were fixed before the sample was seen."""
    if record.constant is not None:
        reason = f"{record.constant} was fixed before the sample was seen."
        return Assumption("constants", "declared", reason)
    if RECORDS.get(record.name) is not record:
        reason = f"the constants in {record.name!r}, your own bound, were fixed in advance."
        return Assumption("constants", "declared", reason)
    reason = (
        "the constants in the bound were fixed in advance, or the bound is corrected for trying "
        "several."
    )
    return Assumption("constants", "holds", reason)


def object_assumption(of: str) -> Assumption:
    """Return whether the kernel that is certified is the one that is used."""
    if of == "deployed":
        return Assumption("object", "holds", "the kernel of transform() itself is certified.")
    return Assumption("object", "declared", "you use kernel_matrix(), not transform().")


def ladder_assumption() -> Assumption:
    """Return that the temperatures of a sampler do not depend on its own random numbers."""
    reason = "the temperatures were fixed by a pilot run with other random numbers."
    return Assumption("ladder", "holds", reason)


def run_assumption() -> Assumption:
    """Return that the run of a sampler was not selected."""
    return Assumption("run", "declared", "this was your only fit, not the best of several.")


def choice_assumption() -> Assumption:
    """Return that a single landmark was named in advance."""
    return Assumption("choice", "declared", "the landmark was named before the data were seen.")


def landmark_assumption(source: str, *, are_samples: bool, are_foreign: bool) -> Assumption:
    """Return whether the choice of the landmarks is covered.

    ``are_samples`` says that the landmarks are distinct samples with their labels, and
    ``are_foreign`` that none of them is a row of the sample.
    """
    if source == "random":
        reason = "drawn without looking at the data; their number and seed were not searched."
        return Assumption("landmarks", "declared", reason)
    if are_samples and source in ("given", "function"):
        reason = (
            "samples, chosen without looking at the frequencies; the bound pays for the choice."
        )
        return Assumption("landmarks", "declared", reason)
    if are_samples:
        reason = "samples, chosen by a rule; the bound pays for the choice."
        return Assumption("landmarks", "holds", reason)
    if source == "given" and are_foreign:
        return Assumption("landmarks", "declared", "the points do not come from this sample.")
    reason = "points were made from the sample: use landmarks='medoids' or 'random'."
    return Assumption("landmarks", "violated", reason)
