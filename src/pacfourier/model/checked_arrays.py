"""The parts of a fitted model from a file, which may be damaged or forged: all are checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.model.plain_fields import PlainFields

_REAL = (np.float32, np.float64)
_LINKS = ("identity", "logistic", "softmax")


def checked_arrays(data: Any) -> dict[str, Any]:
    """Return the parts of a fitted model by name, after a check of types, shapes and values.

    Parameters
    ----------
    data : mapping from str to array
        Texts may be lists instead.
    """
    fields = PlainFields(data, "predictor")
    waves = _checked_waves(fields)
    size, n_scores = sum(waves["cosines"].shape), waves["cosines"].shape[1]
    columns = _checked_columns(fields, size, n_scores)
    return columns | waves | _checked_labels(fields, n_scores)


def _numbers(fields: PlainFields, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """Return finite numbers in double precision."""
    return fields.finite(name, shape, *_REAL).astype(np.float64)


def _checked_waves(fields: PlainFields) -> dict[str, Any]:
    """Return the amplitudes."""
    cosines = _numbers(fields, "cosines", (None, None))
    fields.require(cosines.shape[1], "cosines", "have at least one score", cosines.shape)
    return {"cosines": cosines, "sines": _numbers(fields, "sines", cosines.shape)}


def _checked_columns(fields: PlainFields, size: int, n_scores: int) -> dict[str, Any]:
    """Return the parts that read columns; ``size`` is the number of phases and scores."""
    origins = _numbers(fields, "origins", (None,))
    low, high = (
        fields.array(name, origins.shape, *_REAL).astype(np.float64) for name in ("low", "high")
    )
    fields.require((low < high).all(), "low", "be smaller than 'high'", low)
    n_columns = len(origins)
    seen = fields.array("seen", (None,), np.int64).astype(np.intp)
    is_right = (np.diff(seen) > 0).all() and ((seen >= 0) & (seen < n_columns)).all()
    fields.require(is_right, "seen", "be sorted numbers of columns", seen)
    found = {"origins": origins, "low": low, "high": high, "seen": seen}
    found["turns"] = _numbers(fields, "turns", (len(seen), size - n_scores))
    found["slopes"] = _numbers(fields, "slopes", (n_columns, n_scores))
    found["constants"] = _numbers(fields, "constants", (size,))
    is_wide = len(seen) < n_columns
    return found | _checked_knots(fields, n_columns, size, is_wide=is_wide)


def _checked_knots(
    fields: PlainFields, n_columns: int, size: int, *, is_wide: bool
) -> dict[str, Any]:
    """Return the knots and their tables. Where phases read some columns only, there are none."""
    knots = _numbers(fields, "knots", (None,))
    fields.require(not (is_wide and len(knots)), "knots", "be none if few columns are seen", knots)
    columns = fields.array("knot_columns", knots.shape, np.int64).astype(np.intp)
    is_right = (np.diff(columns) >= 0).all() and ((columns >= 0) & (columns < n_columns)).all()
    is_right = is_right and (np.unique(columns, return_counts=True)[1] >= 2).all()
    fields.require(is_right, "knot_columns", "be sorted, and each at least twice", columns)
    is_sorted = ((np.diff(knots) > 0) | (np.diff(columns) > 0)).all()
    fields.require(is_sorted, "knots", "increase in each column", knots)
    tables = _numbers(fields, "tables", (len(knots), size))
    return {"knots": knots, "knot_columns": columns, "tables": tables}


def _checked_labels(fields: PlainFields, n_scores: int) -> dict[str, Any]:
    """Return what scores mean, and the names of columns."""
    link, classes = _checked_link(fields), _checked_classes(fields)
    n_classes = len(classes)
    allowed = {"identity": (0,), "softmax": (n_scores,), "logistic": (n_scores, n_scores + 1)}[link]
    is_right = n_classes in allowed and (n_classes <= n_scores or n_scores == 1)
    is_right = is_right and not (link == "softmax" and n_scores < 2)
    fields.require(is_right, "classes", f"fit to {n_scores} scores", f"{n_classes} classes")
    centre = _numbers(fields, "centre", (n_scores,))
    unit = _numbers(fields, "unit", (n_scores,))
    fields.require((unit > 0).all(), "unit", "be positive", unit)
    names, n_columns = _checked_texts(fields, "names"), len(fields.value("origins"))
    fields.require(len(names) in (0, n_columns), "names", f"be {n_columns} or none", names)
    return {"link": link, "classes": classes, "centre": centre, "unit": unit, "names": names}


def _checked_link(fields: PlainFields) -> str:
    """Return the link, which is a text or an array of one."""
    value = fields.value("link")
    is_array = type(value) is np.ndarray and value.ndim == 0 and value.dtype.kind == "U"
    link = value.item() if is_array else value
    fields.require(type(link) is str and link in _LINKS, "link", f"be one of {_LINKS}", link)
    return str(link)


def _checked_classes(fields: PlainFields) -> NDArray[Any]:
    """Return the classes, which are distinct and sorted."""
    values = fields.value("classes")
    is_numbers = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind in "biuf"
    classes = values if is_numbers else _checked_texts(fields, "classes")
    is_sorted = bool((classes[:-1] < classes[1:]).all())
    is_number = classes.dtype.kind != "f" or np.isfinite(classes).all()
    fields.require(is_sorted and is_number, "classes", "be distinct and sorted", classes)
    return classes


def _checked_texts(fields: PlainFields, name: str) -> NDArray[Any]:
    """Return a list or an array of texts as an array."""
    values = fields.value(name)
    is_array = type(values) is np.ndarray and values.ndim == 1 and values.dtype.kind == "U"
    is_list = type(values) is list and all(type(each) is str for each in values)
    fields.require(is_array or is_list, name, "be texts, or an array of numbers", values)
    return np.array(values, dtype=str)
