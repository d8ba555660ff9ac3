"""The fitted predictor, as one record that everything else reads."""

from pacfourier.model.fourier_model import FourierModel

__all__ = ["FourierModel"]
