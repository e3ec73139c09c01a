"""``python -m pincite``, and the command ``pincite``, are the command line."""

import sys


def main() -> int:
    """Run one command and return its exit code; Ctrl-C ends it quietly, also while it is being loaded."""
    try:
        from pincite.cli import main as run

        return run()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("pincite: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
