"""The paper's experiments: plan, methods, runner, records, tables, figures."""

from pacfourier.experiments.costs import expected_seconds
from pacfourier.experiments.records import Records, open_records
from pacfourier.experiments.runner import Plan, check_data, plan_of, run_plan

__all__ = [
    "Plan",
    "Records",
    "check_data",
    "expected_seconds",
    "open_records",
    "plan_of",
    "run_plan",
]
