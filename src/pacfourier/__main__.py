"""The console script ``pacfourier``, also run by ``python -m pacfourier``."""

import os
import sys

from pacfourier.extras import MissingExtraError, explain_missing_extra


def main() -> None:
    """Run the command line; if an optional library is missing, say so in one line."""
    # While threads of OpenMP wait for each other, they keep cores busy by default. If other
    # programs run, boosted trees then take minutes instead of seconds.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        with explain_missing_extra():
            from pacfourier.cli import app

            app()
    except MissingExtraError as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:
        # The command itself is quiet, but its imports take a second.
        sys.exit(130)


if __name__ == "__main__":
    main()
