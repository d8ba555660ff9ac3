"""The experiments of the paper: what is run, the methods, the data sets, figures and the report.

Run them with ``python -m reproduction``. The folder is beside the package, not a part of it.
"""
