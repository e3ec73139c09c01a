"""Search a folder of Markdown and show where each answer is written.

python examples/search_folder.py docs "why do all kernels give equal bits"
"""

import argparse
import sys
from pathlib import Path

import pincite


def main() -> int:
    """Index the folder in memory, answer one question, print citations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder with .md or .txt files")
    parser.add_argument("question")
    parser.add_argument("-k", type=int, default=3, help="how many passages (default: 3)")
    arguments = parser.parse_args()

    paths = sorted(path for path in arguments.folder.rglob("*") if path.suffix in {".md", ".txt"})
    if not paths:
        print(f"no .md or .txt file in {arguments.folder}", file=sys.stderr)
        return 2
    texts = {path: path.read_bytes().decode("utf-8") for path in paths}
    passages = [(path, chunk) for path in paths for chunk in pincite.chunk(texts[path], title=path.stem)]
    index = pincite.BM25Index.build([chunk.embedded_text for _, chunk in passages], stemmer="english")

    ids, scores = index.search(arguments.question, k=arguments.k)
    for rank, (row, score) in enumerate(zip(ids, scores, strict=True), start=1):
        path, chunk = passages[row]
        assert texts[path][chunk.start : chunk.end] == chunk.content
        print(f"[{rank}] {path}#char={chunk.start},{chunk.end}   bm25 {score:.2f}")
        print(f"    {' > '.join(chunk.heading_path)}")
        print("    " + " ".join(chunk.content.split())[:240] + "\n")
    if not len(ids):
        print(f'NO ANSWER: no word of "{arguments.question}" stands in {arguments.folder}')
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
