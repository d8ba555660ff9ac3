"""The paper's experiments: plan, methods, runner, records, report."""
