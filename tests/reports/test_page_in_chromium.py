"""The page about a table in a real browser, as wide as a phone and as a desk, in both schemes."""

import pytest
from tests.chromium import SCHEMES, needs_chromium, readability
from tests.tabular.table_fits import FITS

from pacfourier.reports.tabular_report import fit_report

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def pages():
    pages = {name: fit_report(make()) for name, make in FITS.items()}
    return pages | {"nothing certified": fit_report(FITS["amounts"](certify=False))}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", [*FITS, "nothing certified"])
def test_the_page_can_be_read(pages, name, width, scheme, tmp_path):
    found = readability(pages[name], tmp_path, width=width, scheme=scheme)
    assert found["scheme"] == scheme
    assert min(found["counts"]) > 1
    assert found["widths"] == [width, width]
    assert found["requests"] == []
    # The smallest contrasts of WCAG 2.2, level AA: for text, and for marks that carry meaning.
    assert found["text"] >= 4.5
    assert found["mark"] >= 3
    assert found["smallest"] >= 11
    assert found["wide"] == []
    assert found["over"] == []


@pytest.mark.parametrize("fault", ["text", "mark", "widths", "wide", "over"])
def test_faults_are_found(pages, fault, tmp_path):
    faults = {
        "text": "figcaption { color: #cccccc; }",
        "mark": ".bar { fill: #cccccc; }",
        "widths": "h1 { width: 400px; }",
        "wide": ".chart { margin-left: -60px; }",
        "over": ".chart text { font-size: 30px; }",
    }
    page = pages["two classes"].replace("</style>", f"{faults[fault]}</style>")
    found = readability(page, tmp_path, width=360, scheme="light")
    assert {
        "text": found["text"] < 4.5,
        "mark": found["mark"] < 3,
        "widths": found["widths"][0] > 360,
        "wide": found["wide"],
        "over": found["over"],
    }[fault]
