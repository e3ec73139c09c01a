"""Write cpp/src/unicode_tables.cpp from the Unicode Character Database.

    python tools/generate_unicode_tables.py /usr/share/unicode [output]

The folder is a Unicode Character Database as Debian's package unicode-data (15.0.0) lays it out. The same
folder gives the same bytes. Every table is two-staged: stage1[c / 128] names the block of stage2 that
holds c.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

OUTPUT = Path(__file__).resolve().parents[1] / "cpp" / "src" / "unicode_tables.cpp"
N_CODE_POINTS = 0x110000
BLOCK = 128
LENGTH_BITS = 5  # of a packed mapping: offset into the pool << 5 | length

# The order of `enum class WordBreak` in cpp/src/unicode.hpp.
WORD_BREAKS = [
    "Other",
    "CR",
    "LF",
    "Newline",
    "Extend",
    "ZWJ",
    "Format",
    "Regional_Indicator",
    "Katakana",
    "Hebrew_Letter",
    "ALetter",
    "Single_Quote",
    "Double_Quote",
    "MidNumLet",
    "MidLetter",
    "MidNum",
    "Numeric",
    "ExtendNumLet",
    "WSegSpace",
]
# The flags of `struct Property` there.
PICTOGRAPHIC, WORD, UNSPACED, DROPPED, ACCENT_BASE, COMPOSES_BACK = (1 << bit for bit in range(6))


def fields(path: Path) -> Iterator[list[str]]:
    """Yield the fields of every line of a UCD file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        content = line.partition("#")[0].strip()
        if content:
            yield [field.strip() for field in content.split(";")]


