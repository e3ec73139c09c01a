"""`import pincite` beyond `import numpy`, in fresh interpreters, one after the other, with compiled bytecode."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from harness import Row, print_table


def process_seconds(program: str) -> float:
    # An installed package has its bytecode beside it; the first run here makes it for a source tree too.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    return time.perf_counter() - start


def rows() -> list[Row]:
    process_seconds("import numpy, pincite")
    pairs = [(process_seconds("import numpy, pincite"), process_seconds("import numpy")) for _ in range(15)]
    beyond = statistics.median(ours - numpy for ours, numpy in pairs)
    numpy_s = statistics.median(numpy for _, numpy in pairs)
    return [
        Row(
            work="import pincite",
            size="beyond numpy",
            ours_s=max(beyond, 0.0),
            other="import numpy (whole process)",
            other_s=numpy_s,
            ratio=numpy_s / max(beyond, 1e-9),
            agreement="onnxruntime, tokenizers, markdown_it and Stemmer not loaded (tested)",
        )
    ]


if __name__ == "__main__":
    print_table(rows())
