"""The order of the examples in the gallery: from the first model to special cases."""

EXAMPLES = (
    "demo",
    "certified_classifier",
    "abstention",
    "certificate",
    "table",
    "regression",
    "landmarks",
    "paper_toy",
    "stream",
    "large_file",
    "dask",
    "gpu",
    "export_c",
)


class ReadingOrder:
    """Sort examples as above. Other files, such as the lessons, are sorted by name."""

    def __init__(self, folder):
        del folder

    def __call__(self, filename):
        """Return what the file is sorted by."""
        name = filename.removeprefix("plot_").removesuffix(".py")
        return f"{EXAMPLES.index(name):02}" if name in EXAMPLES else filename
