"""Fit PBRFF and draw what it learned: the kept frequencies, and the bounds on its loss.

The left panel shows the alignment loss of every candidate frequency against its length. The
candidates cover ten bandwidths, from 1e-7 to 1e2. The labels select the few frequencies that
separate the classes. The right panel compares several upper bounds on the alignment loss of the
learned kernel with the loss on the training data and on held-out data. Light lines are yardsticks:
the loss of a perfect kernel, of one that has nothing to do with the labels, and of a constant one.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from pacfourier import PBRFF, alignment_losses
from pacfourier.plots import CertificateDisplay, LossSpectrumDisplay

BOUNDS = ("first_order", "unexpected_bernstein", "kl", "catoni_grid", "hoeffding_grid", "norm")


def main():
    """Fit PBRFF to the breast cancer data, print its certificate and save the figure."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = PBRFF(20, target_type="binary", random_state=0).fit(X_train, y_train)
    held_out = alignment_losses(X_test, y_test, model.frequencies_) @ model.frequency_weights_
    print(model.certificate())
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    LossSpectrumDisplay.from_estimator(model, ax=left)
    left.set_title(f"{len(model.frequencies_)} of {len(model.pool_):,} candidates are kept")
    left.legend(frameon=False, loc="lower right")
    CertificateDisplay.from_estimator(model, bounds=BOUNDS, held_out_loss=held_out, ax=right)
    right.set_xlabel("alignment loss of the learned kernel, and upper bounds")
    path = Path("results", "certificate.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"\nFigure saved to {path}.")


if __name__ == "__main__":
    main()
