"""The data of the paper's experiments, as it used them."""

from pacfourier.datasets.paper import DATASETS, Dataset, load

__all__ = ["DATASETS", "Dataset", "load"]
