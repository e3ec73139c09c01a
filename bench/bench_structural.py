"""The structural chunker against its pure-Python twin, and how much of it is the Markdown parser's time."""

from __future__ import annotations

from harness import Row, compare, print_table
from pincite.core.markdown import parse_layout
from pincite.core.structural import chunk_structural
from reference.structural import pack as reference_pack


def document(sections: int) -> str:
    """A text of the usual mixture: prose, a list, a fence and a table a section."""
    prose = "The packer cuts at the last place of the best rank. It never loses a character, e.g. in code. " * 8
    items = "".join(f"- item {i} says something short. And a little more.\n" for i in range(12))
    code = "```py\n" + "".join(f"value_{i} = compute({i})  # a comment\n" for i in range(20)) + "```\n"
    table = "| name | value |\n|---|---|\n" + "".join(f"| row {i} | {i * i} |\n" for i in range(30))
    return "".join(f"## Section {i}\n\n{prose}\n\n{items}\n{code}\n{table}\n" for i in range(sections))


def in_python(text: str) -> list[list[int]]:
    layout = parse_layout(text)
    return reference_pack(
        text,
        sections=[*(section.start for section in layout.sections), len(text)],
        cuts=sorted(layout.cuts.items()),
        prose=layout.prose,
        atoms=layout.atoms,
        target=512,
        overlap=64,
    )


def rows() -> list[Row]:
    out = []
    for count in (4, 40):
        text = document(count)
        size = f"{len(text) / 1000:.0f} thousand code points"
        found = [(chunk.start, chunk.end, chunk.covered_start) for chunk in chunk_structural(text)]
        same = found == [tuple(row[:3]) for row in in_python(text)]
        agreement = "spans equal" if same else "DIFFERS"
        whole = compare(
            "chunk_structural",
            size,
            lambda text=text: chunk_structural(text),
            lambda text=text: in_python(text),
            agreement=agreement,
        )
        parse = compare(
            "chunk_structural",
            size,
            lambda text=text: chunk_structural(text),
            lambda text=text: parse_layout(text),
            agreement="a part of ours, not a rival",
            other_name="its Markdown parsing alone",
        )
        out += [whole, parse]
    return out


if __name__ == "__main__":
    print_table(rows())
