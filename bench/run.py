"""Run the benchmarks and print one table.

python bench/run.py                 all of them
python bench/run.py bm25 flat       only these
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from harness import print_table  # noqa: E402

CONCEPTS = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concept", nargs="*", help=f"any of: {', '.join(CONCEPTS)} (default: all)")
    chosen = parser.parse_args().concept or CONCEPTS
    unknown = sorted(set(chosen) - set(CONCEPTS))
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(CONCEPTS)}")
    table = []
    for concept in chosen:
        print(f"running {concept} ...", file=sys.stderr)
        table += importlib.import_module(f"bench_{concept}").rows()
    print_table(table)


if __name__ == "__main__":
    main()
