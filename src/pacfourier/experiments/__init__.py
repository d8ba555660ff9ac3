"""The paper's experiments: what is run, the methods, the results, their tables and figures."""

from pacfourier.experiments.costs import expected_seconds
from pacfourier.experiments.planned_cells import Plan, all_cells, plan_of
from pacfourier.experiments.records import Records, open_records
from pacfourier.experiments.runner import check_data, run_plan

__all__ = [
    "Plan",
    "Records",
    "all_cells",
    "check_data",
    "expected_seconds",
    "open_records",
    "plan_of",
    "run_plan",
]
