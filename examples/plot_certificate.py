"""What a posterior keeps, and what is certified of it.

Left: the alignment loss of every candidate frequency against its length; the multi-scale prior
spans nine decades, and labels pick the few frequencies that tell the classes apart. Right: bounds
on the loss of what is deployed, beside the loss on samples that were held out.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from pacfourier import PBRFF, alignment_losses
from pacfourier.plots import CertificateDisplay, LossSpectrumDisplay

BOUNDS = ("first_order", "unexpected_bernstein", "kl", "catoni_grid", "hoeffding_grid", "norm")


def main():
    """Fit breast cancer, print the certificate and save the figure."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = PBRFF(20, target_type="binary", random_state=0).fit(X_train, y_train)
    held_out = alignment_losses(X_test, y_test, model.frequencies_) @ model.frequency_weights_
    print(model.certificate())
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    LossSpectrumDisplay.from_estimator(model, ax=left)
    CertificateDisplay.from_estimator(model, bounds=BOUNDS, held_out_loss=held_out, ax=right)
    path = Path("results", "certificate.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"figure saved to {path}")


if __name__ == "__main__":
    main()
