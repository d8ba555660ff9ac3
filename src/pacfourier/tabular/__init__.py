"""Certified predictors for tables: files or data frames with numbers, categories, dates and text.

Import from the modules of this package: ``fit_table`` from ``pacfourier.tabular.model``. So the
command that predicts does not wait for what only a fit needs.
"""
