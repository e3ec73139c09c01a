"""Both analyzers against their pure-Python twin, on text of several scripts."""

from __future__ import annotations

from harness import Row, compare, print_table
from pincite import _core
from reference.text import tokenize as reference_tokenize

TEXTS = {
    "English": "The quick brown Fox jumps over the lazy dog's 3.14 tail, and retrieval shows where.\n",
    "French": "Les éléments désagréables de l’été français ont été déplacés à l’école; ça gêne.\n",
    "Russian": "Съешь же ещё этих мягких французских булок, да выпей чаю: широкая электрификация.\n",
    "Hindi": "हिन्दी भाषा में लिखा हुआ एक वाक्य, जिसमें मात्राएँ अपने शब्द के साथ रहती हैं।\n",
    "Japanese": "東京都は日本の首都であり、世界最大の都市のひとつである。カタカナもある。\n",
}
CHARACTERS = 200_000
CHARACTERS_OF_THE_TWIN = 4_000


def analyze(text: str, analyzer: str) -> tuple[object, ...]:
    # The columns, as the index takes them: no Python object a token.
    return _core.analyze(text, analyzer=analyzer, query=False)


def rows() -> list[Row]:
    out = []
    for language, line in TEXTS.items():
        text = line * (CHARACTERS // len(line))
        sample = line * (CHARACTERS_OF_THE_TWIN // len(line))
        scale = len(text) / len(sample)
        for analyzer in ("unicode", "ascii"):
            terms, *columns = _core.analyze(sample, analyzer=analyzer, query=False)
            found = list(zip(terms, *(column.tolist() for column in columns), strict=True))
            same = found == reference_tokenize(sample, analyzer=analyzer)
            row = compare(
                f"tokenize, {analyzer}",
                f"{language}, {len(text.encode()) / 1e6:.2g} MB",
                lambda text=text, analyzer=analyzer: analyze(text, analyzer),
                lambda sample=sample, analyzer=analyzer: reference_tokenize(sample, analyzer=analyzer),
                agreement="tokens and offsets equal" if same else "DIFFERS",
                repeats=7,
            )
            out.append(per_text(row, scale, len(text.encode())))
    return out


def per_text(row: Row, scale: float, nbytes: int) -> Row:
    """Scale the twin's time, which was taken on a part of the text, and add our rate."""
    return Row(
        row.work,
        f"{row.size} at {nbytes / row.ours_s / 1e6:.0f} MB/s",
        row.ours_s,
        row.other,
        row.other_s * scale,
        row.ratio * scale,
        row.agreement,
    )


if __name__ == "__main__":
    print_table(rows())
