"""Predict from a data frame with categories, dates and gaps, with a certified error.

The table is made up: will a parcel arrive late? It has numbers with gaps, categories and dates,
and goes in as it is. A share of the rows is held out inside ``fit``, and certifies the error of the
very model that is returned. Predictions that the model is not sure of can be left to a person: the
certificate says from which confidence on few predictions are wrong.

The figure shows what the model does. The upper panels follow one column at a time, the lower left
panel follows two, and the lower right panel shows the waves that the model is made of. In truth
parcels are late that are sent in the afternoon over a long distance, by bicycle, or in December.
The weight does not matter.

Needs ``pip install "pacfourier[tables,plot]"``.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pacfourier import FourierClassifier
from pacfourier.plots import PredictionDisplay, WavesDisplay

DELAYS = {"van": 0.0, "train": -1.0, "bicycle": 1.5}


def parcels(n_rows, seed):
    """Return a table of parcels, and whether each was late."""
    rng = np.random.default_rng(seed)
    sent = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 365, n_rows), unit="D")
    table = pd.DataFrame(
        {
            "hour": rng.uniform(6, 20, n_rows).round(2),
            "distance": rng.gamma(2.0, 15.0, n_rows).round(1),
            "weight": rng.lognormal(0.0, 0.7, n_rows).round(2),
            "carrier": rng.choice(list(DELAYS), n_rows),
            "sent": sent,
        }
    )
    is_december = table["sent"].dt.month == 12
    afternoon = np.clip(table["hour"] - 13, 0, 4)
    odds = 0.05 * afternoon * table["distance"] + 4 * is_december - 4
    odds += table["carrier"].map(DELAYS) * (table["distance"] > 20) * 2
    is_late = rng.random(n_rows) < 1 / (1 + np.exp(-2 * odds))
    table.loc[rng.random(n_rows) < 0.1, "distance"] = np.nan
    table.loc[rng.random(n_rows) < 0.05, "carrier"] = None
    return table, np.where(is_late, "late", "on time")


def report(model, table, labels):
    """Print the certificate, and what it says about predictions that are sure enough."""
    print(model.certificate_)
    abstention = model.certificate_.abstention(error=0.05)
    print(f"\nAccept predictions with a confidence of {abstention.threshold:.3f} or more:")
    print(f"  error, with probability 0.95      <= {abstention.error}")
    print(f"  share of predictions accepted     {abstention.accepted:.4f}")
    is_sure = model.predict_proba(table).max(axis=1) >= abstention.threshold
    is_wrong = model.predict(table) != labels
    print(f"\nOn {len(table):,} new parcels:")
    print(f"  error                             {is_wrong.mean():.4f}")
    print(f"  share of predictions accepted     {is_sure.mean():.4f}")
    print(f"  error of accepted predictions     {is_wrong[is_sure].mean():.4f}")


def main():
    """Fit the model, print its certificate and save the figure."""
    table, labels = parcels(5000, seed=0)
    model = FourierClassifier(30, certify=0.3, random_state=0).fit(table, labels)
    report(model, *parcels(20_000, seed=1))
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.5), layout="constrained")
    for ax, column in zip(axes[0], ("sent", "carrier"), strict=True):
        PredictionDisplay.from_estimator(model, table, column, target="late", ax=ax)
    both = ["hour", "distance"]
    PredictionDisplay.from_estimator(model, table, both, target="late", ax=axes[1, 0])
    WavesDisplay.from_estimator(model, n_waves=10, ax=axes[1, 1])
    path = Path("results", "predictor.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"\nFigure saved to {path}.")


if __name__ == "__main__":
    main()
