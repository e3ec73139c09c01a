"""An index of documents that many groups share, with a random history; beside it what is true of it, and questions."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pincite
from pincite.errors import PinciteError
from small_index import opened

GROUPS = [f"group-{number}" for number in range(200)]
N_DOCUMENTS = 150
MARKER = re.compile(r"zq(\d{3})", re.IGNORECASE)
"""Every document has a word of its own; its id, title, URI, metadata, headings and each of its sentences hold it."""

UNCOMPARED = {"timings_ms", "plan", "generation"}
"""What of a result may tell one index from another that holds what the asker sees."""

WORDS = [
    "ship", "sail", "mast", "pump", "oil", "rope", "deck", "tide", "gull", "helm", "keel", "anchor", "buoy",
    "cabin", "chart", "cleat", "crew", "dock", "ferry", "galley", "harbour", "hull", "jetty", "knot", "lantern",
    "mooring", "oar", "pier", "port", "quay", "rudder", "shore", "stern", "storm", "tiller", "wake", "wharf",
    "winch", "yacht", "reef",
]  # fmt: skip
CONDITIONS = [
    "version >= 2", "version < 1", 'topic == "ship"', 'not topic == "mast" or version == 3', 'source == "files"',
    'id in ["zq011", "zq012", "zq013"]', 'title == "zq021"', "owner exists", "nothing exists", "topic prefix \"s\"",
]  # fmt: skip


def marker(number: int) -> str:
    return f"zq{number:03}"


def is_file(number: int) -> bool:
    """Whether a document is read from a file; only those can fail."""
    return number % 5 == 0


def id_of(number: int) -> str:
    return f"files/{marker(number)}.md" if is_file(number) else marker(number)


def text_of(number: int, version: int) -> str:
    """Of one to three chunks, with words that others have, and now and then a code that few have."""
    chance, own = random.Random(f"{number} {version}"), marker(number)
    sections = []
    for _ in range(chance.randint(1, 3)):
        words = chance.choices(WORDS, k=chance.randint(4, 10))
        code = f" E{chance.randint(1000, 1030)}" if chance.random() < 0.4 else ""
        sections.append(f"## {words[0]} {own}\n\nA {' '.join(words)}{code} of {own}, ünd 📷.\n")
    return f"# Note {own} v{version}\n\n" + "\n".join(sections)


def document(number: int, version: int) -> pincite.Document:
    own = marker(number)
    uri = f"https://notes.example/{number % 7 if number % 4 == 1 else own}"  # some have one URI
    metadata = {"version": version, "topic": WORDS[number % 7], "owner": own}
    return pincite.Document(id=own, text=text_of(number, version), uri=uri, metadata=metadata)


@dataclass(frozen=True)
class Question:
    """What is asked, and how; the same can be asked of two indexes. A URI or an id has a name and no text."""

    kind: str
    text: str = ""
    name: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def given(self) -> str:
        """All words that the asker brings along, and that an answer may repeat."""
        return f"{self.name or self.text} {self.options.get('where')}"


class Crowd:
    """An index and its history. What has been done to it is kept in plain dicts, which the index is compared with.

    Attributes
    ----------
    there : dict of int to int
        The version of each document that is found.
    chunks : dict of int to int
        How many chunks they have, as the index said when they came.
    broken : set of int
        Documents that failed; those that are there as well serve their last good version.
    groups : dict of int to set
        Who may see them.
    """

    def __init__(self, path: Path, chance: random.Random, **models: Any) -> None:
        self.chance = chance
        self.folder = path / "files"
        self.folder.mkdir(parents=True)
        self.kb = opened(path / "kb", **models)
        self.there: dict[int, int] = {}
        self.chunks: dict[int, int] = {}
        self.broken: set[int] = set()
        self.groups: dict[int, frozenset[str]] = {}

    def asker(self) -> frozenset[str]:
        return frozenset(self.chance.sample(GROUPS, self.chance.randint(0, 50)))

    def seen_by(self, asker: frozenset[str]) -> set[int]:
        """Return the documents that an asker may see, those that failed included."""
        return {number for number in {*self.there, *self.broken} if self.groups.get(number, frozenset()) & asker}

    def change(self) -> None:
        """Add and replace documents, let some fail, delete some, or say otherwise who may see what."""
        known = sorted({*self.there, *self.broken})
        what = self.chance.choices(["add", "fail", "delete", "grant"], weights=[5, 1, 1, 3])[0]
        if what == "add" or len(known) < N_DOCUMENTS // 4:
            self.add(self.chance.sample(range(N_DOCUMENTS), self.chance.randint(1, 10)))
        elif what == "fail":
            self.fail([number for number in self.chance.sample(range(N_DOCUMENTS), 5) if is_file(number)])
        elif what == "delete":
            self.delete(self.chance.sample(known, self.chance.randint(1, 6)))
        else:
            self.grant()

    def add(self, numbers: Iterable[int]) -> None:
        versions = {number: self.chance.randint(0, 3) for number in numbers}
        groups = self._groups()
        report = self.kb.add(self._given(versions, self.folder), groups=groups, progress=False)
        self.there |= versions
        self.chunks |= {int(MARKER.findall(outcome.id)[0]): outcome.chunks for outcome in report.documents}
        self.broken -= versions.keys()
        if groups is not None:
            self.groups |= dict.fromkeys(versions, groups)

    def fail(self, numbers: list[int]) -> None:
        groups = self._groups()
        self.kb.add(_broken(numbers, self.folder), groups=groups, progress=False)
        self.broken.update(numbers)
        if groups is not None:
            self.groups |= dict.fromkeys(numbers, groups)

    def delete(self, numbers: list[int]) -> None:
        self.kb.delete([id_of(number) for number in numbers])
        self.broken.difference_update(numbers)
        for number in numbers:
            self.there.pop(number, None)
            self.groups.pop(number, None)

    def grant(self) -> None:
        """Say of some documents who may see them from now on: nothing but that changes, no generation comes of it."""
        known = sorted({*self.there, *self.broken})
        numbers = self.chance.sample(known, min(len(known), self.chance.randint(1, 8)))
        groups = self._groups() or frozenset()
        self.kb.grant([id_of(number) for number in numbers], groups)
        self.groups |= dict.fromkeys(numbers, groups)

    def alone(self, path: Path, asker: frozenset[str]) -> pincite.KnowledgeBase:
        """Build an index, without groups, of what an asker may see: the good versions, then what has failed since."""
        seen = sorted(self.seen_by(asker))
        (path / "files").mkdir(parents=True)
        kb = opened(path / "kb")
        if seen:
            kb.add(self._given({n: self.there[n] for n in seen if n in self.there}, path / "files"), progress=False)
            kb.add(_broken([n for n in seen if n in self.broken], path / "files"), progress=False)
        return kb

    def question(self) -> Question:
        chance = self.chance
        number = chance.randrange(N_DOCUMENTS + 5)
        kinds = ["search", "context", "citations", "resolve", "current text"]
        kind = chance.choices(kinds, weights=[12, 3, 3, 2, 1])[0]
        if kind in {"resolve", "current text"}:
            file = (self.folder / f"{marker(number)}.md").as_uri()
            name = chance.choice([id_of(number), marker(number), document(number, 0).uri, file])
            return Question(kind, name=name + chance.choice(["", "", "#line=1,3", "#char=0,9"]))
        words = chance.choices(WORDS, k=chance.randint(1, 5))
        words += chance.choices([f"E{chance.randint(1000, 1035)}", marker(number), f'"{words[0]} {words[-1]}"'],
                                k=chance.choice([0, 0, 1, 2]))  # fmt: skip
        options: dict[str, Any] = {"k": chance.randint(1, 8)}
        if chance.random() < 0.7:
            options["max_distance"] = chance.choice([None, None, 0.3, 0.9])
        if chance.random() < 0.4:
            options["rerank"] = chance.choice([False, "pure"])
        if chance.random() < 0.3:
            options["where"] = chance.choice(CONDITIONS)
        if chance.random() < 0.4:
            options["candidates"] = chance.choice([5, 10])
        if chance.random() < 0.1:
            options["max_absent"] = chance.choice([0.2, 0.6])
        elif chance.random() < 0.1 and options.get("rerank", True) is not False:
            options["min_logit"] = 0.4
        return Question(kind, " ".join(words), options=options)

    def _groups(self) -> frozenset[str] | None:
        """Return some groups; now and then none are said, and those that were stay."""
        n = self.chance.choice([None, 0, 1, 2, 3, 5, 8])
        return None if n is None else frozenset(self.chance.sample(GROUPS, n))

    def _given(self, versions: dict[int, int], folder: Path) -> list[Any]:
        files = [folder / f"{marker(number)}.md" for number in versions if is_file(number)]
        for path in files:
            number = int(path.stem[2:])
            path.write_text(text_of(number, versions[number]), encoding="utf-8")
            os.utime(path, (versions[number], number))
        return [*files, *(document(*each) for each in versions.items() if not is_file(each[0]))]


def _broken(numbers: Iterable[int], folder: Path) -> list[Path]:
    files = [folder / f"{marker(number)}.md" for number in numbers]
    for path in files:
        path.write_bytes(b"")
    return files


def told(kb: pincite.KnowledgeBase, question: Question, groups: frozenset[str] | None) -> str:
    """Return everything that an asker gets and that must not depend on what they do not see, as JSON."""
    try:
        return json.dumps(_answer(kb, question, groups))
    except PinciteError as error:
        return f"{type(error).__name__}: {error}"


def _answer(kb: pincite.KnowledgeBase, question: Question, groups: frozenset[str] | None) -> Any:
    if question.kind == "resolve":
        return kb.resolve(question.name, groups=groups).to_dict()
    if question.kind == "current text":
        found = kb.current_text(question.name.partition("#")[0], against="index", groups=groups)
        return None if found is None else found.text
    if question.kind == "context":
        context = kb.context(question.text, groups=groups, **question.options)
        return [context.prompt if context else context.message, _compared(context.result)]
    result = kb.search(question.text, groups=groups, **question.options)
    if question.kind == "search":
        return _compared(result)
    citations = kb.citations(result, groups=groups)
    return [_compared(result), [[each.to_dict(), each.verify().to_dict()] for each in citations]]


def _compared(result: pincite.SearchResult) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key not in UNCOMPARED}
