"""``python -m pincite`` is the command line."""

import sys

from pincite.cli import main

if __name__ == "__main__":
    sys.exit(main())
