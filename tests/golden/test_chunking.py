"""Strategy E against the chunks that the reference chunker made, one by one."""

from __future__ import annotations

import json

import pincite


def test_every_reference_chunk_is_reproduced(shared):
    lines = (shared / "golden" / "mdcourse_chunks.jsonl").read_text(encoding="utf-8").split("\n")
    wanted = [json.loads(line) for line in lines if line]
    found = [
        {
            "doc": path.name,
            "section": chunk.heading_path[0],
            "start": chunk.start,
            "end": chunk.end,
            "content": chunk.content,
            "text": chunk.embedded_text,
        }
        for path in sorted((shared / "data" / "mdcourse").glob("*.md"))
        for chunk in pincite.chunk(path.read_bytes().decode("utf-8"), title=path.stem, strategy="E")
    ]
    assert len(wanted) == 2562
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours == theirs
