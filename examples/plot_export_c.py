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
# 4 bits and trains it a little more, and its own ``to_c`` writes a header without any floating-point
# numbers. ``codes=False`` keeps the model to plain waves, which is what integers can express.

import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pacfourier import FourierClassifier
from pacfourier.export import quantised, to_c

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = FourierClassifier(20, codes=False, random_state=0).fit(X_train, y_train)
small = quantised(model, X_train, y_train, bits=4, bounds=(0, 255))
header = small.to_c(prefix="digits")
print(f"float header: {len(to_c(model)):,} characters, integers: {len(header):,}")
print("\n".join(header.splitlines()[:12]))
