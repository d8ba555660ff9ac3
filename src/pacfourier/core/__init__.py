"""The mathematics of the package, as functions of arrays that know nothing of estimators."""
