"""Check a gold set against its documents; list every problem and exit 1 if there is one.

python studies/check_gold.py studies/gold/mdcourse.jsonl --documents DATA --known DATA/questions_mdcourse.jsonl
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

WANTED = {"course": 60, "ticket": 60, "near": 30, "far": 30}
ITEM = re.compile(r"\s*([-*]|\d+\.) ")
STOP = re.compile(r"(a|an|and|are|as|at|be|by|can|do|does|for|from|how|i|if|in|is|it|its|my|of|on|or|the|to|what|with)")


def words(text):
    """Return the content words of a text, cut to six letters so that endings matter less."""
    return {w[:6] for w in re.findall(r"[a-z0-9]+", text.lower().replace("'", "")) if not STOP.fullmatch(w)}


def main():
    """Run all checks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gold", type=Path)
    parser.add_argument("--documents", type=Path, required=True, help="folder that holds mdcourse/*.md")
    parser.add_argument("--known", type=Path, required=True, help="JSON lines with questions that must not be repeated")
    args = parser.parse_args()
    rows, known = ([json.loads(x) for x in p.read_text("utf-8").splitlines()] for p in (args.gold, args.known))
    texts = {f"mdcourse/{p.name}": p.read_bytes().decode() for p in sorted((args.documents / "mdcourse").glob("*.md"))}
    problems, kinds, places, overlap, excerpts = [], Counter(), defaultdict(list), defaultdict(list), defaultdict(list)
    names = [r["id"] for r in rows] + [r["question"].lower() for r in rows + known]
    problems += [f"twice: {v}" for v, n in Counter(names).items() if n > 1]
    for r in rows:
        name, answerable = r["id"], r["answerable"]
        keys = ["id", "question", "answerable", "family"] + (["excerpts"] if answerable else [])
        pattern = r"q\d\d-" + r["family"] if answerable else r"n\d\d"
        if list(r) != keys or not re.fullmatch(pattern, name) or answerable != (r["family"] in ("course", "ticket")):
            problems.append(f"{name}: keys, id or family")
        if not answerable:
            continue
        (e,) = r["excerpts"]
        text, start, end, said = texts[e["document"]], e["start"], e["end"], e["text"]
        before, after = text[:start].rpartition("\n")[2], text[end:].partition("\n")[0]
        line = before + text[start:end] + after
        code, table = len(re.findall(r"^\s*```", text[:start], re.M)) % 2 == 1, " | " in said
        opened = re.fullmatch(r"\s*([-*>]|\d+\.)?[\s💡⚠\ufe0f]*", before) or re.search(r"[.!?:][*)\"]*\s+$", before)
        closed = not after.strip() or (re.search(r"[.!?:][*)\"]*$", said) and after[0].isspace())
        for bad, message in (
            (text[start:end] != said or said != said.strip() or len(e) != 4, "offsets or keys"),
            (sum(t.count(said) for t in texts.values()) != 1, "not unique"),
            ("\n" in said or not 60 <= len(said) <= 300, "length"),
            (line.startswith("#") and not code, "a heading"),
            (not opened or not closed, "not a whole sentence, row or line"),
        ):
            problems += [f"{name}: {message}"] * bool(bad)
        overlap[r["family"]].append(len(words(r["question"]) & words(said)) / len(words(r["question"])))
        excerpts[name[:3]].append(e)
        if r["family"] == "course":
            kinds["code" if code else "table row" if table else "list item" if ITEM.match(line) else "prose"] += 1
            places[e["document"]].append(start / len(text))
    problems += [f"{q}: not twice the same excerpt" for q, es in excerpts.items() if len(es) != 2 or es[0] != es[1]]
    for d in texts:
        if len(places[d]) not in (4, 5) or {int(3 * x) for x in places[d]} != {0, 1, 2}:
            problems.append(f"{d}: {len(places[d])} sentences at {[round(x, 2) for x in places[d]]}")
    families = dict(Counter(r["family"] for r in rows))
    problems += [f"families: {families}"] * (families != WANTED)
    print(f"{len(rows)} lines: {families}; sentences: {dict(kinds)}; documents: {len(texts)}")
    for f, v in overlap.items():
        print(
            f"{f}: share of its words in the sentence: mean {sum(v) / len(v):.3f}, none {v.count(0)}, most {max(v):.2f}"
        )
    print("\n".join(problems) or "no problem")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
