"""Reading data: arrays, tensors, Dask collections and files become blocks of rows."""
