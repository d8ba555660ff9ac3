import pytest

from pacfourier.reports.tabular_report import fit_report
from tests.tabular.table_fits import FITS


@pytest.fixture(scope="module", params=FITS)
def fit(request):
    return FITS[request.param]()


def test_the_title_says_what_is_certified(fit):
    headline = fit.model.record["headline"].replace("<=", "≤")
    assert f"<h1>outcome: {headline}</h1>" in fit_report(fit)
