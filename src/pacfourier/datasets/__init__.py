"""The data sets of the paper's experiments, prepared as in the paper."""

from pacfourier.datasets.paper import DATASETS, PAPER_DATASETS, Dataset, describe, load
from pacfourier.datasets.sources import Source

__all__ = ["DATASETS", "PAPER_DATASETS", "Dataset", "Source", "describe", "load"]
