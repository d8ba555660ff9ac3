"""The public estimators, one per file. They follow scikit-learn and call the core."""
