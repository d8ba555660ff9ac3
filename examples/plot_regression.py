"""
Regression with intervals that hold
===================================

A regressor predicts a number, and its certificate says how far off it may be: nine in ten new
values lie within the band around the prediction.
"""

# %%
# The demand for electricity
# --------------------------
#
# The data are made up: the demand of a town by the hour, the day of the week and the temperature.
# There are two peaks on working days, one at weekends, and more demand when it is cold or hot.

import matplotlib.pyplot as plt
import numpy as np

from pacfourier import FourierRegressor


def demand(day, hour, temperature, rng):
    """Return the demand in megawatts, with noise."""
    morning, evening = np.exp(-((hour - 8) ** 2) / 6), np.exp(-((hour - 19) ** 2) / 8)
    noon = np.exp(-((hour - 13) ** 2) / 20)
    peaks = np.where(day < 5, 12 * morning + 15 * evening, 14 * noon)
    return 30 + peaks + 0.05 * (temperature - 15) ** 2 + rng.normal(0, 1.5, len(hour))


rng = np.random.default_rng(0)
day, hour = rng.integers(0, 7, 3000), rng.uniform(0, 24, 3000)
temperature = rng.normal(14, 8, 3000)
X, y = np.c_[day, hour, temperature], demand(day, hour, temperature, rng)

# %%
# Fit, and ask for an interval
# ----------------------------
#
# A third of the rows is held out. From their errors, ``half_width(coverage=0.9)`` returns a
# number h. With probability 0.95, at least 90 % of new values lie between prediction - h and
# prediction + h. Nothing is assumed about the noise.

model = FourierRegressor(50, certify=1 / 3, random_state=0).fit(X, y)
half_width = model.certificate_.half_width(coverage=0.9)
print(model.certificate_)

# %%
# A new week
# ----------
#
# The week starts on Monday, and gets warmer. About one dot in ten lies outside of the band.

time = np.arange(0, 7 * 24, 0.5)
week = np.c_[time // 24, time % 24, 2 + time / 12]
truth = demand(*week.T, rng)
prediction = model.predict(week)
is_inside = np.abs(truth - prediction) <= half_width
coverage = is_inside.mean()
print(f"{coverage:.0%} of the new week lies inside of the band")

BLUE, ORANGE = "#0072B2", "#D55E00"
figure, ax = plt.subplots(figsize=(11, 4.2), layout="constrained")
band = (prediction - half_width, prediction + half_width)
ax.fill_between(
    time / 24, *band, color="#B5D3EA", linewidth=0, label="certified: 90 % of new values"
)
ax.plot(time / 24, prediction, color=BLUE, linewidth=2, label="prediction")
ax.plot(
    time[is_inside] / 24,
    truth[is_inside],
    ".",
    color="#404040",
    markersize=4,
    label="new value, inside of the band",
)
ax.plot(time[~is_inside] / 24, truth[~is_inside], "o", color=ORANGE, markersize=5, label="outside")
ax.set_xticks(np.arange(7) + 0.5, ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
ax.set(title="Demand for electricity in a week that the model has not seen", ylabel="megawatts")
ax.set_xlim(0, 7)
ax.vlines(np.arange(1, 7), 0, 1, transform=ax.get_xaxis_transform(), color="#CCCCCC", lw=0.8)
ax.tick_params(axis="x", length=0)
ax.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=4, frameon=False)
plt.show()
