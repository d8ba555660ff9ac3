"""
Export a model to C
===================

A fitted model is short to write down, so it fits on a small chip. This example exports a reader of
digits to C, in 4-bit integers, compiles it and lets the C program read images that it has not seen.
"""

# %%
# From scikit-learn to a header file
# ----------------------------------
#
# ``to_c`` writes a C header in single precision. ``quantised`` rounds the model to integers of 8 or
# 4 bits and trains it a little more. Its own ``to_c`` writes a header in integer arithmetic.
# ``piecewise=False`` keeps the model to plain waves, which is what integers can express.

import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from pacfourier import FourierClassifier
from pacfourier.export import quantised, to_c

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = FourierClassifier(20, piecewise=False, random_state=0).fit(X_train, y_train)
small = quantised(model, X_train, y_train, bits=4, bounds=(0, 255))
header = small.to_c(prefix="digits")
print(f"float header: {len(to_c(model)):,} characters, integers: {len(header):,}")
print("\n".join(header.splitlines()[:12]))

# %%
# Compile it and read new images
# ------------------------------
#
# The program reads one image of 64 bytes after another and prints the digit that it sees. Any C99
# compiler will do. Without one, this step computes the same integers in NumPy.

MAIN = """
#include <stdio.h>
#include "digits.h"

int main(void)
{
    uint8_t image[DIGITS_N_COLUMNS];
    while (fread(image, 1, sizeof image, stdin) == sizeof image)
        puts(digits_class_names[digits_predict(image)]);
    return 0;
}
"""


def predictions_of_c(compiler, images):
    """Return the digits that the compiled program reads."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "digits.h").write_text(header)
        Path(folder, "main.c").write_text(MAIN)
        program = Path(folder, "digits")
        subprocess.run(
            [compiler, "-O2", "-std=c99", "-o", program, Path(folder, "main.c")], check=True
        )
        found = subprocess.run([program], input=images.tobytes(), capture_output=True, check=True)
    return np.array(found.stdout.split(), dtype=int)


images = X_test.astype(np.uint8)
compiler = shutil.which("cc") or shutil.which("gcc")
read = predictions_of_c(compiler, images) if compiler else small.predict(X_test)
agreement = np.mean(read == small.predict(X_test))
print(f"compiled: {bool(compiler)}, agrees with Python on {agreement:.0%} of the images")

# %%
# What it costs
# -------------
#
# Four bits per weight make the model four times smaller, and here they make it no worse. A support
# vector machine makes fewer errors, and needs ninety times the space. On the right are the test
# images that the C program misread, with what they are and what it saw.

svm = SVC().fit(X_train, y_train)
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
eight_bits = quantised(model, X_train, y_train, bits=8, bounds=(0, 255))
parts = model.model_
n_numbers = sum(
    each.size for each in (parts.turns, parts.slopes, parts.constants, parts.cosines, parts.sines)
)
n_nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
# Bytes of constants: four for each number, and four numbers for each node of a tree.
sizes = {
    "random forest": (16 * n_nodes, forest),
    "RBF SVM": (4 * (svm.support_vectors_.size + svm.dual_coef_.size), svm),
    "ours, float": (4 * n_numbers, model),
    "ours, 8 bits": (eight_bits.n_bytes, eight_bits),
    "ours, 4 bits": (small.n_bytes, small),
}
figure = plt.figure(figsize=(11, 4.2), layout="constrained")
left, right = figure.subfigures(1, 2)
ax = left.subplots()
for place, (name, (size, each)) in enumerate(sizes.items()):
    error = np.mean(each.predict(X_test) != y_test)
    ax.barh(place, size, color="#D55E00" if "ours" in name else "#BBBBBB")
    text = f"{size / 1000:,.0f} kB, error {error:.1%}"
    ax.annotate(text, (size, place), (5, 0), textcoords="offset points", va="center")
ax.set_yticks(range(len(sizes)), sizes)
ax.set(title="Size of the model, and its error on new images", xscale="log", xlim=(1e3, 5e7))
ax.set_xticks([1e3, 1e4, 1e5, 1e6], ["1 kB", "10 kB", "100 kB", "1 MB"])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
wrong = np.flatnonzero(read != y_test)
right.suptitle(f"{len(wrong)} of {len(read)} images are misread")
for panel, place in zip(right.subplots(2, 5).flat, wrong, strict=False):
    panel.imshow(X_test[place].reshape(8, 8), cmap="gray_r")
    panel.set_title(f"{y_test[place]} as {read[place]}", fontsize=9)
for panel in right.axes:
    panel.set_axis_off()
plt.show()
