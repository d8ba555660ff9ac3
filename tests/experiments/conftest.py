import pytest

from pacfourier.experiments.planned_cells import Plan
from pacfourier.experiments.records import open_records
from pacfourier.experiments.runner import run_plan
from pacfourier.reports.reproduction_report import write_report


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory):
    """A folder with the results of two splits of breast, and their report."""
    folder = tmp_path_factory.mktemp("reproduction")
    methods = ("RFF", "PBRFF", "OKRFF", "Nystroem uniform", "RBF-C", "PB-C", "PB-R")
    plan = Plan("quick", ("toy", "landmarks", "greedy"), ("breast",), 2, methods)
    with open_records(folder) as records:
        list(run_plan(plan, records, n_jobs=1))
        write_report(records, "quick", folder)
    return folder
