"""The README's program runs and prints what the README says it prints; its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_program_prints_what_the_readme_says():
    programs, outputs = blocks("python"), blocks("text")
    assert len(programs) == len(outputs) == 1
    run = subprocess.run([sys.executable, "-c", programs[0]], capture_output=True, text=True, check=True)
    assert run.stdout == outputs[0]


def test_the_example_of_the_first_command_answers():
    (command,) = [block for block in blocks("sh") if "examples/" in block]
    arguments = re.search(r'python (\S+) (\S+) "(.+)"', command).groups()
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=True)
    assert re.search(r"^\[1\] docs/\S+#char=\d+,\d+ ", run.stdout)


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target


def test_contributing_names_every_session():
    sessions = re.findall(r"@nox\.session.*\ndef (\w+)", (ROOT / "noxfile.py").read_text(encoding="utf-8"))
    assert len(sessions) > 5
    listed = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in sessions if f"`{name}" not in listed] == []
