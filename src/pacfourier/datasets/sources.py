"""Where the data sets come from: their files, checksums, licences and citations."""

from typing import NamedTuple


class PublicFile(NamedTuple):
    """A public file, identified by its content and not by its address."""

    content_sha256: str
    """SHA-256 of the uncompressed content: it is the same for a file and for any gzip of it."""
    download_sha256: str
    """SHA-256 of the file that is downloaded, which may be compressed."""
    urls: tuple[str, ...]
    """Addresses of the file, tried in this order."""


class Source(NamedTuple):
    """Where a data set comes from, its licence and how to cite it."""

    title: str
    licence: str
    citation: str
    files: dict[str, PublicFile]
    """The public files, by name without ``.gz``; empty if the data come with scikit-learn."""


def _plain(sha256: str, *urls: str) -> PublicFile:
    return PublicFile(sha256, sha256, urls)


def _mnist(file: str, content_sha256: str, download_sha256: str) -> PublicFile:
    mirrors = (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    )
    urls = tuple(f"{mirror}{file}.gz" for mirror in mirrors)
    return PublicFile(content_sha256, download_sha256, urls)


UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
AUTHORS = "https://raw.githubusercontent.com/gletarte/pbrff/HEAD/data/"

ADS = Source(
    "Internet Advertisements",
    "CC BY 4.0",
    "N. Kushmerick (1998). Internet Advertisements. UCI Machine Learning Repository.",
    {
        "ad.data": _plain(
            "4841bab145e0b2df2bc17893ecd9d62f8fbeac2c389b41ca59d77da682c0c4eb",
            f"{UCI}internet_ads/ad.data",
            f"{AUTHORS}ad.data",
        )
    },
)

ADULT = Source(
    "Adult",
    "CC BY 4.0",
    "B. Becker, R. Kohavi (1996). Adult. UCI Machine Learning Repository.",
    {
        "adult.data": _plain(
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            f"{UCI}adult/adult.data",
            f"{AUTHORS}adult.data",
        ),
        # The authors' copy lacks the first line, so it has another checksum.
        "adult.test": _plain(
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            f"{UCI}adult/adult.test",
        ),
    },
)

FARM = Source(
    "Farm Ads",
    "CC BY 4.0",
    "C. Mesterharm, M. J. Pazzani (2011). Farm Ads. UCI Machine Learning Repository.",
    {
        # UCI has served this file inside an archive, so the authors' plain copy is tried first.
        "farm-ads-vect": _plain(
            "cee9de7aef56080a983cfddc22f2fae4dc9fea0804b3d033281c0b4288a4bb11",
            f"{AUTHORS}farm-ads-vect",
            f"{UCI}00218/farm-ads-vect",
        )
    },
)

MNIST = Source(
    "MNIST",
    "copyright Y. LeCun and C. Cortes; usually given as CC BY-SA 3.0",
    "Y. LeCun, C. Cortes, C. J. C. Burges. The MNIST database of handwritten digits.",
    {
        file: _mnist(file, *sums)
        for file, *sums in (
            (
                "train-images-idx3-ubyte",
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            (
                "train-labels-idx1-ubyte",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
            (
                "t10k-images-idx3-ubyte",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            ),
            (
                "t10k-labels-idx1-ubyte",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        )
    },
)

BREAST = Source(
    "Breast Cancer Wisconsin (Diagnostic)",
    "CC BY 4.0",
    "W. Wolberg, O. Mangasarian, N. Street, W. Street (1993). Breast Cancer Wisconsin "
    "(Diagnostic). UCI Machine Learning Repository.",
    {},
)

DIGITS = Source(
    "Optical Recognition of Handwritten Digits",
    "CC BY 4.0",
    "E. Alpaydin, C. Kaynak (1998). Optical Recognition of Handwritten Digits. UCI Machine "
    "Learning Repository.",
    {},
)

SOURCES = {
    "ads": ADS,
    "adult": ADULT,
    "breast": BREAST,
    "farm": FARM,
    "mnist17": MNIST,
    "mnist49": MNIST,
    "mnist56": MNIST,
    "digits17": DIGITS,
    "digits49": DIGITS,
    "digits56": DIGITS,
}
