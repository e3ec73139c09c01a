"""The README's program runs and prints what the README says it prints; its links lead somewhere."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pincite

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def desk(tmp_path_factory, minilm):
    """A folder with the project's docs, the command `pincite` on the path, and the model in the cache."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(ROOT / "docs", folder / "docs")
    command = folder / "bin" / "pincite"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pincite "$@"\n')
    command.chmod(0o755)
    package = str(Path(pincite.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}
    return folder, environment


def test_the_terminal_session_is_what_a_terminal_shows(desk):
    folder, environment = desk
    (session,) = blocks("console")
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
    assert len(steps) >= 4
    check = doctest.OutputChecker().check_output
    for command, wanted in steps:
        run = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        # A slow machine says every ten seconds how far it is.
        shown = re.sub(r"^indexing: .*\n", "", run.stdout, flags=re.MULTILINE)
        assert check(wanted, shown, doctest.ELLIPSIS), f"$ {command}\n{run.stdout}"
        assert run.returncode in {0, 3}


def test_the_first_command_is_the_first_of_the_session():
    command = blocks("sh")[0].strip()
    session = blocks("console")[0]
    _, index, search = command.split(" && ")
    assert f"$ {index}\n" in session
    assert f"$ {search}" in session


def test_the_programs_print_what_the_readme_says(desk):
    """Runs after the session, whose index the first program opens."""
    folder, environment = desk
    if not (folder / "kb").exists():
        subprocess.run("pincite index docs --into kb", shell=True, cwd=folder, env=environment, check=True)
    programs, outputs = blocks("python"), blocks("text")
    assert len(programs) == len(outputs) == 2
    for program, output in zip(programs, outputs, strict=True):
        run = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout == output


@pytest.mark.parametrize(
    "page", ["README.md", "docs/cli.md", "docs/evaluation.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        if not target.startswith("http"):
            assert (ROOT / page).parent.joinpath(target).exists(), target


def test_contributing_names_every_session():
    sessions = re.findall(r"@nox\.session.*\ndef (\w+)", (ROOT / "noxfile.py").read_text(encoding="utf-8"))
    assert len(sessions) > 5
    listed = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in sessions if f"`{name}" not in listed] == []
