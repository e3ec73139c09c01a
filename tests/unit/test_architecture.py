"""Who may import whom (ARCHITECTURE.md), held against the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "pincite"

# From the ground up. A room may import itself and the rooms of lower floors, never one beside it on its floor.
FLOORS = [
    {"errors"},
    {"types", "config", "filters"},
    {"core", "models", "extract"},
    {"store"},
    {"retrieve"},
    {"cite"},
    {"generate"},
    {"evaluation"},
    {"knowledge_base"},
    {"__init__"},
    {"cli"},
    {"__main__"},
]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[tuple[str, int]]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found.update((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
    return {(name, line) for name, line in found if name.split(".")[0] == "pincite"}


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_module_imports_from_a_floor_above_or_beside(path):
    here = room_of(path)
    assert here in FLOOR_OF, f"{path.name} is in no room of ARCHITECTURE.md"
    for name, line in imports_of(path):
        there = "__init__" if name == "pincite" else name.split(".")[1]
        if there == "_core":
            assert here in {"core", "__init__"}, f"{path}:{line}: only pincite.core may import the C++ core"
            continue
        if there not in FLOOR_OF:
            continue  # a name of the package itself, such as pincite.errors.X seen from `import pincite`
        allowed = there == here or FLOOR_OF[there] < FLOOR_OF[here]
        assert allowed, f"{path}:{line}: {here} must not import {there}"


def test_the_rule_sees_imports():
    assert any(imports_of(path) for path in MODULES)


CPP = PACKAGE.parents[1] / "cpp"


@pytest.mark.parametrize("path", sorted([*CPP.rglob("*.cpp"), *CPP.rglob("*.hpp")]), ids=lambda p: p.name)
def test_only_the_bindings_know_of_python(path):
    includes = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#include")]
    if path.is_relative_to(CPP / "bind"):
        return
    assert not [line for line in includes if "pybind11" in line or "Python.h" in line]
    if path.is_relative_to(CPP / "src") or path.is_relative_to(CPP / "include"):
        assert "#include <iostream>" not in includes


def test_every_core_concept_has_one_stem_on_every_floor():
    concepts = {
        path.stem
        for path in (PACKAGE / "core").glob("*.py")
        if path.stem in {"text", "chunking", "structural", "bm25", "flat", "hnsw", "fusion"}
    }
    assert "fusion" in concepts
    root = CPP.parent
    for stem in concepts:
        for place in (
            f"cpp/include/pincite/{stem}.hpp",
            f"cpp/bind/bind_{stem}.cpp",
            f"cpp/tests/test_{stem}.cpp",
            f"tests/reference/{stem}.py",
            f"tests/differential/test_{stem}.py",
            f"bench/bench_{stem}.py",
        ):
            assert (root / place).is_file(), f"{stem} has no {place}"