def ranges(path: Path, *values: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (code point, fields after the first) of a property file, for the named values (default: all)."""
    for first, *rest in fields(path):
        if not values or rest[0] in values:
            start, _, end = first.partition("..")
            for code_point in range(int(start, 16), int(end or start, 16) + 1):
                yield code_point, rest


class Database:
    """What the tables need of the UCD."""

    def __init__(self, folder: Path) -> None:
        self.version = folder.joinpath("PropList.txt").read_text("utf-8").split("-", 1)[1].split(".txt")[0]
        self.combining_class: dict[int, int] = {}
        self.is_number: set[int] = set()
        self.controls: set[int] = set()
        self.canonical: dict[int, list[int]] = {}
        self.decomposition: dict[int, list[int]] = {}
        self._read_characters(folder / "UnicodeData.txt")
        derived = folder / "DerivedCoreProperties.txt"
        self.alphabetic = {c for c, _ in ranges(derived, "Alphabetic")}
        self.ignorable = {c for c, _ in ranges(derived, "Default_Ignorable_Code_Point")}
        self.white_space = {c for c, _ in ranges(folder / "PropList.txt", "White_Space")}
        self.accent_bases = {c for c, _ in ranges(folder / "Scripts.txt", "Latin", "Greek", "Cyrillic")}
        self.pictographic = {c for c, _ in ranges(folder / "emoji" / "emoji-data.txt", "Extended_Pictographic")}
        breaks = ranges(folder / "auxiliary" / "WordBreakProperty.txt")
        self.word_break = {c: rest[0] for c, rest in breaks}
        excluded = {c for c, _ in ranges(folder / "DerivedNormalizationProps.txt", "Full_Composition_Exclusion")}
        self.compositions = sorted(
            (*pair, c) for c, pair in self.canonical.items() if len(pair) == 2 and c not in excluded
        )
        self.case_folding = {
            int(code, 16): [int(c, 16) for c in mapping.split()]
            for code, status, mapping, *_ in fields(folder / "CaseFolding.txt")
            if status in "CF"
        }

    def _read_characters(self, path: Path) -> None:
        first = 0
        for row in fields(path):
            code_point, name, category, combining_class, decomposition = int(row[0], 16), *row[1:4], row[5]
            if name.endswith(", First>"):
                first = code_point
                continue
            covered = range(first if name.endswith(", Last>") else code_point, code_point + 1)
            if category.startswith("N"):
                self.is_number.update(covered)
            if category == "Cc":
                self.controls.update(covered)
            if combining_class != "0":
                self.combining_class[code_point] = int(combining_class)
            if decomposition:
                parts = decomposition.split()
                compatible = parts[0].startswith("<")
                self.decomposition[code_point] = [int(c, 16) for c in parts[compatible:]]
                if not compatible:
                    self.canonical[code_point] = self.decomposition[code_point]

    def full_decomposition(self, code_point: int) -> list[int]:
        """Return what a code point decomposes to, compatibility mappings included."""
        parts = self.decomposition.get(code_point)
        return [d for c in parts for d in self.full_decomposition(c)] if parts else [code_point]

    def properties(self) -> list[tuple[int, int, int]]:
        """Return (word break, combining class, flags) of every code point."""
        composes_back = {second for _, second, _ in self.compositions}
        composes_back.update(range(0x1161, 0x1176), range(0x11A8, 0x11C3))  # Hangul vowels, trailing consonants
        out = []
        for c in range(N_CODE_POINTS):
            word_break = self.word_break.get(c, "Other")
            flags = PICTOGRAPHIC * (c in self.pictographic)
            flags |= WORD * (c in self.alphabetic or c in self.is_number)
            flags |= UNSPACED * (c in self.alphabetic and word_break in {"Other", "Katakana"})
            flags |= DROPPED * (c in self.ignorable or c in self.white_space or c in self.controls)
            flags |= ACCENT_BASE * (c in self.accent_bases)
            flags |= COMPOSES_BACK * (c in composes_back)
            out.append((WORD_BREAKS.index(word_break), self.combining_class.get(c, 0), flags))
        return out


class Pool:
    """The right-hand sides of all mappings in one array; what is contained in another one is stored once."""

    def __init__(self, sequences: Iterable[Sequence[int]]) -> None:
        self.text = ""
        for sequence in sorted({"".join(map(chr, s)) for s in sequences}, key=lambda s: (-len(s), s)):
            if sequence not in self.text:
                self.text += sequence

    def packed(self, sequence: Sequence[int]) -> int:
        """Return offset and length of a sequence in the pool as one number."""
        return self.text.index("".join(map(chr, sequence))) << LENGTH_BITS | len(sequence)


def two_stages(values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return stage1, which names a block for every 128 values, and the blocks one after the other."""
    blocks: dict[tuple[int, ...], int] = {}
    stage1 = [blocks.setdefault(tuple(values[at : at + BLOCK]), len(blocks)) for at in range(0, len(values), BLOCK)]
    return stage1, [value for block in blocks for value in block]


def array(name: str, values: Sequence[object], type_name: str = "") -> str:
    """Return a C++ definition; without a type name, of the smallest unsigned integers."""
    if not type_name:
        largest = max(int(str(value)) for value in values)
        type_name = f"std::uint{8 if largest < 1 << 8 else 16 if largest < 1 << 16 else 32}_t"
    lines, line = [], ""
    for value in values:
        if len(line) + len(str(value)) > 108:
            lines.append(line)
            line = ""
        line += f"{value},"
    return f"const {type_name} {name}[{len(values)}] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


def tables(database: Database) -> str:
    """Return all definitions."""
    properties = database.properties()
    records = sorted(set(properties))
    number = {record: i for i, record in enumerate(records)}
    decomposition = {c: database.full_decomposition(c) for c in database.decomposition}
    pool = Pool([*decomposition.values(), *database.case_folding.values()])
    parts = [array("property_records", [f"{{{w}, {c}, {f}}}" for w, c, f in records], "PropertyRecord")]
    for name, values in (
        ("property", [number[record] for record in properties]),
        ("decomposition", packed_mapping(decomposition, pool)),
        ("case_folding", packed_mapping(database.case_folding, pool)),
    ):
        stage1, stage2 = two_stages(values)
        parts += [array(f"{name}_stage1", stage1), array(f"{name}_stage2", stage2)]
    parts.append(array("mapping_pool", [ord(c) for c in pool.text], "char32_t"))
    rows = [f"{{{first}, {second}, {composed}}}" for first, second, composed in database.compositions]
    parts.append(array("compositions", rows, "Composition"))
    parts.append(f"const std::size_t n_compositions = {len(rows)};\n")
    return "\n".join(parts)


def packed_mapping(mapping: dict[int, list[int]], pool: Pool) -> list[int]:
    """Return a packed right-hand side for every code point, 0 where it has none."""
    values = [0] * N_CODE_POINTS
    for code_point, sequence in mapping.items():
        values[code_point] = pool.packed(sequence)
    return values


def main() -> None:
    """Write the file."""
    if len(sys.argv) not in {2, 3}:
        sys.exit(__doc__)
    database = Database(Path(sys.argv[1]))
    header = f"""\
// Generated by tools/generate_unicode_tables.py from the Unicode Character Database {database.version}.
// Do not edit.
// Data: Copyright Unicode, Inc., under the licence in NOTICE.
// clang-format off
#include "unicode_tables.hpp"

namespace pincite::unicode {{

"""
    output = Path(sys.argv[2]) if len(sys.argv) == 3 else OUTPUT
    text = header + tables(database) + "\n}  // namespace pincite::unicode\n"
    output.write_text(text, encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
